"""``bayeslearn fit naive-bayes``: from a table with a column of classes to a model."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import envelope, interrupt, output, plot_files, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.naive_bayes import NaiveBayesFitInfo


@reads()
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; labels may be missing.")],
    *,
    target: Annotated[str, typer.Option(help="Column of the classes.", metavar="COLUMN")],
    to: Annotated[Path, typer.Option("-o", "--output", help="Model file to write, .json or .json.gz.")],
    distribution: Annotated[
        list[str] | None,
        typer.Option(
            help="Distribution of a column: categorical, gaussian, poisson, kernel_density, binned:8 (bins at the "
            "quantiles), ..., or auto. Without COL that of all numeric columns. Repeatable. "
            r"\[default: auto, by held-out evidence]",
            metavar="[COL=]NAME",
        ),
    ] = None,
    prior: Annotated[
        str,
        typer.Option(
            help="Prior of the columns: pooled:1, evidence, laplace, jeffreys, m:2 or none; of some columns: "
            "m:2,COL=laplace.",
            metavar="PRIOR[,COL=PRIOR]",
        ),
    ] = "pooled:1",
    class_prior: Annotated[
        str, typer.Option(help="Prior of the class probabilities: laplace, jeffreys, m:2 or none.")
    ] = "laplace",
    estimate: Annotated[
        str, typer.Option(help="mean: posterior means as parameters; integrated: parameters integrated out.")
    ] = "mean",
    unlabeled: Annotated[
        str, typer.Option(help="Rows without a label: em uses them, drop ignores them, error refuses them.")
    ] = "em",
    calibrate: Annotated[
        bool | None,
        typer.Option(
            "--calibrate/--no-calibrate",
            help=r"Estimate the exponent of each column out of fold. \[default: with at least 20 rows]",
        ),
    ] = None,
    cv: Annotated[int, typer.Option(help="Number of cross-validation folds; 0 for none.")] = 10,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    max_states: Annotated[int, typer.Option(help="Maximum number of states of a text column.")] = 255,
    tol: Annotated[float, typer.Option(help="Gain in log-likelihood at which EM stops.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(help="Maximum number of EM iterations.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Calibration plot of the cross-validation, .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> None:
    """Fit a naive Bayes classifier to a table. Constant and identifier columns are dropped.

    Example: bayeslearn fit naive-bayes titanic.csv --target survived -o nb.json
    """
    from bayeslearn import codec, files, validation
    from bayeslearn.naive_bayes import fit_naive_bayes

    codec.require_model_name(to)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    validation.integer("--cv", cv, min_value=0)
    validation.integer("--seed", seed, min_value=0)
    distributions, everywhere = by_column("--distribution", distribution)
    dropped = data.dropped(target, sample_weight)
    with (
        data.opened(sample_weight=sample_weight, max_states=max_states) as given,
        interrupt.once("the best model so far") as stop,
        progress.bar("fitting", passes=data.passes) as tell,
    ):
        table = given.settled(read(given, target, distributions, dropped, sample_weight, max_states))

        def step(now: Any) -> None:
            stop.heed()
            tell(now.fraction, now.message or "fitting")

        words: dict[str, Any] = {"estimate": estimate, "unlabeled": unlabeled}  # checked by the fit
        words |= {"calibrate": "auto" if calibrate is None else calibrate}
        model = fit_naive_bayes(
            table, target, distributions=kinds_of(distributions, everywhere, table), prior=priors(prior),
            class_prior=class_prior, cv=cv, tol=tol, max_iter=max_iter, random_state=seed,
            progress=step, **words,
        )  # fmt: skip
        model.save(to)
    info = replace(model.fit_info, dropped_columns=dropped)
    output.show_json(info.to_dict()) if as_json else print(info.summary())  # noqa: T201
    sys.stderr.write(f"Saved {to} ({len(model.classes)} classes, {len(model.columns)} columns).\n")
    if plot is not None:
        draw(info, plot)


def draw(info: NaiveBayesFitInfo, path: Path) -> None:
    """Draw the calibration, if there was a cross-validation."""
    from bayeslearn import plots

    if info.cross_validation is None:
        envelope.warn(f"{path} is not written: there is no cross-validation")
        return
    plots.save(info.plot(), path)
    sys.stderr.write(f"Saved {path}.\n")


### options


def pairs(option: str, items: list[str] | None) -> dict[str, str]:
    """COL=NAME, each a pair."""
    found = {}
    for item in items or []:
        name, equals, word = item.rpartition("=")
        if not (name and equals and word):
            raise ParameterError(f"{option} takes COL=NAME, got {item!r}", hint=f"for instance {option} age=gaussian")
        found[name] = word
    return found


def priors(text: str) -> Any:
    """One prior for all columns, or one for some of them."""
    own, plain = by_column("--prior", next(csv.reader([text], skipinitialspace=True), []))
    return Everywhere(own, plain) if own else plain or "pooled:1"


def by_column(option: str, items: list[str] | None) -> tuple[dict[str, str], str | None]:
    """What is given for some columns, and for all others."""
    plain = [item for item in items or [] if "=" not in item]
    if len(plain) > 1:
        value = option.strip("-").upper()
        raise ParameterError(
            f"there is one {option} for all columns, got {', '.join(plain)}", hint=f"write COL={value}"
        )
    return pairs(option, [item for item in items or [] if "=" in item]), plain[0] if plain else None


class Everywhere(dict[str, Any]):
    """Priors of some columns, and another for all others."""

    def __init__(self, own: dict[str, str], rest: str | None) -> None:
        super().__init__(own)
        self.rest = rest

    def get(self, name: str, default: Any = None) -> Any:
        """Return the prior of a column."""
        return super().get(name, default if self.rest is None else self.rest)


def kinds_of(distributions: dict[str, str], everywhere: str | None, table: Any) -> dict[str, str]:
    """The distributions of the columns of a table whose numbers are binned already; one may be of all others."""
    from bayeslearn.naive_bayes.tabular.inputs import checked_option, numbers_of_bins

    bins = numbers_of_bins(distributions)
    everywhere = None if everywhere is None else checked_option("--distribution", everywhere)
    own = {n: "categorical" if n in bins else kind for n, kind in distributions.items() if n in table.schema}
    return ({} if everywhere is None else {v.name: everywhere for v in table.schema.numeric}) | own


def read(
    given: Given,
    target: str,
    distributions: dict[str, str],
    dropped: dict[str, str],
    sample_weight: str | None,
    max_states: int,
) -> Any:
    """The table or the source, without the columns that are not used."""
    from bayeslearn.naive_bayes.tabular.inputs import read_columns
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([target, *distributions, *([sample_weight] if sample_weight else [])], known)
    if target in distributions:
        raise ParameterError(f"{target!r} is the target: it is always categorical", hint="omit its --distribution")
    columns = [name for name in known if name not in dropped and name != sample_weight]
    return read_columns(
        given.data, distributions, also_discrete=[target], columns=columns, sample_weight=given.sample_weight,
        max_states=max_states, dropped_columns=dropped,
    )  # fmt: skip
