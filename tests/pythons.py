"""The tests with other versions of Python: ``make test-pythons``.

Looks for the interpreters of Python 3.11 to 3.14 on the path and among those of pyenv, installs the package into an
environment for each (.venv/pythons/3.12), and runs the tests; arguments are handed on to pytest. Versions that are not
on the machine are listed and skipped.

    python -m tests.pythons                     every version that is there, the tests that are not slow
    python -m tests.pythons -- tests/mixture    some tests
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str | None:
    """Return an interpreter of a version: on the path, else the newest of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    there = sorted(pyenv.glob(f"{version}.*/bin/python"), key=lambda path: int(path.parts[-3].rpartition(".")[2]))
    for candidate in (shutil.which(f"python{version}"), *map(str, reversed(there))):
        if candidate and runs(candidate, version):
            return candidate
    return None


def runs(python: str, version: str) -> bool:
    """Whether an interpreter starts and is of a version: pyenv puts commands on the path that do not."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def test(version: str, python: str, arguments: list[str]) -> str:
    """Install the package for an interpreter and run the tests; return the last line of pytest."""
    venv = ROOT / ".venv" / "pythons" / version
    own = str(venv / "bin" / "python")
    environment = {**os.environ, "BAYESLEARN_COMPILE": "0"}
    if not Path(own).exists():
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
    quiet = ["--quiet", "--disable-pip-version-check", "--prefer-binary"]
    steps = [
        [own, "-m", "pip", "install", *quiet, "--editable", ".[test]"],
        [own, "-m", "bayeslearn.kernels"],
        [own, "-m", "pytest", "-q", "-n", "auto", "-m", "not slow", *arguments],
    ]
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout[-6000:] + done.stderr[-3000:])
            return f"FAILED: {' '.join(step[1:4])}"
    return re.sub(r"^=+ | =+$", "", done.stdout.strip().splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pythons", description=__doc__.splitlines()[0])
    parser.add_argument("arguments", nargs="*", help="for pytest")
    asked = parser.parse_args()
    found = {version: interpreter(version) for version in VERSIONS}
    print("found:", ", ".join(f"{v} ({path})" for v, path in found.items() if path))
    print("not on this machine:", ", ".join(v for v, path in found.items() if not path) or "none", flush=True)
    failed = 0
    for version, python in found.items():
        if python:
            started = time.monotonic()
            line = test(version, python, asked.arguments)
            failed += line.startswith("FAILED")
            print(f"{version}: {line} ({time.monotonic() - started:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
