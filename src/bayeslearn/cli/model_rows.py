"""Verbs that ask a model of tables about rows: ``explain``, ``impute``, ``sample`` and ``score``."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import envelope, output, progress, table_models, table_writer
from bayeslearn.cli.data_options import Data, Model, OneFile, reads
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.tables import Source, Table

Rows = Annotated[
    Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: CSV to stdout.")
]
Json = Annotated[bool, typer.Option("--json", help="JSON object, with the columns if there is no -o.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the random numbers.")]


### explain


@reads(unseen=True)
def explain(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; values may be missing.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: text to stdout.")
    ] = None,
    max_results: Annotated[int | None, typer.Option(help="Maximum number of neighbors per row.")] = None,
    position: Annotated[int | None, typer.Option(help="Position in the sequence to explain, from 0.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of text.")] = False,
) -> None:
    """Explain the prediction of every row: the contribution of each cell, or the neighbors.

    Example: bayeslearn explain nb.json passengers.csv
    """
    from bayeslearn import load

    if to is not None:
        table_writer.writer(to)
    model = load(model_file)
    with data.opened() as given:
        if hasattr(model, "decode"):
            found = table_models.ask(model, "explain", given.settled(), max_results=max_results, position=position)
            output.show_json(found.to_dict()) if as_json else sys.stdout.write(f"{found.summary()}\n")
            return
        rows = table_models.rows_of(model, given)
        n_rows, parts = rows.n_rows, []
        for batch in rows.batches(table_models.BATCH):
            found = explained(model, batch, max_results=max_results, position=position)
            parts.append((found, len(found) // batch.n_rows))
    if to is not None:
        table_writer.write_columns(to, frame_of(parts))
        sys.stderr.write(f"wrote {to}: {n_rows} rows\n")
    if as_json:
        entries = [entry for found, _ in parts for entry in entries_of(found)]
        output.show_json({"n_rows": n_rows} | ({} if to else {"explanations": entries}))
    elif to is None:
        sys.stdout.write("\n".join(texts(parts)))


def explained(model: Any, batch: Table, **options: Any) -> Any:
    """The explanations of some rows: a list with as many for each row, or one value for all of them."""
    import numpy as np

    ask = partial(table_models.ask, model, "explain", **options)
    if "row" not in inspect.signature(model.explain).parameters:
        return ask(batch)
    return [ask(batch.take(np.array([i]))) for i in range(batch.n_rows)]


def texts(parts: list[tuple[Any, int]]) -> Iterator[str]:
    """The explanation of each row as text, with the number of the row."""
    first = 0
    for found, each in parts:
        if isinstance(found, list):
            yield from (f"Row {first + i // each}: {one.summary()}\n" for i, one in enumerate(found))
        else:
            yield found.report(first=first, max_rows=len(found)).text() + "\n"
        first += len(found) // each


def entries_of(found: Any) -> list[Any]:
    """The explanations as plain values, one after the other."""
    return [one.to_dict() for one in found] if isinstance(found, list) else list(found.to_dict()["rows"])


def frame_of(parts: list[tuple[Any, int]]) -> Any:
    """The explanations as one Arrow table; the column `row` has the number of the row."""
    import pyarrow as pa

    first, frames = 0, []
    for found, each in parts:
        tables = [one.to_frame("pyarrow") for one in found] if isinstance(found, list) else [found.to_frame("pyarrow")]
        for i, table in enumerate(tables):
            n = table.num_rows
            numbers = [first + i // each] * n if isinstance(found, list) else range(first, first + n)
            name = "row" if "row" not in table.column_names else "explained_row"
            frames.append(table.add_column(0, name, pa.array(numbers, pa.int64())))
        first += len(found) // each
    return pa.concat_tables(frames, promote_options="permissive")


### impute


@reads("na_values", without=("columns", "drop_columns"))
def impute(
    model_file: Model,
    data: Annotated[OneFile, typer.Argument(help="CSV or Parquet file with missing values.")],
    *,
    to: Rows = None,
    method: Annotated[
        str | None,
        typer.Option(help="What missing values become: most_probable or expected, or sample: draws given the row."),
    ] = None,
    seed: Seed = None,
    id_column: table_models.Id = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON object with the number of filled cells; needs -o.")
    ] = False,
) -> None:
    """Fill missing values given the other values of the row; all other cells are unchanged.

    Example: bayeslearn impute nb.json passengers.csv -o full.csv
    """
    from bayeslearn import load
    from bayeslearn.cli.structure_options import table_file
    from bayeslearn.tables.file_readers import column_names
    from bayeslearn.tables.imputed_cells import in_memory

    if as_json and to is None:
        raise ParameterError(
            "--json takes the place of the rows on stdout", hint="name a file for the rows: -o full.csv"
        )
    if to is not None:
        table_writer.writer(to)
    model, path = load(model_file), table_file(str(data))
    markers = data.cells(partial(column_names, path))
    before = in_memory(path)
    full = table_models.ask(
        model, "impute", before, method=None if method is None else method.replace("-", "_"), random_state=seed,
        na_values=markers.get("na_values"), keep_default_na=markers.get("keep_default_na"), id=id_column,
    )  # fmt: skip
    table_writer.write_columns(to, full)
    filled = filled_cells(model, before, full, markers)
    count = f"filled {sum(filled.values())} values of {len(filled)} columns"
    sys.stderr.write(f"{count}\n" if to is None else f"wrote {to}: {full.num_rows} rows, {count}\n")
    if as_json:
        output.show_json({"output": str(to), "n_rows": full.num_rows, "filled": filled})


def filled_cells(model: Any, before: Any, full: Any, markers: dict[str, Any]) -> dict[str, int]:
    """The number of filled values of each column."""
    from bayeslearn.model_evaluation import targets_of
    from bayeslearn.tables import Schema, as_table

    if hasattr(model, "decode"):
        how: dict[str, Any] = {"columns": list(model.feature_names), "allow_constant": True}
    else:
        schema, handle_unknown = table_models.input_schema(model)
        there = [v for v in (*schema, *targets_of(model)) if v.name in before.column_names]
        how = {"schema": Schema(there), "handle_unknown": handle_unknown}
    one, other = as_table(before, **how, **markers).missing(), as_table(full, **how).missing()
    return {name: n - other[name] for name, n in one.items() if n > other[name]}


### sample


@reads()
def sample(
    model_file: Model,
    data: Annotated[
        Data | None, typer.Argument(metavar="[DATA]", help="CSV or Parquet files, for models whose targets are drawn.")
    ] = None,
    *,
    n: Annotated[int, typer.Option("-n", "--n-samples", help="Number of rows, or of draws for each row of DATA.")],
    to: Rows = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Draw random rows from a model; from a regression, targets of the rows of data.

    Example: bayeslearn sample nb.json -n 100 --seed 1 -o rows.csv
    """
    from bayeslearn import load, validation

    validation.integer("--n-samples", n, min_value=1)
    if seed is not None:
        validation.integer("--seed", seed, min_value=0)
    if to is not None:
        table_writer.writer(to)
    model = load(model_file)
    of_rows = "data" in inspect.signature(model.sample).parameters
    if of_rows != (data is not None):
        raise ParameterError(
            "this model draws targets of rows, and no data are given" if of_rows else "this model draws whole rows",
            hint="bayeslearn sample MODEL DATA -n 10" if of_rows else "leave out the data",
        )
    if data is None:
        table = model.sample(n, random_state=seed)
    else:
        with data.opened() as given:
            table = drawn_targets(model, table_models.rows_of(model, given), n, seed)
    columns = table_writer.write_answers(to, table.schema, [table], table.n_rows, "sampling", as_json=as_json)
    if as_json:
        output.show_json({"n_rows": table.n_rows} | columns)


