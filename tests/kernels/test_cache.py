"""Compiled code is kept for the sources it was made of, and for no others."""

from __future__ import annotations

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
