"""The command line: one file per verb. Answers go to stdout, everything else to stderr.

Verbs load what they need when they run, so that ``bayeslearn --help`` answers at once.
"""

from __future__ import annotations

import sys

from bayeslearn.errors import BayeslearnError, ParameterError


def main() -> None:
    """Run the command line; an error becomes one sentence on stderr: exit 2 for usage, 1 for data and files."""
    from bayeslearn.cli.app import app

    try:
        app()
    except BayeslearnError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2 if isinstance(error, ParameterError) else 1)
    except OSError as error:  # a full disk, a file that may not be read
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
