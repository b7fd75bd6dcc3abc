"""A run of the command line: what it prints as errors and warnings, and its exit code."""

from __future__ import annotations

import gc
import sys
import warnings
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import app, envelope
from bayeslearn.cli.option_hints import translated
from bayeslearn.cli.streams import open_if_closed
from bayeslearn.errors import (
    BayeslearnError,
    BayeslearnWarning,
    InputFileNotFoundError,
    MismatchError,
    ParameterError,
)
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

#: New objects after which the garbage collector looks for cycles: a command makes many objects and few cycles.
OBJECTS = 100_000


def run() -> None:
    """Run a verb; an error becomes one sentence on stderr: exit 2 for the command line, 1 for data and models."""
    gc.set_threshold(OBJECTS)
    try:
        open_if_closed()
        warnings.showwarning = in_one_line(warnings.showwarning)
        app.app()
    except BayeslearnError as error:
        sys.stderr.write(printable(f"error: {translated(str(error))}\n"))
        sys.exit(2 if is_of_command_line(error) else 1)
    except OSError as error:  # a full disk, a file that may not be read
        sys.stderr.write(printable(f"error: {error}\n"))
        sys.exit(1)


def is_of_command_line(error: BayeslearnError) -> bool:
    """Whether an option, a name of a file, a variable or a state on the command line is wrong."""
    return isinstance(error, ParameterError | InputFileNotFoundError) and not isinstance(error, MismatchError)


def in_one_line(show: Callable[..., None]) -> Callable[..., None]:
    """Our own warnings as one sentence on stderr, each once and without its hint; others as before."""
    shown: set[str] = set()

    def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, BayeslearnWarning):
            sentence = printable(translated(str(message).splitlines()[0]))
            if sentence not in shown:
                envelope.warn(sentence)
            shown.add(sentence)
        else:
            show(message, category, *where, **more)

    return say
