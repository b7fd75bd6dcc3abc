"""Verbs that take a model: the kind of the model in the file decides which function runs."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.core

from bayeslearn.cli.verbs import OTHERS, load
from bayeslearn.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.cli.verbs import Verb

#: What the kinds of models are called in `bayeslearn fit KIND` and in messages.
KINDS = {
    "network": "network", "mixture": "mixture", "hidden Markov model": "hmm", "naive Bayes": "naive-bayes",
    "text": "text", "neighbors": "neighbors", "forest": "forest", "regression": "regression",
    "classification": "regression", "local regression": "regression", "Bayes optimal": "classifier",
    "Bayes optimal regression": "regressor",
    "version space": "concept", "k-CNF": "concept", "hypotheses": "bayes", "online learner": "online",
    "expert mixture": "online",
}  # fmt: skip


### which function runs


def body_place(ctx: Any, name: str, verb: Verb, args: list[str]) -> str | None:
    """Return where the function is that runs a verb on the model that the words name; None if they name no model."""
    places: Any = verb.place
    model = first_argument(ctx, name, places, args)
    if model is None or {"-h", "--help"} & set(args[:1]):
        return None
    if model in places and not Path(model).exists():  # a kind of model instead of a model
        return str(places[model])
    from bayeslearn import codec

    if ctx.resilient_parsing and not completable(model):
        return None
    kind = codec.kind_in_file(model)
    found = place_of(verb, kind)
    if found is None:
        raise FormatError(
            f"{model!r} holds a model of the kind {kind!r}, for which there is no `bayeslearn {name}`",
            hint=f"the verbs of this kind are {', '.join(verbs_of(kind))}" if verbs_of(kind) else None,
            path=model,
        )
    return found


def completable(model: str) -> bool:
    """Whether a model can be opened, so that a shell can complete the options of its kind."""
    from bayeslearn import codec
    from bayeslearn.errors import BayeslearnError

    try:
        codec.kind_in_file(model)
    except (BayeslearnError, OSError):
        return False
    return True


def place_of(verb: Verb, kind: str) -> str | None:
    """Return the function of a verb for a kind of model; None if the kind does not have the verb."""
    if isinstance(verb.place, str) or kind in verb.place:
        return verb.place if isinstance(verb.place, str) else verb.place[kind]
    from bayeslearn import codec

    able = OTHERS in verb.place and any(hasattr(codec.class_of(kind), method) for method in verb.needs)
    return verb.place[OTHERS] if able else None


def first_argument(ctx: Any, name: str, places: Mapping[str, str], args: list[str]) -> str | None:
    """Return the first word that is neither an option nor the value of one."""
    if not args or not args[0].startswith("-"):
        return args[0] if args else None
    command = copy.copy(merged(name, tuple(places.items()), ""))
    command.params = [param for param in command.params if param.param_type_name != "argument"]
    try:
        _, words, _ = command.make_parser(ctx).parse_args(args=list(args))
    except Exception:  # noqa: BLE001 - what is wrong with the options is reported when the verb parses them
        words = [word for word in args if not word.startswith("-")]
    return next(iter(words), None)


def verbs_of(kind: str) -> list[str]:
    """Return the verbs that a kind of model has."""
    from bayeslearn.cli.app import VERBS

    return [name for name, verb in VERBS.items() if not isinstance(verb.place, str) and place_of(verb, kind)]


### help


@functools.cache
def merged(name: str, places: tuple[tuple[str, str], ...], line: str) -> Any:
    """Return a command with the arguments and options of all kinds of models: for help and completion."""
    labels: dict[str, list[str]] = {}
    for kind, place in places:
        label = KINDS.get(kind, kind)
        labels[place] = [*(one for one in labels.get(place, []) if one != label), label]
    commands = {place: load(name, place) for place in labels}
    if len(commands) == 1:
        return next(iter(commands.values()))
    params: dict[str, Any] = {}
    having: dict[str, list[str]] = {}
    model = any_model(next(iter(commands.values())).params[0])
    for place, command in commands.items():
        for param in command.params[1:]:
            params.setdefault(param.name, param)
            having.setdefault(param.name, []).append(place)
    found = [
        param
        if len(having[key]) == len(commands)
        else of_some(param, [label for p in having[key] for label in labels[p]])
        for key, param in params.items()
    ]
    arguments = one_variadic([model, *(param for param in found if param.param_type_name == "argument")])
    examples = [part for command in commands.values() for part in command.help.split("\n\n") if "Example:" in part]
    return typer.core.TyperCommand(
        name,
        params=[*arguments, *(param for param in found if param.param_type_name != "argument")],
        help="\n\n".join([line, *dict.fromkeys(examples)]),
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def any_model(param: Any) -> Any:
    """Return the argument of a model of any kind."""
    from bayeslearn.cli.network_files import MODEL

    param = copy.copy(param)
    param.metavar, param.help = "MODEL", MODEL
    return param


def one_variadic(arguments: list[Any]) -> list[Any]:
    """Return the arguments with at most one that takes any number of words: a command has no more."""
    many = [param for param in arguments if param.nargs == -1]
    found = []
    for param in arguments:
        if param in many[1:]:
            param = copy.copy(param)  # noqa: PLW2901
            param.nargs = 1
        found.append(param)
    return found


def of_some(param: Any, labels: list[str]) -> Any:
    """Return a parameter in a panel that names the kinds of models that have it."""
    param = copy.copy(param)
    param.rich_help_panel = param.rich_help_panel or f"Only for {', '.join(dict.fromkeys(labels))}"
    if param.param_type_name == "argument":
        param.required = False
    return param
