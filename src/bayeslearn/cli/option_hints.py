"""What was meant by an option that there is none of: near names, and the words of other tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from bayeslearn.cli import envelope
from bayeslearn.cli.parameters import prepare
from bayeslearn.errors import OPTIONS, near

if TYPE_CHECKING:
    from collections.abc import Iterator

    import typer

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
    "--unseen": ("--handle-unknown",),
    "--skip-broken": ("--on-error",),
    "--out": ("--output",),
    "--to": ("--output",),
    "--random-state": ("--seed",),
    "--rng": ("--seed",),
    "--class": ("--target",),
    "--label": ("--target",),
    "--y": ("--target",),
    "--weights": ("--sample-weight",),
    "--k": ("-k",),
    "--method": ("--algorithm",),
    "--score": ("--criterion",),
    "--alpha": ("--significance-level",),
    "--restarts": ("--n-restarts", "--n-init"),
    "--start": ("--init",),
    "--require": ("--required",),
    "--forbid": ("--forbidden",),
    "--bins": ("--n-bins",),
    "--held-out": ("--test-size",),
    "--freeze": ("--frozen",),
    "--ignore-others": ("--extra-columns",),
    "--ask": ("--variables",),
    "--virtual": ("--virtual-evidence",),
    "--soft": ("--soft-evidence",),
    "--interval": ("--level",),
    "--samples": ("--n-samples",),
    "--chains": ("--n-chains",),
    "--rows": ("--n-samples",),
    "--seconds": ("--time-limit",),
    "--fade": ("--forgetting-factor",),
    "--forget": ("--remove",),
    "--top": ("--max-results",),
    "--per-case": ("--output",),
    "--cells": ("--sensitivity",),
    "--advice": ("--expert-columns",),
    "--drop-incomplete": ("--drop-missing",),
    "--folds": ("--cv",),
    "--forms": ("--max-states",),
    "--kind": ("--task",),
    "--learner": ("--learners",),
    "--most": ("--max-results",),
    "--new": ("the second argument, DATA",),
    "--perceptrons": ("--n-units", "--n-inputs"),
    "--rewrites": ("--max-rewrites",),
    "--shorten": ("--allow-contractions",),
    "--skip-conflicts": ("--drop-conflicts",),
    "--space": ("--n-hypotheses",),
}


#: Options of earlier versions that are verbs today, and the call.
FORMER_OPTIONS = {
    ("predict", "--explain"): "bayeslearn explain MODEL DATA",
    ("show", "--plot"): "bayeslearn plot MODEL -o FILE",
}


def helpful(command: Any) -> Any:
    """The same command, whose unknown options are explained."""
    if command is None or hasattr(command, "explains_options"):
        return command
    parse, make_parser = command.parse_args, command.make_parser

    def parser_of(ctx: typer.Context) -> Any:
        parser = make_parser(ctx)
        words_of = parser.parse_args

        def parse_words(args: list[str]) -> Any:
            found = words_of(args)
            require_once(ctx, found[2])
            return found

        parser.parse_args = parse_words
        return parser

    def parse_args(ctx: typer.Context, args: list[str]) -> list[str]:
        prepare(command, ctx)
        envelope.begin(ctx, frozenset(options_of(ctx)))
        try:
            rest = parse(ctx, args)
        except Exception as error:
            explain(error, ctx)
            raise
        envelope.parsed(ctx)
        return cast("list[str]", rest)

    command.parse_args, command.make_parser = parse_args, parser_of
    command.explains_options = True
    return command


def require_once(ctx: Any, given: list[Any]) -> None:
    """Refuse an option of one value that is given twice, of which only the last would count."""
    for param in given:
        of_one_value = param.param_type_name == "option" and param.nargs == 1 and not (param.multiple or param.is_flag)
        if of_one_value and given.count(param) > 1:
            ctx.fail(f"Option {max(param.opts, key=len)!r} is given more than once; it takes one value.")


def options_of(ctx: Any) -> list[str]:
    """The options of the verb that runs."""
    return [name for parameter in ctx.command.get_params(ctx) for name in parameter.opts if name.startswith("-")]


### hints


def translated(text: str) -> str:
    """A message with `parameter` and `parameter=` of Python as the option of the verb, where it has one."""

    def as_option(found: re.Match[str]) -> str:
        name = found.group(1)
        flag = f"--{OPTIONS.get(name, name).replace('_', '-')}"
        return flag if flag in envelope.current().options else found.group(0)

    return re.sub(r"`([a-z][a-z_]*)=?`", as_option, text)


### options


def explain(error: Any, ctx: typer.Context) -> None:
    """Name what may be meant, in the error for an option that there is none of; typer brings its own click."""
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        close = [*meant(error.option_name, ctx)][:3]
        call = FORMER_OPTIONS.get((str(ctx.info_name), error.option_name))
        meaning = f". The call is: {call}" if call else f". Did you mean {' or '.join(close)}?" if close else ""
        error.message, error.possibilities = f"No such option: {error.option_name}{meaning}", None


def meant(option: str, ctx: typer.Context) -> Iterator[str]:
    """Options of the verb that may be meant, the likeliest first."""
    known = options_of(ctx)
    plain = option.replace("_", "-").lower()
    found = [*([plain] if plain in known else []), *OTHER_WORDS.get(plain, ()), *near([plain], known)]
    yield from (name for name in dict.fromkeys(found) if name in known or not name.startswith("-"))
