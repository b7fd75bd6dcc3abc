"""``bayeslearn bayes``: the posterior of hypotheses from priors and likelihoods."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn import files
from bayeslearn.cli import model_changes, output
from bayeslearn.cli.structure_options import assignments
from bayeslearn.errors import FormatError, ParameterError, ProbabilityError

if TYPE_CHECKING:
    from bayeslearn.hypotheses import DescriptionLengths, HypothesisPosterior

Rows = dict[str, dict[str, float]]

#: Dots in a line of TOML: more than any key or number has.
MAX_DOTS = 64

#: Bytes of a file that are read at most.
MAX_BYTES = 1 << 24

#: The outcome of all that a likelihood does not list.
ELSE = "(anything else)"


def run(
    file: Annotated[
        str | None,
        typer.Argument(
            help=r"A .toml or .json file with \[prior] and \[likelihood.NAME], or one that ships: cancer-test."
        ),
    ] = None,
    *,
    prior: Annotated[
        str | None, typer.Option(metavar="NAME=P,...", help=r"Priors of the hypotheses. \[default: uniform]")
    ] = None,
    bits: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=L,...",
            help="Code lengths in bits instead of priors, P(h) ∝ 2^-L; prints description lengths.",
        ),
    ] = None,
    likelihoods: Annotated[
        str | None,
        typer.Option(metavar="NAME:OUTCOME=P,...", help="Probabilities of outcomes under the hypotheses."),
    ] = None,
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", "-e", help="Observed outcome; repeat for more.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the posterior after each observation to FILE.svg, .png or .pdf.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="Model file of the posterior to write, .json or .json.gz.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Posterior of hypotheses from their priors and the likelihoods of data.

    A second test result is a second --evidence. Without --prior the prior is uniform.

    Example: bayeslearn bayes cancer-test -e positive -e positive
    """
    from bayeslearn.hypotheses import FiniteSpace, description_lengths

    if to is not None:
        model_changes.check(to)
    priors, rows = _read(file) if file else ({}, {})
    priors |= numbers("--prior", prior, "NAME=P", "cancer=0.008")
    lengths = numbers("--bits", bits, "NAME=L", "short=3")
    for label, p in numbers("--likelihoods", likelihoods, "NAME:OUTCOME=P", "cancer:positive=0.98").items():
        name, colon, outcome = label.rpartition(":")
        if not colon:
            raise ParameterError(
                f"--likelihoods takes NAME:OUTCOME=P, got {f'{label}={p:g}'!r}",
                hint="for instance --likelihoods cancer:positive=0.98",
            )
        rows.setdefault(name, {})[outcome] = p
    if not rows:
        raise ParameterError(
            "no hypothesis was given",
            hint="give a file, or --likelihoods NAME:OUTCOME=P,... for each hypothesis and outcome",
        )
    space = FiniteSpace.from_table(_completed(rows))
    steps = [space.posterior(bits=lengths) if lengths else space.posterior(priors or "uniform")]
    for outcome in evidence or []:
        steps.append(steps[-1].update(outcome))
    if to is not None:
        steps[-1].save(to)
        sys.stderr.write(f"wrote {to}\n")
    described = description_lengths(space, evidence or [], hypothesis_bits=lengths) if lengths else None
    (_show_json if as_json else _show)(steps, evidence or [], described)
    if plot:
        _draw(steps, evidence or [], plot)


### reading


def _read(file: str) -> tuple[dict[str, float], Rows]:
    """Prior and likelihoods from a small file."""
    path = _located(file)
    try:
        text = files.read(path, max_bytes=MAX_BYTES).decode("utf-8")
        content = json.loads(text) if path.suffix.lower() == ".json" else _toml(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} cannot be read: {error}", path=str(path)) from None
    rows = content.get("likelihood") if isinstance(content, dict) else None
    if not (isinstance(rows, dict) and rows and all(isinstance(row, dict) for row in rows.values())):
        raise FormatError(
            f"{path} has no likelihoods",
            hint="write a table [likelihood.NAME] with outcome = probability for each hypothesis",
        )
    prior = _numbers(path, "prior", content.get("prior", {}))
    return prior, {name: _numbers(path, f"likelihood.{name}", row) for name, row in rows.items()}


def _toml(text: str) -> Any:
    """The content of a TOML document; tomllib takes minutes for a key of very many parts."""
    if any(line.count(".") > MAX_DOTS and not line.startswith("#") for line in text.splitlines()):
        raise ValueError(f"a line has more than {MAX_DOTS} dots")
    return tomllib.loads(text)