def drawn_targets(model: Any, rows: Source, n: int, seed: int | None) -> Table:
    """Draws of the targets of every row: the number of the row, and the targets."""
    import numpy as np

    from bayeslearn import validation
    from bayeslearn.tables import NumericVariable, Schema, Table

    luck, names = validation.generator(seed), model.targets
    parts = [model.sample(part, n, random_state=luck).reshape(n, part.n_rows, len(names)) for part in rows.batches()]
    drawn = np.concatenate(parts, axis=1)
    number = np.tile(np.arange(drawn.shape[1]), n)
    values = np.vstack([number, drawn.reshape(-1, len(names)).T])
    schema = Schema(NumericVariable(name) for name in ("row", *names))
    return Table(schema, np.empty((0, len(number)), np.int8), values)


### score


@reads(unseen=True)
def score(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; missing values are marginalized.")],
    *,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File of the log-likelihood of each row to write, .csv or .parquet."),
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON object instead of text.")] = False,
) -> None:
    """Log-likelihood of data under a model: of whole rows, or of the target given the row.

    Example: bayeslearn score zoo.json animals.csv
    """
    import numpy as np

    from bayeslearn import load

    if to is not None:
        table_writer.writer(to)
    model = load(model_file)
    with data.opened(sample_weight=sample_weight) as given, progress.bar("scoring", passes=data.passes):
        parts = list(row_likelihoods(model, given))
    log_p, weights = (np.concatenate(side) for side in zip(*parts, strict=True))
    found = totals(log_p, weights)
    if to is not None:
        import pyarrow as pa

        table_writer.write_columns(to, pa.table({"log_likelihood": log_p}))
        sys.stderr.write(f"wrote {to}: {len(log_p)} rows\n")
    if found["n_impossible"]:
        envelope.warn(f"{found['n_impossible']} rows have probability zero")
    if as_json:
        output.show_json(found)
        return
    names = {"n_rows": "Rows", "log_likelihood": "Log-likelihood", "mean_log_likelihood": "Mean log-likelihood"}
    output.show_pairs([(name, output.precise(found[key])) for key, name in names.items()])


