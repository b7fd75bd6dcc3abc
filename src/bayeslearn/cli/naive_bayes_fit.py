"""``bayeslearn fit naive-bayes``: from a table with a column of classes to a model, and what it is worth."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, plot_files, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.errors import BayeslearnError, ParameterError

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.naive_bayes import CrossValidation, NaiveBayesModel

#: What speaks for a class: so much of it is shown.
MOST_TELLS = 3

#: Cases from which on calibration is worth a word.
ENOUGH = 100


@reads()
def run(
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing, also as labels.")
    ],
    *,
    target: Annotated[str, typer.Option(help="The column of the classes.")],
    to: Annotated[Path, typer.Option("-o", "--output", help="The model to write, .json or .json.gz.")],
    family: Annotated[
        list[str] | None,
        typer.Option(help="COL=categorical, gaussian, poisson, or cut:8 for so many intervals at the quantiles."),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="evidence, pooled:1, laplace, jeffreys, m:2 or none; COL=m:2 for one column. Repeatable."),
    ] = None,
    class_prior: Annotated[str, typer.Option(help="Of the class shares: laplace, jeffreys, m:2 or none.")] = "laplace",
    estimate: Annotated[
        str, typer.Option(help="mean plugs in the best parameters, integrated allows for their doubt.")
    ] = "mean",
    unlabeled: Annotated[
        str, typer.Option(help="Rows without a label: em learns from them too, drop does not.")
    ] = "em",
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Learn out of fold how much each column counts: 90 % means 90 %."),
    ] = False,
    folds: Annotated[int, typer.Option(help="Folds of the check; 0 for none.")] = 10,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    max_states: Annotated[int, typer.Option(help="Columns of words with more states are left out.")] = 255,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw how reliable it is out of fold, .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Learn a naive Bayes classifier of words, numbers and counts; columns of no use are left out.

    Example: bayeslearn fit naive-bayes titanic.csv --target survived -o nb.json
    """
    from bayeslearn import codec, files, validation
    from bayeslearn.naive_bayes import NaiveBayesModel, cross_validate
    from bayeslearn.naive_bayes import calibrate as calibrate_columns
    from bayeslearn.naive_bayes.tabular.fit import told_families
    from bayeslearn.naive_bayes.tabular.out_of_fold import most_rows

    codec.require_model_name(to)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    validation.integer("--folds", folds, min_value=0)
    validation.integer("--seed", seed, min_value=0)
    families, left_out = pairs("--family", family), data.dropped(target, sample_weight)
    with (
        data.opened(sample_weight=sample_weight, max_states=max_states) as given,
        interrupt.once("the best model so far") as stop,
        progress.bar("learning", passes=data.passes) as tell,
    ):
        table = given.settled(read(given, target, families, left_out, sample_weight, max_states))
        kinds = {name: kind for name, kind in told_families(families).items() if name in table.schema}

        def step(now: Any) -> None:
            stop.heed()
            tell(now.fraction, f"labels, {now.message}")

        words: dict[str, Any] = {"estimate": estimate, "unlabeled": unlabeled}  # checked by learn
        model = NaiveBayesModel.learn(
            table, target, families=kinds, prior=priors(prior), class_prior=class_prior, progress=step, **words
        )
        checked = None
        enough = table.n_rows - table.missing()[target]
        if folds and enough >= max(folds, 2):
            try:
                checked = cross_validate(
                    model, table, cv=max(folds, 2), calibrate=calibrate, random_state=seed,
                    progress=lambda share: tell(share, "checking"),
                )  # fmt: skip
            except BayeslearnError as error:  # without prior cases, a fold may lack what it needs
                sys.stderr.write(f"warning: not checked, for {error.message}\n")
        if calibrate:
            model = calibrate_columns(model, table, cv=min(folds or 10, enough), random_state=seed)
        model.save(to)
        every = -(-enough // most_rows(model, folds, apart=calibrate)) if given.folded else 1
        found = Learned(model, table.n_rows, table.missing(), left_out, checked, every)
    found.show_json() if as_json else found.show()
    sys.stderr.write(f"wrote {to}: {len(model.classes)} classes, {len(model.columns)} columns\n")
    if plot is not None:
        draw(checked, plot)


def draw(checked: CrossValidation | None, path: Path) -> None:
    """The reliability curve, where there was a check."""
    from bayeslearn import plots

    if checked is None:
        sys.stderr.write(f"warning: {path} is not drawn, for nothing was checked\n")
        return
    plots.save(plots.plot_calibration(checked.calibration), path)
    sys.stderr.write(f"wrote {path}\n")


### what was asked for


def pairs(option: str, items: list[str] | None) -> dict[str, str]:
    """COL=WORD, each a pair."""
    found = {}
    for item in items or []:
        name, equals, word = item.rpartition("=")
        if not (name and equals and word):
            raise ParameterError(f"{option} takes COL=WORD, got {item!r}", hint=f"for instance {option} age=gaussian")
        found[name] = word
    return found


def priors(items: list[str] | None) -> Any:
    """One prior for all columns, or one for some of them."""
    plain = [item for item in items or [] if "=" not in item]
    own = pairs("--prior", [item for item in items or [] if "=" in item])
    if len(plain) > 1:
        raise ParameterError(f"there is one --prior for all columns, got {', '.join(plain)}", hint="write COL=PRIOR")
    if not own:
        return plain[0] if plain else "pooled:1"
    return Everywhere(own, plain[0] if plain else None)


class Everywhere(dict[str, Any]):
    """Priors of some columns, and another for all the rest."""

    def __init__(self, own: dict[str, str], rest: str | None) -> None:
        super().__init__(own)
        self.rest = rest

    def get(self, name: str, default: Any = None) -> Any:
        """The prior of a column."""
        return super().get(name, default if self.rest is None else self.rest)


def read(
    given: Given,
    target: str,
    families: dict[str, str],
    left_out: dict[str, str],
    sample_weight: str | None,
    max_states: int,
) -> Any:
    """The table or the source, without the columns that are not wanted or cannot be used."""
    from bayeslearn.naive_bayes.tabular.fit import read_columns
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([target, *families, *([sample_weight] if sample_weight else [])], known)
    if target in families:
        raise ParameterError(f"{target!r} is the target: it is always categorical", hint="leave it out of --family")
    columns = [name for name in known if name not in left_out and name != sample_weight]
    return read_columns(
        given.data, families, also_discrete=[target], columns=columns, sample_weight=given.sample_weight,
        max_states=max_states,
        left_out=left_out,
    )  # fmt: skip


### reporting


@dataclass(frozen=True)
class Learned:
    """What is told of a model."""

    model: NaiveBayesModel
    rows: int
    missing: dict[str, int]
    left_out: dict[str, str]
    checked: CrossValidation | None
    #: Of so many rows one was asked about.
    every: int = 1

    def show(self) -> None:
        """The report."""
        from bayeslearn.naive_bayes.tabular.class_indicators import class_indicators

        model, missing = self.model, self.missing
        families = Counter(c.distribution.name for c in model.columns)
        cells = self.rows * len(model.columns)
        holes = sum(missing[c.name] for c in model.columns)
        share = f" ({100 * holes / cells:.3g} %)" if holes else ""
        lines = [
            ("rows", str(self.rows)),
            ("columns", ", ".join(f"{n} {family}" for family, n in families.items()) or "none"),
            ("missing cells", f"{holes} of {cells}{share}"),
        ]
        if missing[model.target.name]:
            lines.append(("missing labels", str(missing[model.target.name])))
        lines += [(f"left out: {name}", why) for name, why in self.left_out.items()]
        output.show_pairs(lines + self.worth())
        output.gap()
        told = class_indicators(model, MOST_TELLS)
        p = model.posterior(model.target.name).mean()
        rows = [
            [str(name), output.amount(round(n, 6)), output.number(q), "; ".join(map(str, told[name])) or "nothing"]
            for name, n, q in zip(model.classes, model.class_counts, p, strict=True)
        ]
        output.show_table([model.target.name, "cases", "share", "what speaks most for it"], rows)

    def worth(self) -> list[tuple[str, str]]:
        """What the check says."""
        lines = []
        if self.checked is not None:
            check = self.checked
            lines = [
                (f"accuracy, {check.cv} folds", f"{check.accuracy:.4g} (majority {check.majority_accuracy:.4g})"),
                ("mean log loss", f"{check.log_loss:.4g} (class shares alone {check.majority_log_loss:.4g})"),
                ("calibration error", f"{check.calibration.error:.4g}"),
            ]
            lines[:0] = [("asked about", f"one row of {self.every}, out of fold")] if self.every > 1 else []
        if any(τ != 1 for τ in self.sharpness.values()):
            lines.append(("sharpness of the columns", ", ".join(f"{n} {τ:.2g}" for n, τ in self.sharpest())))
        elif self.checked is not None and self.checked.calibration.error > 0.05 and self.model.cases >= ENOUGH:
            lines[-1] = ("calibration error", f"{lines[-1][1]}: --calibrate sets it right")
        return lines

    @property
    def sharpness(self) -> dict[str, float]:
        """How much the evidence of every column counts."""
        return dict(zip(self.model.names, self.model.sharpness, strict=True))  # type: ignore[arg-type]

    def sharpest(self) -> list[tuple[str, float]]:
        """The same, the most first."""
        return sorted(self.sharpness.items(), key=lambda entry: -entry[1])

    def show_json(self) -> None:
        """The same for a machine."""
        from bayeslearn.naive_bayes.tabular.class_indicators import class_indicators

        model, told = self.model, class_indicators(self.model, MOST_TELLS)
        check = None
        if self.checked is not None:
            plain = replace(self.checked, calibration=None)  # type: ignore[arg-type]
            check = asdict(plain) | {"calibration": curve(self.checked)}
        p = model.posterior(model.target.name).mean()
        output.show_json({
            "rows": self.rows,
            "target": model.target.name,
            "classes": [
                {"class": name, "cases": n, "share": q, "tells": [asdict(tell) for tell in told[name]]}
                for name, n, q in zip(model.classes, model.class_counts, p, strict=True)
            ],
            "families": {c.name: c.distribution.name for c in model.columns},
            "missing": self.missing,
            "left_out": self.left_out,
            "sharpness": self.sharpness,
            "check": check,
        })  # fmt: skip


def curve(check: CrossValidation) -> dict[str, Any]:
    """The reliability curve as plain values."""
    found = check.calibration
    parts = {name: getattr(found, name).tolist() for name in ("edges", "cases", "confidence", "accuracy")}
    return {"error": found.error, **parts}
