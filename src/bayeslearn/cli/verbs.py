"""Verbs that load when they are called: help and errors know their names and what they do without them."""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer
import typer.core
import typer.main

from bayeslearn.cli.streams import printable_streams
from bayeslearn.cli.suggesting import helpful

#: A verb: the function that runs it as module.name, or the group it stands for, and the first paragraph of its help.
Verb = tuple[str, str]


def group(verbs: Mapping[str, Verb], **options: Any) -> typer.Typer:
    """A group of verbs, of which only the one that is called is imported."""
    return typer.Typer(cls=type("Group", (Verbs,), {"verbs": verbs}), no_args_is_help=True, **options)


class Verbs(typer.core.TyperGroup):
    """Verbs, each of which names the right option where an unknown one is given."""

    verbs: Mapping[str, Verb]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = Commands(self.verbs)  # type: ignore[assignment] # nobody adds to it

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb; one that is not there is an error that names those near it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if isinstance(command, Verbs) else helpful(command), rest

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer gives the context
        """The names, in order."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, for which no verb is loaded."""
        listed = copy.copy(self)
        listed.commands = {name: typer.core.TyperCommand(name, help=line) for name, (_, line) in self.verbs.items()}
        super(Verbs, listed).format_help(ctx, formatter)


class Commands(Mapping[str, Any]):
    """The commands of verbs by name, each made when it is first asked for."""

    def __init__(self, verbs: Mapping[str, Verb]) -> None:
        self.verbs = verbs

    def __getitem__(self, name: str) -> Any:
        return load(name, self.verbs[name][0])

    def __iter__(self) -> Iterator[str]:
        return iter(self.verbs)

    def __len__(self) -> int:
        return len(self.verbs)


@functools.cache
def load(name: str, place: str) -> Any:
    """The command of a verb or of a group, from where it lives."""
    module, _, attribute = place.partition(".")
    found = getattr(importlib.import_module(f"bayeslearn.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(with_printable_streams(found))
    return typer.main.get_command(alone)


def with_printable_streams(verb: Callable[..., None]) -> Callable[..., None]:
    """The function of a verb, while which runs no name of a file can command the terminal."""

    @functools.wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        with printable_streams():
            verb(*arguments, **options)

    return run
