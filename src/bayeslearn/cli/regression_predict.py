"""``bayeslearn predict``: the value of every row of data with its interval, or its class with probabilities."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, table_writer
from bayeslearn.cli.data_options import Data, Model, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.evaluation import Metrics
    from bayeslearn.tables import Schema, Source, Table

#: Rows that are answered together.
BATCH = 1 << 16


@reads(unseen=True)
def run(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Predict the value of every row with its interval, or its class with probabilities.

    Example: bayeslearn predict mpg.json new-cars.csv
    """
    from bayeslearn import validation
    from bayeslearn.evaluation import Metrics
    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

    validation.number("--level", level, above=0, below=1)
    if to is not None:
        table_writer.writer(to)
    model, names = loaded(model_file)
    classes = getattr(model, "classes", ())
    schema, errors = answer_schema(model, names), Errors(Metrics.none(classes))
    with data.opened() as given:
        given.require_some(model.features.schema)
        cases, truth = given.coded(model.features.schema), None
        if all(name in given.names for name in names):
            truth = given.coded(
                Schema(DiscreteVariable(name, classes) if classes else NumericVariable(name) for name in names)
            )
        rows, tables = cases.n_rows, answers(model, cases, truth, schema, level, errors)
        columns = table_writer.write_answers(to, schema, tables, rows, "predicting", as_json=as_json)
    scores = errors.scores(names)
    for name, score in scores.items():
        words = ", ".join(f"{what} {output.number(value)}" for what, value in score.items())
        sys.stderr.write(f"{name}: {words}\n")
    if as_json:
        output.show_json({"n_rows": rows, "scores": scores} | columns)


def loaded(path: str) -> tuple[Any, tuple[str, ...]]:
    """The model of a file, of whichever kind, and the names of what it predicts."""
    from bayeslearn import load
    from bayeslearn.errors import FormatError
    from bayeslearn.regression import ClassificationModel, LocalRegressionModel, RegressionModel

    model = load(path)
    if isinstance(model, ClassificationModel):
        return model, (model.target,)
    if isinstance(model, LocalRegressionModel):
        return model, model.targets
    if isinstance(model, RegressionModel):
        return model, model.targets
    raise FormatError(
        f"{path!r} holds a model of the kind {model.file_kind!r}, not a regression or a classification",
        hint="bayeslearn fit regression writes one",
        path=path,
    )


### answers


def answer_schema(model: Any, names: tuple[str, ...]) -> Schema:
    """A column and its bounds for every output, or the class and the probability of each."""
    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

    if isinstance(model, ClassificationModel):
        chances = [NumericVariable(f"P({model.target}={label})") for label in model.classes]
        return Schema([DiscreteVariable(model.target, model.classes), *chances])
    return Schema(NumericVariable(column) for name in names for column in (name, f"low({name})", f"high({name})"))


def answers(
    model: Any, cases: Source, truth: Source | None, schema: Schema, level: float, errors: Errors
) -> Iterator[Table]:
    """The answer batch by batch, compared with the truth on the way; bounds are missing where they are unknown."""
    known = repeat(None) if truth is None else truth.batches(BATCH)
    for batch, true in zip(cases.batches(BATCH), known, strict=False):
        found = answer(model, batch, schema, level)
        if true is not None:
            errors.add(found, true)
        yield found


def answer(model: Any, batch: Table, schema: Schema, level: float) -> Table:
    """The answer about some rows."""
    import numpy as np

    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.tables import Table

    if isinstance(model, ClassificationModel):
        p = model.predict_proba(batch)
        return Table(schema, p.argmax(axis=1)[None], p.T)
    mean, low, high = bounded(model, batch, level)
    values = np.array([c for j in range(mean.shape[1]) for c in (mean[:, j], low[:, j], high[:, j])])
    return Table(schema, np.empty((0, len(mean)), np.int8), np.where(np.isfinite(values), values, np.nan))


def bounded(model: Any, batch: Table, level: float) -> tuple[Any, Any, Any]:
    """Means and bounds, (n, m) each."""
    import numpy as np

    from bayeslearn.errors import EvidenceError

    mean = model.predict(batch)
    try:
        bounds = model.predict_interval(batch, level)
    except EvidenceError:  # too few rows
        bounds = (np.full(mean.shape, np.nan),) * 2
    mean, low, high = (np.reshape(a, (len(mean), -1)) for a in (mean, *bounds))
    return mean, low, high


@dataclass
class Errors:
    """The errors of predictions where the truth is known, summed over rows."""

    #: Of a class.
    metrics: Metrics
    #: Of each column of numbers: rows, Σ error², rows within their bounds.
    sums: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def add(self, found: Table, truth: Table) -> None:
        """The predictions of some rows and what is true of them."""
        from bayeslearn.evaluation import Metrics

        for variable in truth.schema.discrete:
            self.metrics += Metrics.of(found.values.T, truth.codes_of(variable.name), classes=variable.states)
        for number in truth.schema.numeric:
            self.sums[number.name] = self.sums.get(number.name, 0.0) + number_errors(found, truth, number.name)

    def scores(self, names: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """The averages, of the columns that are known in some row."""
        if self.metrics.weight:
            found = self.metrics
            scores = {"known": round(found.weight), "accuracy": found.accuracy, "log_loss": found.log_loss}
            return dict.fromkeys(names, scores)
        return {
            name: {"known": int(n), "rmse": float((squares / n) ** 0.5), "within": float(within / n)}
            for name, (n, squares, within) in self.sums.items()
            if n
        }


def number_errors(found: Table, truth: Table, name: str) -> NDArray[np.float64]:
    """Rows whose number is known, the sum of squared errors, and how many lie within their bounds."""
    import numpy as np

    y = truth.values_of(name)
    low, high = found.values_of(f"low({name})"), found.values_of(f"high({name})")
    known = ~np.isnan(y)
    off = (y - found.values_of(name))[known]
    within = (low[known] <= y[known]) & (y[known] <= high[known])
    return np.array([known.sum(), (off**2).sum(), within.sum()], dtype=float)
