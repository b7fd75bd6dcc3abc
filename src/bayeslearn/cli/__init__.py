"""The command line: one file per verb. Answers go to stdout, everything else to stderr.

Verbs load what they need when they run, so that ``bayeslearn --help`` answers at once. This file imports next to
nothing: Ctrl-C while it does is not caught.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

#: What shells expect of a program that Ctrl-C ended.
INTERRUPTED = 130


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command line."""
    try:
        from bayeslearn.cli.command import run

        run()
    except KeyboardInterrupt:  # in an import
        sys.exit(INTERRUPTED)
