"""Kernels that are interpreted while there is no compiled code answer the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bayeslearn import read_network
from bayeslearn.kernels import python_fallback
from bayeslearn.network import ExactInference


@pytest.fixture
def cold(monkeypatch):
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: False)
    monkeypatch.setattr(python_fallback, "_spent", 0.0)
    monkeypatch.setattr(python_fallback, "_ready", {})


@pytest.mark.usefixtures("cold")
def test_a_small_question_is_answered_without_compiled_code(monkeypatch):
    explained = ExactInference(read_network("asia")).most_probable({"dysp": "yes"})
    assert python_fallback._spent > 0
    monkeypatch.setattr(python_fallback, "is_ready", lambda *_: True)
    assert explained.case == ExactInference(read_network("asia")).most_probable({"dysp": "yes"}).case


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