def row_likelihoods(model: Any, given: Any) -> Iterator[tuple[Any, Any]]:
    """The log-likelihoods and the weights of the rows, batch by batch; of the target where the model predicts one."""
    import numpy as np

    from bayeslearn.errors import DataError, listed
    from bayeslearn.model_evaluation import targets_of

    of_target = "target" in inspect.signature(model.log_likelihood).parameters
    targets = targets_of(model) if of_target else ()
    lacking = [v.name for v in targets if v.name not in given.names]
    if lacking:
        raise DataError(
            f"{given.path} has no column {listed(lacking)}, whose likelihood is computed",
            hint="name a file with the observed targets",
        )
    _, parts = table_models.batches(model, given, targets)
    for batch, truth in parts:
        known = () if truth is None else (truth_of(truth, targets),)
        w = batch.sample_weight
        yield model.log_likelihood(batch, *known), np.ones(batch.n_rows) if w is None else w


def truth_of(truth: Table, targets: tuple[Any, ...]) -> Any:
    """The targets of rows as a model takes them: classes, or numbers, with a column for each of several."""
    import numpy as np

    if truth.schema.discrete:
        return truth.column(targets[0].name)
    values = np.column_stack([truth.values_of(v.name) for v in targets])
    return values[:, 0] if len(targets) == 1 else values


def totals(log_p: Any, weights: Any) -> dict[str, Any]:
    """The sum and the mean of log-likelihoods."""
    import numpy as np

    counted = weights > 0
    total, weight = float(weights[counted] @ log_p[counted]), float(weights.sum())
    return {
        "n_rows": len(log_p), "total_weight": weight, "log_likelihood": total,
        "mean_log_likelihood": total / weight if weight else float("nan"),
        "n_impossible": int(np.isneginf(log_p).sum()),
    }  # fmt: skip
