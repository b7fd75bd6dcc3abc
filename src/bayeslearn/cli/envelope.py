"""The call of a verb as `--json` reports it around the result.

    {"command", "version", "model", "data": {"n_rows", "n_missing", "dropped_columns"}, "result", "warnings", "seconds"}

`data` is null for verbs that read none. Its numbers come from the rows that a model was asked about, else from the
entries of the result that have these names.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any

#: Parameters that name the model of a verb.
MODELS = ("model_file", "models", "nets", "net")

#: Names of entries of results that have the same number.
SAME = {
    "n_rows": ("n_rows", "rows", "documents"),
    "n_missing": ("n_missing", "missing_cells", "missing"),
    "dropped_columns": ("dropped_columns",),
}


@dataclass
class Call:
    """A call of a verb."""

    command: str = ""
    model: str | list[str] | None = None
    #: The options of the verb.
    options: frozenset[str] = frozenset()
    reads_data: bool = False
    #: The rows that a model was asked about, and the columns that were not used, with the reason.
    source: Any = None
    dropped_columns: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)


_call = Call()


def current() -> Call:
    """Return the call of the verb that runs."""
    return _call


def begin(ctx: Any, options: frozenset[str]) -> None:
    """Note that a verb begins, whose words are about to be parsed."""
    global _call  # noqa: PLW0603 - one verb runs at a time, and messages are made in threads too
    names, at = [], ctx
    while at.parent is not None:
        names.append(str(at.info_name))
        at = at.parent
    _call = Call(command=" ".join(reversed(names)), options=options)


def parsed(ctx: Any) -> None:
    """Note the parsed arguments of the verb."""
    names = ("to",) if _call.command.startswith("fit ") else MODELS  # a fit writes its model
    model = next((ctx.params[name] for name in names if ctx.params.get(name) is not None), None)
    _call.model = [*map(str, model)] if isinstance(model, list | tuple) else None if model is None else str(model)
    _call.reads_data = bool(ctx.params.get("data"))


def warn(sentence: str) -> None:
    """Write a warning to stderr, and keep it for `--json`."""
    sys.stderr.write(f"warning: {sentence}\n")
    _call.warnings.append(sentence)


def enveloped(result: Any) -> dict[str, Any]:
    """Return a result with what `--json` reports around it."""
    from bayeslearn import __version__

    return {
        "command": _call.command,
        "version": __version__,
        "model": _call.model,
        "data": data_facts(result) if _call.reads_data else None,
        "result": result,
        "warnings": list(_call.warnings),
        "seconds": time.perf_counter() - _call.started,
    }


def data_facts(result: Any) -> dict[str, Any]:
    """Return the number of rows and of missing values, and the columns that were not used."""
    entries = result if isinstance(result, dict) else {}
    found = {name: next((entries[key] for key in keys if key in entries), None) for name, keys in SAME.items()}
    if isinstance(found["n_missing"], dict):
        found["n_missing"] = sum(found["n_missing"].values())
    if isinstance(found["n_rows"], list):
        found["n_rows"] = len(found["n_rows"])
    dropped = found["dropped_columns"]
    found["dropped_columns"] = _call.dropped_columns | (dropped if isinstance(dropped, dict) else {})
    if _call.source is not None:
        found |= {"n_rows": _call.source.n_rows, "n_missing": sum(_call.source.missing().values())}
    return found
