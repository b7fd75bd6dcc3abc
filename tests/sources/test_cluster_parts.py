"""Clusters that are not there, and what travels to those that are."""

from __future__ import annotations

import inspect
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bayeslearn import errors
from bayeslearn.errors import BayeslearnError, ClusterError, MissingDependencyError, ParameterError
from bayeslearn.sources.dask_client import Work
from bayeslearn.sources.dask_engine import DaskEngine, cluster_of

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, BayeslearnError)]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_errors_travel(kind: type[BayeslearnError]) -> None:
    error = kind("what", hint="do", path=Path("there"), row=3)
    error.add_note("where")
    same: Any = pickle.loads(pickle.dumps(error))
    assert type(same) is kind
    assert (str(same), same.message, same.hint, same.details) == (str(error), "what", "do", error.details)
    assert same.__notes__ == ["where"]


def test_nobody_listens() -> None:
    begin = time.monotonic()
    with pytest.raises(ClusterError, match=r"cannot connect to tcp://127.0.0.1:9: .*") as caught:
        DaskEngine("tcp://127.0.0.1:9", timeout=0.3)
    assert time.monotonic() - begin < 10
    assert caught.value.details == {"address": "tcp://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("given", "said"),
    [("spark", "there is no engine 'spark'"), (0, "workers"), ({"workers": 0}, "workers"), (True, "cannot connect")],
    ids=["name", "none", "keyword", "truth"],
)
def test_no_cluster(given: Any, said: str) -> None:
    with pytest.raises(BayeslearnError, match=said):
        cluster_of(given)


def test_bad_settings() -> None:
    with pytest.raises(ParameterError, match="timeout"):
        DaskEngine("tcp://127.0.0.1:9", timeout=0)
    with pytest.raises(ParameterError, match=r"`security` cannot be used: .*tls_cafile"):
        DaskEngine("tls://127.0.0.1:9", security={"tls_cafile": "x"})
    with pytest.raises(ParameterError, match="security"):
        DaskEngine("tls://127.0.0.1:9", security="x")
    with pytest.raises(ClusterError, match="cannot connect to odd://"):
        DaskEngine("odd://127.0.0.1:9", timeout=0.3)


def test_the_package_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "distributed", None)
        with pytest.raises(MissingDependencyError, match=r"pip install 'bayeslearn\[dask\]'"):
            cluster_of("dask")
    (tmp_path / "distributed.py").write_text("import no_such_part")
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_part") as caught:
        cluster_of("dask")
    assert not isinstance(caught.value, BayeslearnError)


def test_the_function_is_sent_once() -> None:
    for threads, sent in ((0, 1), (2, 1), (3, 3), (9, 5)):  # or once to every thread, where shards are few
        work = Work.of(abs, range(5), threads)
        kinds = [key.split("-")[1] for key in work.tasks]
        assert {kind: kinds.count(kind) for kind in kinds} == {"send": sent, "shard": 5, "add": 4}
    assert Work.of(abs, []).last is None