def _numbers(path: Path, name: str, table: Any) -> dict[str, float]:
    """The numbers of a table by their names."""
    if not isinstance(table, dict):
        raise FormatError(
            f"{path}: [{name}] is no table, but {table!r:.40}", hint="write NAME = probability below it", path=str(path)
        )
    odd = [(key, value) for key, value in table.items() if type(value) not in {int, float} or not abs(value) < 1e300]
    if odd:
        raise FormatError(
            f"{path}: {odd[0][0]!r} of [{name}] must be a probability, got {odd[0][1]!r:.40}",
            hint="write a number from 0 to 1",
            path=str(path),
        )
    return {key: float(value) for key, value in table.items()}


def _located(file: str) -> Path:
    from bayeslearn import datasets

    if Path(file).is_file():
        return Path(file)
    if file in datasets.list_hypotheses():
        return datasets.table_path(file)
    ships = ", ".join(datasets.list_hypotheses())
    raise ParameterError(f"there is no file {file!r}", hint=f"hypotheses that ship: {ships}")


def numbers(option: str, text: str | None, form: str, example: str) -> dict[str, float]:
    """NAME=P,NAME=P: numbers by name."""
    found = assignments(option, text, form, example)
    try:
        return {name: float(value) for name, value in found.items()}
    except ValueError:
        odd = next(f"{name}={value}" for name, value in found.items() if not is_number(value))
        raise ParameterError(
            f"{option} takes {form} with a number, got {odd!r}", hint=f"for instance {option} {example}"
        ) from None


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _completed(rows: Rows) -> Rows:
    """Rows with the rest of the probability as one more outcome, so that `positive=0.98` alone is enough."""
    left = {name: 1 - sum(row.values()) for name, row in rows.items()}
    for name, rest in left.items():
        if rest < -1e-6:
            raise ProbabilityError(f"the likelihoods of {name!r} must sum to at most 1, got {1 - rest:.6g}")
    if all(rest <= 1e-6 for rest in left.values()):
        return rows
    return {name: {**row, ELSE: max(left[name], 0.0)} for name, row in rows.items()}


### answering


def _show(steps: list[HypothesisPosterior], evidence: list[str], described: DescriptionLengths | None) -> None:
    last = steps[-1]
    output.show_table(
        ["hypothesis", "prior", "likelihood", "joint", "posterior"],
        [
            [str(row.name), *map(output.number, (row.prior, row.likelihood, row.joint, row.posterior))]
            for row in last.to_rows()
        ],
    )
    output.gap()
    output.show_pairs(
        [
            ("evidence", ", ".join(evidence) or "none yet"),
            ("P(evidence)", output.number(last.marginal_likelihood)),
            ("MAP", ", ".join(map(str, last.map_hypotheses))),
            ("ML", ", ".join(map(str, last.ml_hypotheses))),
            ("next", ", ".join(f"{outcome} {output.number(p)}" for outcome, p in last.predictive().items())),
        ]
    )
    if len(steps) > 2:
        output.gap()
        output.show_table(
            ["after", *map(str, last.space.names)],
            [
                [f"{i}. {outcome}", *map(output.number, step.probabilities.values())]
                for i, (outcome, step) in enumerate(zip(evidence, steps[1:], strict=True), 1)
            ],
        )

    if described is not None:
        output.gap()
        output.show_table(
            ["hypothesis", "L(h)", "L(D|h)", "bits"],
            [[str(name), *map(output.number, lengths)] for name, *lengths in described.to_rows()],
        )
        output.show_pairs([("MDL", ", ".join(map(str, described.best)))])


def _draw(steps: list[HypothesisPosterior], evidence: list[str], path: Path) -> None:
    from bayeslearn import plots

    labels = ["before", *(f"{i}. {outcome}" for i, outcome in enumerate(evidence, 1))]
    plots.save(plots.plot_posterior(steps, labels), path)


def _show_json(steps: list[HypothesisPosterior], evidence: list[str], described: DescriptionLengths | None) -> None:
    answer: dict[str, Any] = {
        "evidence": evidence,
        **steps[-1].to_dict(),
        "steps": [
            {"evidence": outcome, "posterior": step.probabilities}
            for outcome, step in zip(evidence, steps[1:], strict=True)
        ],
    }
    if described is not None:
        answer["description_lengths"] = described.to_dict()
    output.show_json(answer)
