"""A cluster gives the answer that files give, whatever happens to its workers: real processes, on this machine only."""

from __future__ import annotations

import collections
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import dask
import distributed
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayeslearn as bl
from bayeslearn.errors import ClusterError, FormatError, ParameterError, UnknownStateError
from bayeslearn.sources import DaskEngine
from bayeslearn.sources.dask_engine import cluster_of
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.tables import DiscreteVariable, Schema

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of workers that were killed
]


@pytest.fixture(scope="module")
def workers() -> Any:
    """Two workers for all tests; a shard may kill one of them."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        cluster = DaskEngine.local(2, timeout=30, retries=0)
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven files, one of them without rows: dictionaries in different orders, holes, weights."""
    place, rng = tmp_path_factory.mktemp("cases"), np.random.default_rng(1)
    for number, n in enumerate([400, 0, 300, 1, 250, 700, 333]):
        names = np.array(["a", "b", "c"])[rng.permutation(3)]
        words = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 3, n), pa.int8()), pa.array(names))
        holes = pa.array(rng.integers(0, 4, n), mask=rng.random(n) < 0.1)
        data = {"x": words, "y": holes, "z": rng.integers(0, 2, n), "n": rng.random(n)}
        pq.write_table(pa.table(data), place / f"part-{number}.parquet", row_group_size=97)
    return place


def pids(cluster: DaskEngine) -> set[int]:
    return set(cluster.client.run(os.getpid).values())


def ended(processes: set[int], seconds: float = 10.0) -> bool:
    """Whether all of them are gone, soon."""
    until = time.monotonic() + seconds
    while any(psutil.pid_exists(pid) for pid in processes) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(psutil.pid_exists(pid) for pid in processes)


def silent(_: Any) -> None:
    """Nobody watches."""


### the same answers


def test_the_answers_of_files_to_the_last_bit(workers: DaskEngine, folder: Path) -> None:
    parameters = np.random.default_rng(2).normal(size=(3, 5))

    def counted(table: Any) -> Any:
        return np.concatenate([cells.ravel() for cells in table.counter.count([(0,), (1, 2), (0, 1, 2)])])

    def expected(table: Any) -> Any:
        """An E step in small: the shares of three classes in each row, summed with the weights of the rows."""
        shares = np.exp(parameters[:, table.codes_of("x")] + parameters[:, table.codes_of("y")])
        return (shares / shares.sum(0) * table.sample_weight).sum(1)

    told: list[Any] = []
    here = bl.scan(str(folder / "*.parquet"), sample_weight="n", engine=ThreadEngine(1))
    there = bl.scan(str(folder / "*.parquet"), sample_weight="n", engine=workers, progress=told.append)
    assert there.schema == here.schema
    assert there.missing() == here.missing()
    assert there.total_weight == here.total_weight
    np.testing.assert_array_equal(there.fold(counted), here.fold(counted))
    for _ in range(2):
        sums = here.fold(expected)
        np.testing.assert_array_equal(there.fold(expected), sums)
        parameters = parameters + np.log(sums)[:, None]
    assert told[-1].rows == told[-1].of == 1984


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_sums_depend_on_the_order_alone(workers: DaskEngine, n: int) -> None:
    rng = random.Random(n)
    shards = [(rng.random() / 50, 0.1 * i if i % 5 else None) for i in range(n)]

    def slowly(shard: Any) -> Any:
        time.sleep(shard[0])
        return shard[1]

    told: list[Any] = []
    assert workers.fold(slowly, shards, told.append) == ThreadEngine(1).fold(lambda shard: shard[1], shards, silent)
    assert sorted(told) == sorted(shards)


def test_a_skipped_file_is_reported(workers: DaskEngine, folder: Path, tmp_path: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "cases")
    (place / "part-4.parquet").write_bytes((place / "part-4.parquet").read_bytes()[:-100])
    whole = bytearray((place / "part-5.parquet").read_bytes())
    whole[200:1200] = bytes(1000)  # the head and the end tell nothing of it
    (place / "part-5.parquet").write_bytes(whole)
    here, there = (bl.scan(str(place), on_error="skip", engine=engine) for engine in (None, workers))
    assert set(there.skipped) == {str(place / f"part-{i}.parquet") for i in (4, 5)}
    assert there.skipped == here.skipped
    assert there.n_rows == here.n_rows == 1034
    with pytest.raises(FormatError, match=r"part-4\.parquet"):
        bl.scan(str(place), engine=workers)


