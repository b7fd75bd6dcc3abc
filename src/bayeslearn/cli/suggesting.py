"""What was meant by an option that there is none of: near names, and the words of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
import typer.core

from bayeslearn.errors import near

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Options of other tools, and of earlier versions, by what they are called here.
OTHER_WORDS = {
    "--ignore": ("--drop-columns",),
    "--exclude": ("--drop-columns",),
    "--drop": ("--drop-columns",),
    "--usecols": ("--columns",),
    "--select": ("--columns",),
    "--features": ("--columns",),
    "--missing": ("--na-values",),
    "--na": ("--na-values",),
    "--na-value": ("--na-values",),
    "--handle-unknown": ("--unseen",),
    "--out": ("--output",),
    "--to": ("--output",),
    "--random-state": ("--seed",),
    "--rng": ("--seed",),
    "--class": ("--target",),
    "--label": ("--target",),
    "--y": ("--target",),
    "--sample-weight": ("--weights",),
    "--k": ("-k",),
}


class Verbs(typer.core.TyperGroup):
    """Verbs, each of which names the right option where an unknown one is given."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb; one that is not there is an error that names those near it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, helpful(command), rest


def helpful(command: Any) -> Any:
    """The same command, whose unknown options are explained."""
    if isinstance(command, Verbs) or command is None or hasattr(command, "explains_options"):
        return command
    parse = command.parse_args

    def parse_args(ctx: typer.Context, args: list[str]) -> list[str]:
        try:
            return parse(ctx, args)
        except Exception as error:
            explain(error, ctx)
            raise

    command.parse_args = parse_args
    command.explains_options = True
    return command


def explain(error: Any, ctx: typer.Context) -> None:
    """Name what may be meant, in the error for an option that there is none of; typer brings its own click."""
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        close = [*meant(error.option_name, ctx)][:3]
        meaning = f". Did you mean {' or '.join(close)}?" if close else ""
        error.message, error.possibilities = f"No such option: {error.option_name}{meaning}", None


def meant(option: str, ctx: typer.Context) -> Iterator[str]:
    """Options of the verb that may be meant, the likeliest first."""
    known = [name for parameter in ctx.command.get_params(ctx) for name in parameter.opts if name.startswith("-")]
    plain = option.replace("_", "-").lower()
    found = [*([plain] if plain in known else []), *OTHER_WORDS.get(plain, ()), *near([plain], known)]
    yield from (name for name in dict.fromkeys(found) if name in known)
