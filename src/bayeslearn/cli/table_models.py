"""What verbs ask of a model of tables: the columns that it reads, its answers batch by batch, its methods."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeslearn.errors import OPTIONS, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.cli.input_data import Given
    from bayeslearn.tables import Schema, Source, Table

#: The option of models of sequences.
Id = Annotated[str | None, typer.Option("--id", help="Column that names the sequence of each row.")]

#: Rows that are answered together.
BATCH = 1 << 16


def input_schema(model: Any) -> tuple[Schema, Literal["missing", "last"]]:
    """The columns that a model reads, and what becomes of unknown states: missing, or the last state of the column."""
    from bayeslearn.naive_bayes.tabular.row_blocks import schema_with_other
    from bayeslearn.neighbors.distances import with_another
    from bayeslearn.tables import Schema

    if hasattr(model, "examples"):
        return with_another(model.examples.schema), "last"
    if hasattr(model, "class_log_prior"):
        return schema_with_other(model.columns) or Schema([]), "last"
    return (model.features if hasattr(model, "features") else model).schema, "missing"


def rows_of(model: Any, given: Given) -> Source:
    """The rows about which a model is asked, by its columns; those that are not in the data are missing."""
    schema, handle_unknown = input_schema(model)
    given.require_some(schema)
    return given.coded(schema, handle_unknown=handle_unknown)


def ask(model: Any, verb: str, *arguments: Any, **options: Any) -> Any:
    """Call a method of a model with the options that were given; one that the method does not have is an error."""
    method = getattr(model, verb)
    known = inspect.signature(method).parameters
    asked = {name: value for name, value in options.items() if value is not None}
    odd = [name for name in asked if name not in known]
    if odd:
        raise ParameterError(
            f"`bayeslearn {verb}` has no {option_name(odd[0])} for a model of the kind {model.file_kind!r}",
            hint="leave it out",
        )
    return method(*arguments, **asked)


def option_name(parameter: str) -> str:
    """The option of the command line for a parameter, or the argument."""
    name = OPTIONS.get(parameter, parameter)
    return name if name.isupper() else f"--{name.replace('_', '-')}"


### answers


def answer_schema(model: Any, targets: tuple[Any, ...]) -> Schema:
    """The columns of an answer: a class with all probabilities, numbers with their bounds, or a component."""
    from bayeslearn.model_evaluation import is_classifier
    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

    if is_classifier(model, targets):
        (target,) = targets
        return Schema([target, *(NumericVariable(f"P({target.name}={state})") for state in target.states)])
    if targets:
        return Schema(NumericVariable(name) for v in targets for name in (v.name, f"low({v.name})", f"high({v.name})"))
    numbers = range(model.n_components)
    each: list[Any] = [NumericVariable(f"P(component={j})") for j in numbers]
    return Schema([DiscreteVariable("component", numbers), *each, NumericVariable("log_likelihood")])  # type: ignore[arg-type]


def answer(model: Any, batch: Table, targets: tuple[Any, ...], schema: Schema, level: float) -> Table:
    """The answer about some rows."""
    import numpy as np

    from bayeslearn.model_evaluation import bounded, is_classifier, probabilities
    from bayeslearn.tables import Table

    if is_classifier(model, targets):
        p = probabilities(model, batch, targets[0])
        codes = model.predict_codes(batch) if hasattr(model, "predict_codes") else p.argmax(axis=1)
        return Table(schema, codes[None], p.T)
    if targets:
        values = np.stack(bounded(model, batch, level), axis=2).reshape(batch.n_rows, -1).T
        return Table(schema, np.empty((0, batch.n_rows), np.int8), np.where(np.isfinite(values), values, np.nan))
    p = model.predict_proba(batch)
    return Table(schema, p.argmax(axis=1)[None], np.vstack([p.T, model.log_likelihood(batch)]))


def batches(model: Any, given: Given, targets: tuple[Any, ...]) -> tuple[Source, Iterator[tuple[Table, Any]]]:
    """The rows of data, and batches of them, each with its targets; without these where the data lack them."""
    from itertools import repeat

    from bayeslearn.tables import Schema

    rows = rows_of(model, given)
    known = targets and all(v.name in given.names for v in targets)
    truth = given.by_schema(Schema(targets)).batches(BATCH) if known else repeat(None)
    return rows, zip(rows.batches(BATCH), truth, strict=False)
