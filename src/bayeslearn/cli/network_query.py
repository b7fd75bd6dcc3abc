"""``bayeslearn query``: what a network believes, given what was seen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.network_files import NETWORK, assignments, load, numbers_by_state
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.network import BayesianNetwork, LoopyPosterior, MostProbableExplanation, Posterior, SampledPosterior
    from bayeslearn.network.inference.approximate import Progress
    from bayeslearn.network.inference.evidence import Observation

#: The ways to an answer; those in the middle draw random cases.
METHODS = ("exact", "weighting", "rejection", "gibbs", "loopy")
SAMPLED = METHODS[1:-1]


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    evidence: Annotated[
        list[str] | None,
        typer.Argument(
            help="What was observed: VAR=STATE, VAR=30, VAR=10..20, 'VAR>17.5', COLUMN=DATE or COLUMN=2024-01..2024-03."
        ),
    ] = None,
    *,
    ask: Annotated[list[str] | None, typer.Option(help="A variable to answer for; all of them when not given.")] = None,
    virtual: Annotated[
        list[str] | None,
        typer.Option(help="VAR=P,P,... or VAR=STATE:P,...: how probable what was seen is under each state of VAR."),
    ] = None,
    soft: Annotated[
        list[str] | None,
        typer.Option(help="VAR=P,P,... or VAR=STATE:P,...: the distribution that VAR is to have; beliefs follow it."),
    ] = None,
    mpe: Annotated[
        bool,
        typer.Option(
            "--mpe",
            help="The most probable case as a whole, in place of each variable by itself; with --ask, the most "
            "probable states of these together.",
        ),
    ] = False,
    method: Annotated[
        str,
        typer.Option(help="exact; weighting, rejection or gibbs, by random cases; loopy, by messages passed round."),
    ] = "exact",
    interval: Annotated[
        float | None,
        typer.Option(
            help="A level like 0.95: bounds of each answer, over tables drawn from what the network has learned."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            help="The most random cases to draw, a million when no limit is given; with --interval the sets of tables."
        ),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="The standard error to stop at; 0.005 when no limit is given.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="The time to stop after.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same answer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Posterior distributions of variables given evidence, exact or by sampling or loopy propagation.

    Example: bayeslearn query asia smoke=yes xray=yes --ask lung --ask tub
    """
    from bayeslearn.network.inference.evidence import observe

    sampling = Sampling(samples, precision, seconds, seed)
    _require_fitting(method, sampling, mpe=mpe, soft=soft, interval=interval)
    network = load(model_file)
    seen = assignments(network, evidence or [])
    observed = observe(network, seen)
    virtual_evidence = dict(numbers_by_state(network, "--virtual", item) for item in virtual or [])
    if mpe:
        found = network.most_probable(seen, variables=ask or None, virtual_evidence=virtual_evidence)
        (_show_case_json if as_json else _show_case)(found, observed)
        return
    asked = {"evidence": seen, "variables": ask or None, "virtual_evidence": virtual_evidence}
    if soft:
        asked["soft_evidence"] = dict(numbers_by_state(network, "--soft", item) for item in soft)
    answer = _answered(network, method, sampling, asked).to_dict() | {"method": method}
    if interval is not None:
        answer |= _bounds(network, interval, sampling, asked)
    if as_json:
        output.show_json(answer | {"evidence": {name: o.to_json() for name, o in observed.items()}})
    else:
        _show(answer | {"evidence": observed})


### asking


@dataclass(frozen=True)
class Sampling:
    """The options of the methods that draw random cases."""

    samples: int | None = None
    precision: float | None = None
    seconds: float | None = None
    seed: int | None = None

    def check(self) -> None:
        """Name the option that is out of range."""
        from bayeslearn import validation

        for name, least in (("samples", 1), ("seed", 0)):
            if (whole := getattr(self, name)) is not None:
                validation.integer(f"--{name}", whole, min_value=least)
        for name in ("precision", "seconds"):
            if (given := getattr(self, name)) is not None:
                validation.number(f"--{name}", given, above=0)

    def share(self, run: Progress, passed: float) -> float:
        """How much of the way is behind: the limit that is nearest counts, and errors fall with √draws."""
        from bayeslearn.network.inference.approximate import PRECISION

        unlimited = self.samples is None and self.seconds is None
        wanted = self.precision or (PRECISION if unlimited else 0.0)
        return max(
            run.draws / run.most if run.most else 0.0,
            (wanted / run.error) ** 2 if run.error else 0.0,
            passed / self.seconds if self.seconds else 0.0,
        )


def _require_fitting(
    method: str, sampling: Sampling, *, mpe: bool, soft: list[str] | None, interval: float | None
) -> None:
    """No option that the method would leave unused."""
    from bayeslearn import validation

    method = validation.choice("--method", method, METHODS)
    odd = [f"--{name}" for name, value in vars(sampling).items() if value is not None]
    if interval is not None:
        _require_plain(method, odd, interval, mpe=mpe, soft=soft)
    elif odd and method not in SAMPLED:
        raise ParameterError(
            f"{', '.join(odd)} cannot be used with --method {method}, which draws no random cases",
            hint=f"choose --method {' or '.join(SAMPLED)}",
        )
    if mpe and method != "exact":
        raise ParameterError(
            f"--mpe cannot be used with --method {method}", hint="the most probable case is found exactly"
        )
    if soft and (mpe or method != "exact"):
        raise ParameterError(
            f"--soft cannot be used with {'--mpe' if mpe else f'--method {method}'}",
            hint="distributions are met by exact beliefs",
        )
    sampling.check()


