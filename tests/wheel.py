"""The package as users install it: ``make test-wheel``.

Builds a wheel, installs it into an empty environment, and runs verbs with an empty cache folder (tests/installed.py):
none of them compiles, and a first run takes hardly longer than a second one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUIET = ["--quiet", "--disable-pip-version-check", "--prefer-binary"]


def step(title: str, *command: str, **variables: str) -> None:
    """Run a command and print how long it took; an error ends everything."""
    started = time.monotonic()
    subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=True)
    print(f"{title}: {time.monotonic() - started:.0f} s", flush=True)


def megabytes(folder: Path) -> float:
    """Return the size of the files of a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step("wheel", sys.executable, "-m", "pip", "wheel", *QUIET, "--no-deps", "--wheel-dir", str(folder), ".")
        (wheel,) = folder.glob("*.whl")
        print(f"{wheel.name}: {megabytes(folder):.1f} MB")
        venv, python = folder / "venv", str(folder / "venv" / "bin" / "python")
        step("empty environment", sys.executable, "-m", "venv", str(venv))
        step("install", python, "-m", "pip", "install", *QUIET, str(wheel))
        print(f"environment: {megabytes(venv):.0f} MB", flush=True)
        command = [sys.executable, "-m", "tests.installed", "--python", python]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
