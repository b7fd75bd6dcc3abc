"""Verbs that load when they are called: help and errors list their names without an import.

The body of a verb that takes a model may depend on the kind of the model: then the file is considered first.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import typer
import typer.core
import typer.main

from bayeslearn.cli.option_hints import helpful
from bayeslearn.cli.parameters import prepare
from bayeslearn.cli.streams import printable_streams
from bayeslearn.printable import one_line


class Verb(NamedTuple):
    """A verb of a group."""

    #: The function that runs it, or the group that it stands for, as module.name; or one for each kind of model.
    place: str | Mapping[str, str]
    #: The first paragraph of its help.
    help: str
    #: Where it stands in the help of its group.
    panel: str | None = None
    #: The methods, of which a kind of model needs one if the function for other kinds (`OTHERS`) is to run.
    needs: tuple[str, ...] = ()


#: The entry of `Verb.place` for kinds of models that have none of their own.
OTHERS = "other kinds"


def group(
    verbs: Mapping[str, Verb], *, default: str | None = None, former: Mapping[str, str] | None = None, **options: Any
) -> typer.Typer:
    """Return a group of verbs, of which only the one that is called is imported.

    `default` runs if the first word is no verb, `former` has the present call for each verb that there was.
    """
    own = {"verbs": verbs, "default": default, "former": former or {}}
    return typer.Typer(cls=type("Group", (Verbs,), own), **({"no_args_is_help": True} | options))


class Verbs(typer.core.TyperGroup):
    """Verbs, each of which names the right option where an unknown one is given."""

    verbs: Mapping[str, Verb]
    default: str | None
    former: Mapping[str, str]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = Commands(self.verbs)  # type: ignore[assignment] # nobody adds to it

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Return the context of the words, which the terminal does not obey where they are wrong."""
        with printable_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; the same holds for its words."""
        with printable_errors():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, before which the default verb is put if they start with none."""
        prepare(self, ctx)
        if self.default and (args or not (self.no_args_is_help or ctx.resilient_parsing)):
            first = args[0] if args else ""
            if first not in self.verbs and first not in ctx.help_option_names:
                self.require_data(ctx, first)
                args = [self.default, *args]
        return super().parse_args(ctx, args)

    def require_data(self, ctx: Any, word: str) -> None:
        """Refuse a word that is meant as a verb: it is near one, and no name of a file."""
        from bayeslearn.errors import near

        close = near([word.replace("_", "-")], self.verbs, 1)
        if close and not word.startswith("-") and not ctx.resilient_parsing and not os.path.exists(word):  # noqa: PTH110
            ctx.fail(f"No such file or command {word!r}. Did you mean {close[0]!r}?")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb; a name that is none is an error with the call of today, or with the names near it."""
        name, *rest = args
        if name in self.former and name not in self.verbs and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}. The call is: {self.former[name]}")
        places = self.verbs[name].place if name in self.verbs else ""
        if not isinstance(places, str):
            from bayeslearn.cli.model_verbs import body_place

            place = body_place(ctx, name, self.verbs[name], rest)
            if place is not None:
                return name, helpful(load(name, place)), rest
        found, command, rest = super().resolve_command(ctx, args)
        return found, command if isinstance(command, Verbs) else helpful(command), rest

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer gives the context
        """Return the names, in order."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, for which no verb is loaded."""
        from bayeslearn.cli.help_page import page

        formatter.write(page(ctx, self, self.verbs))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the verbs and options that begin so, for which no verb is loaded."""
        listed = copy.copy(self)
        listed.commands = {name: typer.core.TyperCommand(name, help=verb.help) for name, verb in self.verbs.items()}
        return super(Verbs, listed).shell_complete(ctx, incomplete)


class Commands(Mapping[str, Any]):
    """The commands of verbs by name, each made when it is first asked for."""

    def __init__(self, verbs: Mapping[str, Verb]) -> None:
        self.verbs = verbs

    def __getitem__(self, name: str) -> Any:
        verb = self.verbs[name]
        if isinstance(verb.place, str):
            return load(name, verb.place)
        from bayeslearn.cli.model_verbs import merged

        return merged(name, tuple(verb.place.items()), verb.help)

    def __iter__(self) -> Iterator[str]:
        return iter(self.verbs)

    def __len__(self) -> int:
        return len(self.verbs)


@functools.cache
def load(name: str, place: str) -> Any:
    """Return the command of a verb or of a group, from where it lives."""
    module, _, attribute = place.partition(".")
    found = getattr(importlib.import_module(f"bayeslearn.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(with_printable_streams(found))
    return typer.main.get_command(alone)


@contextmanager
def printable_errors() -> Iterator[None]:
    """Write out the control characters in the message of an error of the command line."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "message"):  # typer brings its own click
            error.message = one_line(error.message)
        raise


def with_printable_streams(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a verb; while it runs, no name of a file can command the terminal."""

    @functools.wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        with printable_streams():
            verb(*arguments, **options)

    return run
