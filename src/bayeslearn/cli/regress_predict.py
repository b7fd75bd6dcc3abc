"""How ``bayeslearn regress --by`` predicts every row of a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import output, progress, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bayeslearn.cli.given import Given
    from bayeslearn.tables import Schema, Table

#: Rows that are answered together.
BATCH = 1 << 16


def run(model_file: Path, given: Given, to: Path | None, level: float, *, as_json: bool) -> None:
    """The value of every row with its interval, or its class with probabilities."""
    from bayeslearn.tables import Table

    if to is not None:
        writing.writer(to)
    model, names = loaded(model_file)
    told = warned(model, names, given)
    cases, notes = model.features.read(given.data, absent="missing")
    for sentence in notes.sentences():
        sys.stderr.write(f"warning: {sentence}\n")
    schema = answer_schema(model, names)
    tables = progress.watched(answers(model, cases, schema, level), cases.n_rows, "predicting", silent=to is None)
    whole = Table.concat(tables)
    columns = {}
    if to is None and as_json:
        columns = {"columns": whole.to_dict()}
    else:
        writing.write(to, schema, iter([whole]))
    if to is not None:
        sys.stderr.write(f"wrote {to}: {cases.n_rows} rows, {len(schema)} columns\n")
    scores = scored(model, names, given.data, whole) if told else {}
    for name, score in scores.items():
        words = ", ".join(f"{what} {output.number(value)}" for what, value in score.items())
        sys.stderr.write(f"{name}: {words}\n")
    if as_json:
        output.show_json({"rows": cases.n_rows, "scores": scores} | columns)


def loaded(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The model of a file, of whichever kind, and the names of what it predicts."""
    from bayeslearn import load
    from bayeslearn.errors import FormatError
    from bayeslearn.functions import Classification, LocalModel, Regression

    model = load(path)
    if isinstance(model, Classification):
        return model, (model.target,)
    if isinstance(model, LocalModel):
        return model, model.output_names
    if isinstance(model, Regression):
        return model, model.outputs
    raise FormatError(
        f"{str(path)!r} holds a model of the kind {model.file_kind!r}, not a regression or a classification",
        hint="bayeslearn regress writes one",
        path=path,
    )


def warned(model: Any, names: tuple[str, ...], given: Given) -> bool:
    """Whether the file knows the target; columns that it lacks and states that are new are told of."""
    from bayeslearn.errors import DataError, listed

    there, path, known = given.names, given.path, model.features.schema.names
    absent = model.features.schema.absent_from(there)
    if len(absent) == len(known):
        raise DataError(
            f"{path!r} has none of the columns of the model: {listed(known)}",
            hint="names must agree, also in upper and lower case: `bayeslearn scan FILE` lists those of a file",
        )
    if absent:
        sys.stderr.write(f"warning: {path!r} lacks {listed(absent)}, so they are taken for missing\n")
    return all(name in there for name in names)


### answers


def answer_schema(model: Any, names: tuple[str, ...]) -> Schema:
    """A column and its bounds for every output, or the class and the probability of each."""
    from bayeslearn.functions.classification import Classification
    from bayeslearn.tables import Discrete, Numeric, Schema

    if isinstance(model, Classification):
        chances = [Numeric(f"P({model.target}={label})") for label in model.classes]
        return Schema([Discrete(model.target, model.classes), *chances])
    return Schema(Numeric(column) for name in names for column in (name, f"low({name})", f"high({name})"))


def answers(model: Any, cases: Table, schema: Schema, level: float) -> Iterator[Table]:
    """The answer batch by batch; bounds are missing where nothing tells them."""
    import numpy as np

    from bayeslearn.functions.classification import Classification
    from bayeslearn.tables import Table

    for batch in cases.batches(BATCH):
        if isinstance(model, Classification):
            p = model.predict_proba(batch)
            yield Table(schema, p.argmax(axis=1)[None], p.T)
            continue
        mean, low, high = bounded(model, batch, level)
        columns = [c for j in range(mean.shape[1]) for c in (mean[:, j], low[:, j], high[:, j])]
        values = np.array(columns)
        yield Table(schema, np.empty((0, len(mean)), np.int8), np.where(np.isfinite(values), values, np.nan))


def bounded(model: Any, batch: Table, level: float) -> tuple[Any, Any, Any]:
    """Means and bounds, (n, m) each."""
    import numpy as np

    from bayeslearn.errors import EvidenceError
    from bayeslearn.functions.regression import Regression

    if not isinstance(model, Regression):
        fit = model.at(batch)
        return tuple(np.asarray(a).reshape(len(fit), -1) for a in (fit.mean, *fit.interval(level)))  # type: ignore[return-value]
    try:
        found = model.predicted(batch, level=level)
    except EvidenceError:
        mean = model.predict(batch)
        return mean, np.full(mean.shape, np.nan), np.full(mean.shape, np.nan)
    return found.mean, found.low, found.high


def scored(model: Any, names: tuple[str, ...], path: Any, answer: Table) -> dict[str, dict[str, float]]:
    """How far the predictions are off where the file knows better."""
    import numpy as np

    from bayeslearn.functions.classification import Classification
    from bayeslearn.tables import Discrete, Numeric, Schema, as_table

    if isinstance(model, Classification):
        truth = as_table(path, schema=Schema([Discrete(model.target, model.classes)]), unseen="missing")
        codes = truth.code(model.target)
        known = codes >= 0
        if not known.any():
            return {}
        p = answer.values[:, known][codes[known], np.arange(known.sum())]
        right = answer.code(model.target)[known] == codes[known]
        return {model.target: {
            "known": int(known.sum()), "accuracy": float(right.mean()),
            "log_loss": float(-np.log(np.maximum(p, 1e-300)).mean()),
        }}  # fmt: skip
    truth = as_table(path, schema=Schema(Numeric(name) for name in names))
    found = {}
    for name in names:
        y, said = truth.value(name), answer.value(name)
        low, high = answer.value(f"low({name})"), answer.value(f"high({name})")
        known = ~np.isnan(y)
        if known.any():
            off = (y - said)[known]
            within = float(np.mean((low[known] <= y[known]) & (y[known] <= high[known])))
            found[name] = {"known": int(known.sum()), "rmse": float(np.sqrt(np.mean(off**2))), "within": within}
    return found
