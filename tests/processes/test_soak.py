"""Many questions, many threads: the same answers, and no memory that grows."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bayeslearn import as_table, fit_parameters, read_network

pytestmark = pytest.mark.thorough


def resident_bytes():
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_twenty_thousand_queries_take_no_more_memory():
    net = read_network("asia")

    def ask(n):
        for i in range(n):
            net.query({"smoke": ["yes", "no"][i % 2], "xray": ["yes", "no"][i // 2 % 2]}, "lung")

    ask(2000)
    before = resident_bytes()
    ask(20_000)
    assert resident_bytes() - before < 5_000_000


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_learning_again_and_again_takes_no_more_memory():
    rng = np.random.default_rng(0)
    data = {name: rng.choice(list("xyz"), 2000) for name in "abcd"}

    def learn(n):
        for _ in range(n):
            net = fit_parameters("[a][b|a][c|b][d|c]", as_table(data))
            net.log_likelihood(data)

    learn(20)
    before = resident_bytes()
    learn(200)
    assert resident_bytes() - before < 10_000_000


def test_sixteen_threads_get_the_answers_of_one():
    net = read_network("alarm")
    cases = [{"HR": ["LOW", "NORMAL", "HIGH"][i % 3], "BP": ["LOW", "NORMAL", "HIGH"][i // 3 % 3]} for i in range(90)]
    alone = [net.query(case, "HYPOVOLEMIA")["HYPOVOLEMIA"] for case in cases]
    fresh = read_network("alarm")  # compiled by whichever thread comes first
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda case: fresh.query(case, "HYPOVOLEMIA")["HYPOVOLEMIA"], cases * 5))
    for one, other in zip(alone * 5, together, strict=True):
        assert one == other
