"""Python in a process of its own, for what would take the process of the tests along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap


def run_python(code: str, *arguments: str, **variables: str) -> str:
    """Run code in another process and return what it prints; a crash or an error is a failure."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code), *arguments],
        env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"code {done.returncode}"
    assert done.returncode == 0, f"the process ended by {how}:\n{done.stderr[-3000:]}"
    return done.stdout.strip()
