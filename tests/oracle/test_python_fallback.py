"""Kernels that are interpreted while there is no compiled code answer the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from bayeslearn import kernels, read_network
from bayeslearn.kernels import python_fallback
from bayeslearn.network import Exact


@pytest.fixture
def cold(monkeypatch):
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: False)
    monkeypatch.setattr(python_fallback, "_spent", 0.0)
    monkeypatch.setattr(python_fallback, "_ready", {})


@pytest.mark.usefixtures("cold")
def test_a_small_question_is_answered_without_compiled_code(monkeypatch):
    engine = Exact(read_network("asia"))
    interpreted = engine.query({"dysp": "yes"})
    assert python_fallback._spent > 0
    explained = engine.most_probable({"dysp": "yes"})
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: True)
    expected = Exact(read_network("asia")).query({"dysp": "yes"})
    assert interpreted.log_evidence == pytest.approx(expected.log_evidence, rel=1e-13)
    for name, belief in expected.beliefs.items():
        np.testing.assert_allclose(list(interpreted[name].values()), list(belief.values()), rtol=1e-12)
    assert explained.case == Exact(read_network("asia")).most_probable({"dysp": "yes"}).case


@pytest.mark.usefixtures("cold")
def test_patience_ends(monkeypatch):
    assert kernels.soonest("plan") is not kernels.plan
    monkeypatch.setattr(python_fallback, "_spent", python_fallback.PATIENCE + 1)
    assert kernels.soonest("plan") is kernels.plan


@pytest.mark.usefixtures("cold")
def test_where_the_compiler_is_not_loaded_it_is_loaded_in_time(monkeypatch):
    compiled = kernels.plan
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: True)
    monkeypatch.delitem(sys.modules, "bayeslearn.kernels._jit")
    assert kernels.soonest("plan") is not compiled
    monkeypatch.setattr(python_fallback, "_spent", python_fallback.LOADING + 0.1)
    assert kernels.soonest("plan") is compiled


def test_a_first_question_in_a_new_place_compiles_nothing_and_does_not_load_the_compiler(tmp_path):
    if os.environ.get("NUMBA_DISABLE_JIT"):
        pytest.skip("nothing is compiled anyway")
    script = (
        "import sys; from bayeslearn import read_network\n"
        "print(round(read_network('alarm').query({'HR': 'LOW'}).log_evidence, 3), 'numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "BAYESLEARN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["-4.268", "False"]
    assert "compiling" not in done.stderr