def _require_plain(method: str, odd: list[str], interval: float, *, mpe: bool, soft: list[str] | None) -> None:
    """Bounds are for exact beliefs, each variable by itself; of the limits on drawing they know the number."""
    from bayeslearn import validation

    validation.number("--interval", interval, above=0, below=1)
    other = ["--mpe"] * mpe + ["--soft"] * bool(soft) + [f"--method {method}"] * (method != "exact")
    other += [option for option in odd if option not in {"--samples", "--seed"}]
    if other:
        raise ParameterError(
            f"--interval cannot be used with {', '.join(other)}", hint="bounds are found for plain exact beliefs"
        )


def _answered(
    network: BayesianNetwork, method: str, sampling: Sampling, asked: dict[str, Any]
) -> Posterior | SampledPosterior | LoopyPosterior:
    if method == "exact":
        return network.query(**asked)
    if method == "loopy":
        from bayeslearn.network.inference.loopy_propagation import LoopyPropagation

        return LoopyPropagation(network).query(**asked)
    return _sampled(network, method, sampling, asked)


def _sampled(network: BayesianNetwork, method: Any, sampling: Sampling, asked: dict[str, Any]) -> SampledPosterior:
    from bayeslearn.network.inference.approximate import SampledInference

    started = time.monotonic()
    with progress.bar("sampling") as tell:
        return SampledInference(network).query(
            **asked, method=method, n=sampling.samples, precision=sampling.precision, seconds=sampling.seconds,
            random_state=sampling.seed, progress=lambda run: tell(sampling.share(run, time.monotonic() - started)),
        )  # fmt: skip


def _bounds(network: BayesianNetwork, level: float, sampling: Sampling, asked: dict[str, Any]) -> dict[str, Any]:
    """The bounds of each answer, and how they were found."""
    from bayeslearn.network.parameters.credible_intervals import DRAWS, query_interval

    found = query_interval(network, **asked, level=level, n=sampling.samples or DRAWS, random_state=sampling.seed)
    return {"level": level, "tables": found.draws, "intervals": found.to_dict()["intervals"]}


### answering


def _show_case(found: MostProbableExplanation, seen: dict[str, Observation]) -> None:
    rows = [[name, str(state), _word(seen, name)] for name, state in found.case.items()]
    output.show_table(["variable", "state", ""], rows)
    output.gap()
    output.show_pairs([("P(case | evidence)", output.number(found.probability))])


def _word(seen: dict[str, Observation], name: str) -> str:
    found = next((piece for piece in seen.values() if name in piece.variables), None)
    if found is None:
        return ""
    return "seen" if found.is_state else f"seen: {found}"


def _show_case_json(found: MostProbableExplanation, seen: dict[str, Observation]) -> None:
    evidence = {name: o.to_json() for name, o in seen.items()}
    answer = {"evidence": evidence, "log_evidence": found.log_evidence}
    output.show_json(answer | {"case": found.case, "log_joint": found.log_joint, "probability": found.probability})


def _show(answer: dict[str, Any]) -> None:
    columns, more = _columns(answer)
    rows = [
        [name if i == 0 else "", str(state), output.number(p), *more(name, state), output.bar(p)]
        for name, belief in answer["beliefs"].items()
        for i, (state, p) in enumerate(belief.items())
    ]
    output.show_table(["variable", "state", "probability", *columns, ""], rows)
    output.gap()
    seen = ", ".join(map(str, answer["evidence"].values()))
    output.show_pairs([("evidence", seen or "none"), *_facts(answer)])


def _columns(answer: dict[str, Any]) -> tuple[list[str], Callable[[str, Any], list[str]]]:
    """The columns beside a probability that tell how sure it is, and their cells."""
    if answer.get("errors"):
        return ["standard error"], lambda name, state: [output.number(answer["errors"][name][state])]
    if "intervals" in answer:
        bounds = answer["intervals"]
        return ["low", "high"], lambda name, state: [output.number(bounds[name][state][end]) for end in ("low", "high")]
    return [], lambda *_: []


def _facts(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """What else is known of an answer, by the method that found it."""
    facts = []
    if answer["log_evidence"] is not None:
        value = output.number(round(answer["log_evidence"], 12) + 0.0)  # without the rounding of a certainty
        error = answer.get("log_evidence_error")
        facts.append(("ln P(evidence)", value if error is None else f"{value} ± {output.number(error)}"))
    if answer["method"] != "exact":
        facts.append(("method", answer["method"]))
    if "intervals" in answer:
        facts.append(("low to high", f"{100 * answer['level']:g} % of {answer['tables']:,} sets of tables"))
    if "draws" in answer:
        facts.append(("draws", f"{answer['draws']:,}, worth {answer['effective_size']:,.0f} independent cases"))
    if answer.get("rhat") is not None:
        facts.append(("chains", f"split R̂ {output.number(answer['rhat'])}, 1 when they agree"))
    if "converged" in answer:
        word = "settled" if answer["converged"] else "not settled"
        facts.append(("messages", f"{word} after {answer['iterations']} iterations"))
    return facts