### errors of the function


def test_an_error_names_its_file(workers: DaskEngine, folder: Path, tmp_path: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "cases")
    schema = Schema([DiscreteVariable("z", [0, 1])])
    odd = pa.table({"x": ["a"], "y": [1], "z": [7], "n": [1.0]})
    pq.write_table(odd, place / "part-3.parquet")
    raised = []
    for engine in (None, workers):
        with pytest.raises(UnknownStateError, match=r"part-3\.parquet': .*7") as caught:
            bl.scan(str(place), schema=schema, engine=engine).fold(lambda table: table.n_rows)
        raised.append(caught.value)
    assert str(raised[0]) == str(raised[1])
    assert raised[0].details == raised[1].details


def test_errors_arrive_as_themselves(workers: DaskEngine) -> None:
    def noted(_: int) -> None:
        error = FormatError("odd", hint="look", path="there", line=3)
        error.add_note("in batch 2")
        raise error

    with pytest.raises(FormatError, match="odd") as caught:
        workers.fold(noted, [1, 2], silent)
    assert caught.value.details == {"path": "there", "line": 3}
    assert caught.value.hint == "look"
    assert caught.value.__notes__ == ["in batch 2"]
    with pytest.raises(ZeroDivisionError, match="by zero"):
        workers.fold(lambda shard: 1 // shard, [1, 0], silent)


def test_what_cannot_be_sent(workers: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = threading.Lock()
    with pytest.raises(ParameterError, match="cannot be sent to workers"):
        workers.fold(lambda _: lock, [1], silent)
    (tmp_path / "only_here.py").write_text("def work(shard): return shard")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with pytest.raises(ClusterError, match="cannot load what it is to do: No module named 'only_here'"):
        workers.fold(only_here.work, [1], silent)


def test_large_parameters_are_no_warning(workers: DaskEngine) -> None:
    parameters = np.arange(2_000_000)
    assert workers.fold(lambda shard: parameters[shard], [3, 4], silent) == 7


### faults


def test_a_worker_that_dies_changes_nothing(workers: DaskEngine, folder: Path, tmp_path: Path) -> None:
    mark, before = tmp_path / "killed", pids(workers)

    def once(table: Any) -> Any:
        if table.n_rows == 250 and not mark.exists():  # all of part-4
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return table.counter.count([(0, 1)])[0]

    there = bl.scan(str(folder), sample_weight="n", engine=workers).fold(once)
    assert int(mark.read_text()) in before
    np.testing.assert_array_equal(
        there, bl.scan(str(folder), sample_weight="n").fold(lambda t: t.counter.count([(0, 1)])[0])
    )


def test_no_workers_left() -> None:
    cluster = DaskEngine.local(1, timeout=0.5)
    processes = pids(cluster)
    cluster.client.cluster.scale(0)
    assert ended(processes)
    begin = time.monotonic()
    with pytest.raises(ClusterError, match=r"no worker of tcp://127.0.0.1:\d+ was there .* for 0.5 seconds"):
        cluster.fold(abs, [1], silent)
    assert time.monotonic() - begin < 5
    cluster.client.cluster.scale(1)
    cluster.client.wait_for_workers(1, timeout=30)
    assert cluster.fold(abs, [-1], silent) == 1
    processes = pids(cluster)
    del cluster  # nobody uses it any more
    gc.collect()
    assert ended(processes)


def test_the_scheduler_of_somebody_else(tmp_path: Path) -> None:
    told = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", told]
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", *options]
    with subprocess.Popen(begin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as scheduler:
        try:
            address = waited(lambda: json.loads(told.read_text())["address"])
            cluster = DaskEngine(address, timeout=0.5)
            with pytest.raises(ClusterError, match=rf"no worker of {address} was there .* for 0.5 seconds"):
                cluster.fold(abs, [1], silent)
            cluster.timeout = 60
            threading.Timer(0.2, scheduler.kill).start()
            with pytest.raises(ClusterError, match=f"the pass was lost at {address}"):
                cluster.fold(abs, [1], silent)
        finally:
            scheduler.kill()
    for _ in range(2):
        cluster.close()
        with pytest.raises(ClusterError, match="was closed"):
            cluster.fold(abs, [1], silent)
        assert repr(cluster) == "DaskEngine(closed)"


def waited(ask: Any, seconds: float = 30.0) -> Any:
    """An answer that will be there soon."""
    until = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except (OSError, ValueError):
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def test_a_script_without_a_guard_ends(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text("from bayeslearn.sources import DaskEngine\nDaskEngine.local(1)")
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 1
    assert 'below `if __name__ == "__main__":`' in told.stderr


### who may come near


def test_local_clusters_listen_to_this_machine_only(workers: DaskEngine) -> None:
    me = psutil.Process()
    everybody = {me.pid: me} | {p.pid: p for p in me.children(recursive=True)}
    assert pids(workers) <= set(everybody)
    heard = [c.laddr.ip for p in everybody.values() for c in p.net_connections() if c.status == psutil.CONN_LISTEN]
    assert len(heard) >= 3  # the scheduler and two workers
    assert set(heard) == {"127.0.0.1"}


@pytest.mark.parametrize("n", [2, 4, 9])
def test_all_workers_are_used(workers: DaskEngine, n: int) -> None:
    def slowly(_: int) -> Any:
        time.sleep(0.1)
        return collections.Counter([os.getpid()])

    took = workers.fold(slowly, range(n), silent)
    assert len(took) == 2
    assert min(took.values()) >= n // 3


def test_workers_use_one_thread_each(workers: DaskEngine) -> None:
    assert workers.fold(lambda _: {os.environ["BAYESLEARN_THREADS"]}.union, [1], silent)(()) == {"1"}
    assert workers.count == 1


def test_certificates_are_used(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not here")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    ask = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test -days 1"
    subprocess.run([*ask.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    mine = {"tls_ca_file": str(cert), "tls_client_cert": str(cert), "tls_client_key": str(key)}
    others = {
        f"tls_{who}_{what}": str(path)
        for who in ("scheduler", "worker")
        for what, path in (("cert", cert), ("key", key))
    }
    with DaskEngine.local(1, security=mine | others, memory_limit="1GiB") as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        assert {w["memory_limit"] for w in cluster.client.scheduler_info()["workers"].values()} == {1 << 30}
        with DaskEngine(cluster.address, security=mine) as own:
            assert own.fold(abs, [-1, 2], silent) == 3
        with pytest.raises(ClusterError, match="cannot connect to tls://"):
            DaskEngine(cluster.address, timeout=1)


def test_clusters_that_are_meant(workers: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    own = cluster_of(workers.client)
    assert own.client is workers.client
    own.close()
    assert workers.fold(abs, [-1], silent) == 1
    assert cluster_of(workers) is workers
    with dask.config.set({"scheduler-address": workers.address}), cluster_of("dask") as found:
        assert found.address == workers.address
        assert found.fold(abs, [-1], silent) == 1
    lost = distributed.scheduler.NoWorkerError("task", 3.0)
    assert "no worker of" in str(workers._explained(lost, {}))
    assert isinstance(workers.client.cluster, distributed.LocalCluster)
    with cluster_of(workers.client.cluster) as found:
        assert found.address == workers.address
    monkeypatch.setattr(DaskEngine, "local", lambda *args, **options: DaskEngine(workers.client))
    common = cluster_of("dask")
    assert cluster_of("dask") is common
    common.close()
    assert cluster_of("dask") is not common


def test_a_shard_that_kills_every_worker_is_named(workers: DaskEngine, folder: Path) -> None:
    """The last test of these workers: some die while they start, which Dask takes for a reason not to start them."""
    schema = Schema([DiscreteVariable("z", [0, 1])])
    source = bl.scan(str(folder / "part-2.parquet"), schema=schema, engine=workers)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}),
        pytest.raises(ClusterError, match=r"2 workers died while reading '.*part-2\.parquet'") as caught,
    ):
        source.fold(lambda _: os.kill(os.getpid(), signal.SIGKILL))
    assert "memory_limit" in str(caught.value)
    assert caught.value.details["path"] == str(folder / "part-2.parquet")
    until = time.monotonic() + 60
    while workers.workers < 2 and time.monotonic() < until:
        workers._refill()  # as every pass does
        time.sleep(0.1)
    assert workers.workers == 2
    assert workers.fold(abs, [-1, 2], silent) == 3
