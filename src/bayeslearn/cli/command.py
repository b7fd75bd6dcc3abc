"""A run of the command line: what it prints as errors and warnings, and its exit code."""

from __future__ import annotations

import gc
import sys
import warnings
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import app
from bayeslearn.cli.option_hints import translated
from bayeslearn.cli.streams import open_if_closed
from bayeslearn.errors import BayeslearnError, BayeslearnWarning, ParameterError
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

#: New objects after which the garbage collector looks for cycles: a command makes many objects and few cycles.
OBJECTS = 100_000


def run() -> None:
    """Run a verb; an error becomes one sentence on stderr: exit 2 for usage, 1 for data and files."""
    gc.set_threshold(OBJECTS)
    try:
        open_if_closed()
        warnings.showwarning = in_one_line(warnings.showwarning)
        app.app()
    except BayeslearnError as error:
        sys.stderr.write(printable(f"error: {translated(str(error))}\n"))
        sys.exit(2 if isinstance(error, ParameterError) else 1)
    except OSError as error:  # a full disk, a file that may not be read
        sys.stderr.write(printable(f"error: {error}\n"))
        sys.exit(1)


def in_one_line(show: Callable[..., None]) -> Callable[..., None]:
    """Our own warnings as one sentence on stderr, each once and without its hint; others as before."""
    told: set[str] = set()

    def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, BayeslearnWarning):
            sentence = printable(translated(str(message).splitlines()[0]))
            if sentence not in told:
                sys.stderr.write(f"warning: {sentence}\n")
            told.add(sentence)
        else:
            show(message, category, *where, **more)

    return say
