"""What a fuzzer is: a target makes hostile bytes from a seed, and runs them against the library.

Every trial is bytes: the content of a file, or a JSON recipe of arguments. What was found is kept as a file below
``corpus/`` and is tried again by every test run.

    Target("networks/bif", make, run)
        make(rng)    the bytes of one trial, from a generator with a known seed
        run(data)    call the library; raise what must not happen

A trial passes when `run` returns. The named errors of the package are caught by `run` (see :func:`refused`); any other
exception, a crash of the process, more memory or more time than the target allows, and NumPy's warnings of invalid
values are findings.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bayeslearn.errors import BayeslearnError

#: What was found before: corpus/<target>/<digest>.
CORPUS = Path(__file__).with_name("corpus")

#: Files of this folder that are no targets.
FRAME = {"__main__", "arrays", "guided", "mutations", "runner", "test_fuzz", "trials", "worker"}


class Target(NamedTuple):
    """One fuzzer; see the module.

    Attributes
    ----------
    name
        The topic and what is tried: ``networks/bif``.
    make, run
        See the module.
    seconds
        The most that one trial may take.
    max_bytes
        The most that one trial may take of memory, above what the process has at the start.
    warnings
        Whether NumPy's warnings of invalid values are findings.
    """

    name: str
    make: Callable[[Random], bytes]
    run: Callable[[bytes], None]
    seconds: float = 10.0
    max_bytes: int = 1 << 30
    warnings: bool = True

    def data(self, seed: int) -> bytes:
        """Return the bytes of the trial of a seed."""
        return self.make(Random(f"{self.name} {seed}"))


@contextmanager
def refused(*others: type[Exception]) -> Iterator[None]:
    """A block in which the library may refuse what it is given, by a named error or by one of a few others."""
    try:
        yield
    except (BayeslearnError, *others) as error:
        if not str(error).strip():
            raise AssertionError(f"{type(error).__name__} without a message") from error


@contextmanager
def scratch(data: bytes, name: str) -> Iterator[Path]:
    """A file of a folder of its own with these bytes; both are gone after the block."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def recipe(**parts: Any) -> bytes:
    """The bytes of a JSON recipe."""
    return json.dumps(parts).encode()


### all targets


def topics() -> list[str]:
    """The modules of this folder that define targets."""
    return sorted(path.stem for path in CORPUS.parent.glob("*.py") if path.stem not in FRAME)


@cache
def targets_of(topic: str) -> dict[str, Target]:
    """The targets of a module by name."""
    module = importlib.import_module(f"tests.fuzz.{topic}")
    return {target.name: target for target in module.TARGETS}


def target_of(name: str) -> Target:
    """The target of a name: its module is the part before the slash."""
    return targets_of(name.partition("/")[0])[name]


def all_targets() -> list[Target]:
    """Every target of the folder."""
    return [target for topic in topics() for target in targets_of(topic).values()]


def corpus_of(target: Target) -> list[Path]:
    """The files that were found for a target before."""
    return sorted(path for path in (CORPUS / target.name).glob("*") if path.is_file())
