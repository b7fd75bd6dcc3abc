"""The help of a group of verbs in panels, written without rich: loading it takes longer than everything else."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayeslearn.cli.verbs import Verb

#: The panel of verbs without one.
COMMANDS = "Commands"

#: The narrowest and the widest page.
WIDTHS = 40, 100


def page(ctx: Any, group: Any, verbs: Mapping[str, Verb]) -> str:
    """Return usage, help, options and verbs of a group."""
    width = min(max(terminal_width(), WIDTHS[0]), WIDTHS[1])
    usage = " ".join([ctx.command_path, *group.collect_usage_pieces(ctx)])
    paragraphs = [*(group.help or "").split("\n\n")]
    blocks = [f" Usage: {usage}", *(wrapped(" ".join(part.split()), width) for part in paragraphs if part)]
    return "\n".join(["", "\n\n".join(blocks), "", *panels(ctx, group, verbs, width)]) + "\n"


def terminal_width() -> int:
    """Return the number of columns, of which `TERMINAL_WIDTH` has the last word."""
    given = os.environ.get("TERMINAL_WIDTH", "")
    return int(given) if given.isdigit() else shutil.get_terminal_size().columns


def wrapped(text: str, width: int) -> str:
    """Return a paragraph in lines."""
    return "\n".join(textwrap.wrap(text, width - 2, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False))


def panels(ctx: Any, group: Any, verbs: Mapping[str, Verb], width: int) -> list[str]:
    """Return the panels: options, then verbs by the panel of each."""
    options = [record for param in group.get_params(ctx) if (record := option_of(param))]
    found: dict[str, list[tuple[str, str]]] = {}
    for name, verb in verbs.items():
        found.setdefault(verb.panel or COMMANDS, []).append((name, verb.help))
    wide = max(len(name) for name in verbs)
    boxes = [box("Options", options, max(len(name) for name, _ in options), width)] if options else []
    return [*boxes, *(box(title, rows, wide, width) for title, rows in found.items())]


def option_of(param: Any) -> tuple[str, str] | None:
    """Return the names of an option and its help; None for a hidden one."""
    if param.param_type_name == "argument" or getattr(param, "hidden", False):
        return None
    return "  ".join(sorted(param.opts, key=len, reverse=True)), param.help or ""


def box(title: str, rows: Iterable[tuple[str, str]], wide: int, width: int) -> str:
    """Return rows of names and texts in a frame with a title."""
    room = width - wide - 6
    lines = [f"╭─ {title} {'─' * (width - len(title) - 5)}╮"]
    for name, text in rows:
        parts = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        for i, part in enumerate(parts):
            shown = f"{emphasized(name)}{' ' * (wide - len(name))}" if i == 0 else " " * wide
            lines.append(f"│ {shown}  {part:<{room}} │")
    return "\n".join([*lines, f"╰{'─' * (width - 2)}╯"])


def emphasized(text: str) -> str:
    """Return a name in bold, on a terminal with colors."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[1;36m{text}\x1b[0m"
