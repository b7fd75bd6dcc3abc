"""Verbs that write a changed model: ``update``, ``merge`` and ``convert``."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress, table_models
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.errors import BayeslearnError, DataError, MismatchError, ParameterError, UnknownColumnError

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given

To = Annotated[Path, typer.Option("-o", "--output", help="Model file to write, .json, .json.gz or packed .model.")]
Json = Annotated[bool, typer.Option("--json", help="JSON object instead of text.")]


### update


@reads(unseen=True, adds=True)
def update(
    model_file: Model,
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns, with the columns of the fit.")],
    *,
    to: To,
    remove: Annotated[bool, typer.Option("--remove", help="Remove these rows instead of adding them.")] = False,
    forgetting_factor: Annotated[float, typer.Option(help="Weight of the rows of before, from 0 to 1.")] = 1.0,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    target: Annotated[str | None, typer.Option(help="Column of the target, if it has another name.")] = None,
    text: Annotated[str | None, typer.Option(help="Column of the documents, for text models.")] = None,
    id_column: table_models.Id = None,
    as_json: Json = False,
) -> None:
    """Add rows to a model, as if they had been there from the start; or remove them.

    Example: bayeslearn update nb.json today.csv -o nb.json
    """
    from bayeslearn import load, validation

    check(to)
    validation.number("--forgetting-factor", forgetting_factor, min_value=0, max_value=1)
    if remove and forgetting_factor != 1:
        raise ParameterError("--forgetting-factor cannot be used with --remove", hint="leave out one of the two")
    model = load(model_file)
    with data.opened(sample_weight=sample_weight) as given, progress.bar("updating", passes=data.passes):
        options = {"sample_weight": given.sample_weight, "id": id_column, "target": target, "text": text}
        after = changed(model, given.settled(), options, remove=remove, forgetting_factor=forgetting_factor)
        after.save(to)
        found = {
            "n_rows": n_rows(after, given),
            "total_weight_before": weight_of(model),
            "total_weight": weight_of(after),
        }
    report(found, to, as_json=as_json)


def changed(model: Any, data: Any, options: dict[str, Any], *, remove: bool, forgetting_factor: float) -> Any:
    """The model with more rows, or without some; columns that the data lack are no mistake of the command line."""
    try:
        return with_rows(model, data, options, remove=remove, forgetting_factor=forgetting_factor)
    except UnknownColumnError as error:
        raise DataError(error.message, hint=error.hint, **error.details) from None


def with_rows(model: Any, data: Any, options: dict[str, Any], *, remove: bool, forgetting_factor: float) -> Any:
    """The same."""
    if remove:
        if not hasattr(model, "remove"):
            raise ParameterError(
                f"no rows can be removed from a model of the kind {model.file_kind!r}", hint="fit it again without them"
            )
        return table_models.ask(model, "remove", data, **options)
    if forgetting_factor == 1:
        return table_models.ask(model, "update", data, **options)
    if "forgetting_factor" in inspect.signature(model.update).parameters:
        return table_models.ask(model, "update", data, forgetting_factor=forgetting_factor, **options)
    if not hasattr(model, "discount"):
        raise ParameterError(
            f"there is no --forgetting-factor for a model of the kind {model.file_kind!r}", hint="leave it out"
        )
    return table_models.ask(model.discount(forgetting_factor), "update", data, **options)


def n_rows(model: Any, given: Given) -> int | None:
    """The number of rows of data; None where only the model can read them."""
    try:
        return int(table_models.rows_of(model, given).n_rows)
    except (AttributeError, BayeslearnError):
        return None


def weight_of(model: Any) -> float | None:
    """The weighted number of rows that a model is based on, if it has one."""
    found = getattr(model, "total_weight", None)
    return None if found is None else float(found)


### merge


def merge(
    models: Annotated[list[str], typer.Argument(help="Two or more models of one kind.")],
    *,
    to: To,
    as_json: Json = False,
) -> None:
    """Merge models: their rows add, and the prior and rows of a common base count once.

    Example: bayeslearn merge north.json south.json -o both.json
    """
    from bayeslearn import load

    if len(models) < 2:
        raise ParameterError(
            "a merge needs two models or more, got one", hint="for instance bayeslearn merge a.json b.json -o both.json"
        )
    check(to)
    parts = [load(name) for name in models]
    whole = parts[0]
    for name, part in zip(models[1:], parts[1:], strict=True):
        if part.file_kind != whole.file_kind:
            raise MismatchError(
                f"{name!r} holds a model of the kind {part.file_kind!r}, and {models[0]!r} one of {whole.file_kind!r}",
                hint="merge models of one kind",
                differs="kind",
            )
        try:
            whole = whole + part
        except MismatchError as error:
            message = f"{name!r} cannot be merged with {models[0]!r}: {error.message}"
            raise MismatchError(message, hint=error.hint, **error.details) from None
    whole.save(to)
    each = [{"model": name, "total_weight": weight_of(part)} for name, part in zip(models, parts, strict=True)]
    report({"models": each, "total_weight": weight_of(whole)}, to, as_json=as_json)


### convert


def convert(
    model_file: Model,
    target: Annotated[Path, typer.Argument(help="File to write: .json, .json.gz, or another name for a packed file.")],
    *,
    as_json: Json = False,
) -> None:
    """Write a model in another format.

    Example: bayeslearn convert zoo.json zoo.model
    """
    from bayeslearn import load

    check(target)
    load(model_file).save(target)
    name = target.name.lower()
    kind = "json" if name.endswith((".json", ".json.gz")) else "packed"
    report({"output": str(target), "format": kind}, target, as_json=as_json)


def check(to: Path) -> None:
    """Refuse a file that no model can be written to."""
    from bayeslearn import files
    from bayeslearn.codec import require_model_name

    require_model_name(to)
    files.destination(to)


def report(found: dict[str, Any], to: Path, *, as_json: bool) -> None:
    """Print what was done: one JSON object, or lines; and the name of the file on stderr."""
    sys.stderr.write(f"wrote {to}\n")
    if as_json:
        output.show_json(found)
        return
    names = {"n_rows": "Rows", "total_weight_before": "Total weight before", "total_weight": "Total weight"}
    pairs = [(name, output.amount(found[key])) for key, name in names.items() if found.get(key) is not None]
    if pairs:
        output.show_pairs(pairs)
