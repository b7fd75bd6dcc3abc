"""Compile kernels and keep their code: ``python -m bayeslearn.kernels [GROUP ...]``.

- ``python -m bayeslearn.kernels`` compiles every kernel; with ``BAYESLEARN_CPU=host`` for this very processor.
- ``python -m bayeslearn.kernels structure em`` compiles two groups.
- ``python -m bayeslearn.kernels --export DIR`` writes the portable code of every kernel into a folder, as in a wheel.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import os
import pickle
import shutil
import sys
from pathlib import Path

from bayeslearn.kernels import code_cache, precompile


def main() -> None:
    """Read the arguments and compile."""
    parser = argparse.ArgumentParser(prog="python -m bayeslearn.kernels", description="Compile kernels.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"one of: {', '.join(precompile.GROUPS)}")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the portable code of every kernel into DIR")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    unknown = sorted({*asked.groups} - {*precompile.GROUPS})
    if unknown:
        parser.error(f"there is no group {unknown[0]!r}; groups: {', '.join(precompile.GROUPS)}")
    if asked.work:
        work()
    elif asked.export:
        if code_cache.portable_level() is None:
            parser.error("this processor cannot run portable code, or the environment asks for other code")
        in_environment(code_cache.compiler_environment())
        export(asked.export)
    else:
        prepare(asked.groups or list(precompile.GROUPS))


def in_environment(variables: dict[str, str]) -> None:
    """Start this process again where the environment lacks some variables: numba reads them when it is imported."""
    if any(os.environ.get(name) != value for name, value in variables.items()):
        os.environ.update(variables)
        os.execv(sys.executable, precompile.command(*sys.argv[1:]))  # noqa: S606 - no shell


def prepare(groups: list[str]) -> None:
    """Compile groups of kernels; an error where that is not possible."""
    if code_cache.user_folder() is None:
        sys.exit("error: no folder can be written to; set BAYESLEARN_CACHE_DIR")
    precompile.prepare(*groups)
    missing = [group for group in groups if not precompile.is_marked(group)]
    if missing:
        sys.exit(f"error: these groups of kernels were not compiled: {', '.join(missing)}")


def work() -> None:
    """Compile what each line names, a unit or a signature, and answer line by line."""
    from bayeslearn.kernels.warm_up_learners import UNITS  # noqa: PLC0415 - loads every kernel

    for line in sys.stdin:
        unit = UNITS.get(line.strip())
        if unit:
            unit()
        else:
            module, name, signature = pickle.loads(base64.b64decode(line))  # noqa: S301 - from the process that asks
            getattr(importlib.import_module(module), name).compile(signature)
        sys.stdout.write(line)
        sys.stdout.flush()


def export(folder: Path) -> None:
    """Write the files that the kernels need into a folder: those that are read when each kernel is called once."""
    from bayeslearn.kernels.warm_up_learners import UNITS  # noqa: PLC0415 - loads every kernel

    groups = list(precompile.GROUPS)
    prepare(groups)
    for unit in UNITS.values():
        unit()
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*code_cache.used, *map(precompile.mark, groups)):
        source = code_cache.find(name)
        assert source is not None
        shutil.copyfile(source, folder / name)


if __name__ == "__main__":
    main()
