"""Parameters of verbs: words of the command line as plain values, and what completes them in a shell.

Typer converts words by pydantic, which takes longer to load than most verbs run. Words that are plainly of their type
are converted here; all others, and all errors, are left to Typer.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

#: How words look that are whole numbers, and numbers.
WHOLE, NUMBER = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

#: Types, with the words that are plainly of each.
PLAIN = {str: (re.compile(r".*", re.DOTALL), str), int: (WHOLE, int), float: (NUMBER, float),
         Path: (re.compile(r".+", re.DOTALL), Path)}  # fmt: skip

#: Parameters that are completed by names of things that ship with the package.
SHIPPED = {
    "model_file": "list_networks", "nets": "list_networks", "net": "list_networks", "models": "list_networks",
    "structure": "list_networks", "data": "list_tables", "base": "list_case_bases", "file": "list_case_bases",
}  # fmt: skip


def prepare(command: Any, ctx: Any) -> None:
    """Make the parameters of a command convert plain words fast, and complete names of what ships."""
    for param in command.get_params(ctx):
        if getattr(param, "is_prepared", False):
            continue
        param.is_prepared = True
        if hasattr(param, "get_runtime_param"):
            param.get_runtime_param = converter(param.get_runtime_param)
        if param.param_type_name == "argument" and param.name in SHIPPED:
            param.shell_complete = completion(param, param.shell_complete)


### values


def converter(others: Any) -> Any:
    """Return what converts the words of a parameter: here if they are plain, else as Typer does."""

    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        found = converted(value, param)
        return others().coerce(value, param=param, ctx=ctx) if found is None else found[0]

    return lambda: SimpleNamespace(coerce=coerce)


def converted(value: Any, param: Any) -> tuple[Any] | None:
    """Return the value of a word, or of several; None if it is not plain."""
    kind, several = param.type_descriptor.annotation, param.multiple or param.nargs != 1
    if value is None:
        return ((),) if several else (None,)
    if several:
        inner = getattr(kind, "__args__", (None,))[0]
        parts = [plain(part, inner) for part in value] if isinstance(value, list | tuple) else [None]
        return None if None in parts else ([part[0] for part in parts if part],)
    return plain(value, kind)


def plain(value: Any, kind: Any) -> tuple[Any] | None:
    """Return the value of one word; None if it is not plain."""
    if kind not in PLAIN:
        return None
    if isinstance(value, kind) and not isinstance(value, bool):
        return (value,)
    words, make = PLAIN[kind]
    return (make(value),) if isinstance(value, str) and words.fullmatch(value) else None


### completion


def completion(param: Any, others: Any) -> Any:
    """Return what completes a parameter: names of what ships, and files."""

    def complete(ctx: Any, incomplete: str) -> list[Any]:
        from bayeslearn import datasets

        names = [name for name in getattr(datasets, SHIPPED[param.name])() if name.startswith(incomplete)]
        found = [item(name) for name in [*names, *files(incomplete)]]
        return found or list(others(ctx, incomplete))

    return complete


def files(incomplete: str) -> list[str]:
    """Return the files and folders whose path begins so; hidden ones only if it begins with their point."""
    folder, start = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    shown = [e for e in entries if e.name.startswith(start) and (start.startswith(".") or e.name[0] != ".")]
    return [os.path.join(folder, e.name) + ("/" if e.is_dir() else "") for e in shown]  # noqa: PTH118 - pathlib drops ./


def item(value: str) -> Any:
    """Return a completion; Typer brings its own click, or uses that of the installation."""
    import typer.core

    made = getattr(typer.core, "CompletionItem", None)
    if made is None:
        from click.shell_completion import CompletionItem

        made = CompletionItem
    return made(value)
