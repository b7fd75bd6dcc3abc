"""Compiled code is kept for the sources it was made of, and for no others."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from bayeslearn.kernels import extending, parents
from bayeslearn.kernels._jit import sources


def test_sources_are_those_of_imported_files_too(tmp_path):
    (tmp_path / "outer.py").write_text("from bayeslearn.kernels.within import (\n    f,\n)\n")

    def seen(text):
        (tmp_path / "within.py").write_text(text)
        sources.cache_clear()
        return sources(str(tmp_path / "outer.py"))

    assert seen("f = 1\n") == seen("f = 1\n") != seen("f = 2\n")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("function", [parents.greedy_parents, extending.extend_family], ids=lambda f: f.__name__)
def test_kernels_are_marked_by_their_sources(function):
    stamp = function._cache._cache_file._source_stamp
    assert stamp[1] == sources(function.py_func.__code__.co_filename)


PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import summing
assert summing.dot(np.arange(100.0), np.ones(100)) == 4950
hits = len(summing.dot.stats.cache_hits)
text = "" if hits else "".join(summing.dot.inspect_asm().values())
print("zmm" in text, "ymm" in text, hits)
"""
SUMMING = """
from bayeslearn.kernels import _jit

@_jit.kernel
def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
"""


@pytest.mark.thorough
@pytest.mark.compiled
def test_code_for_one_processor_is_not_used_on_another(tmp_path):
    (tmp_path / "summing.py").write_text(SUMMING)

    def run(**machine):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | machine
        environment["BAYESLEARN_QUIET"] = "1"
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], env=environment, capture_output=True, text=True, check=True
        )
        zmm, ymm, hits = done.stdout.split()
        return zmm == "True", ymm == "True", int(hits)

    assert run()[2] == 0
    assert run(NUMBA_CPU_NAME="generic") == (False, False, 0)  # compiled anew, without the features of the host
    assert run()[2] == 1
    assert run(NUMBA_CPU_NAME="generic")[2] == 1
