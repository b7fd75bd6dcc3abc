"""The command line: one file per verb. Answers go to stdout, everything else to stderr.

Verbs load what they need when they run, so that ``bayeslearn --help`` answers at once.
"""

from __future__ import annotations

import gc
import sys
import warnings
from typing import TYPE_CHECKING, Any

from bayeslearn.cli.suggesting import translated
from bayeslearn.errors import BayeslearnError, BayeslearnWarning, ParameterError
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["main"]

#: What shells expect of a program that Ctrl-C ended.
INTERRUPTED = 130


#: New objects after which the garbage collector looks for cycles: a command makes many objects and few cycles.
OBJECTS = 100_000


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command line; an error becomes one sentence on stderr: exit 2 for usage, 1 for data and files."""
    gc.set_threshold(OBJECTS)
    try:
        from bayeslearn.cli.app import app
        from bayeslearn.cli.streams import open_if_closed

        open_if_closed()
        warnings.showwarning = in_one_line(warnings.showwarning)
        app()
    except KeyboardInterrupt:  # in an import
        sys.exit(INTERRUPTED)
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
            sentence = translated(str(message).splitlines()[0])
            if sentence not in told:
                sys.stderr.write(f"warning: {sentence}\n")
            told.add(sentence)
        else:
            show(message, category, *where, **more)

    return say
