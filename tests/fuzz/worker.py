"""A process that runs trials within limits; the runner starts it and reads what it reports.

python -m tests.fuzz.worker    reads a line for each trial: the target, and a seed or the path of a file
                               writes a line after each: null, or the finding, as JSON
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import resource
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa

from tests.fuzz import trials


def main() -> None:
    """Run the trials that standard input names."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what the library prints is not an answer
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    before = None
    for line in sys.stdin:
        name, asked = json.loads(line)
        target = trials.target_of(name)
        if name != before:
            prepare(target)
            before = name
        data = target.data(asked) if isinstance(asked, int) else Path(asked).read_bytes()
        answers.write(json.dumps(finding(target, data)) + "\n")
        answers.flush()


def prepare(target: trials.Target) -> None:
    """Run one trial, so that modules and kernels are loaded; then limit memory and make warnings errors."""
    unlimited = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
    warnings.simplefilter("default", RuntimeWarning)
    load_libraries()
    finding(target, target.data(0))
    if target.warnings:
        warnings.simplefilter("error", RuntimeWarning)
    resource.setrlimit(resource.RLIMIT_AS, (memory_in_use() + target.max_bytes, unlimited))


def load_libraries() -> None:
    """Load what takes memory once, however small the data: the compiler, buffers of linear algebra, the pool of Arrow.

    Arrow reserves 1 GiB of address space with its first array, which is all that a trial may take.
    """
    numba.njit(lambda n: np.zeros(n) + 1.0)(1)
    pa.array([0.0])
    for name in ("scipy.linalg", "scipy.optimize", "scipy.sparse", "sklearn.base", "pandas", "polars"):
        importlib.import_module(name)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: np.linalg.svd(np.eye(n) @ np.ones((n, n))), [64] * 16))


def memory_in_use() -> int:
    """The address space of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def finding(target: trials.Target, data: bytes) -> str | None:
    """What a trial found: None, or the traceback of what must not happen."""
    try:
        target.run(data)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever it is, it is the finding
        return traceback.format_exc(limit=-12)
    return None


if __name__ == "__main__":
    main()
