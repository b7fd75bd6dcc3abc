"""Shards that the workers of a cluster read: Dask hands them out, hands them out again when a worker dies, and no more.

    function ─┬─ s1 ─┐
              ├─ s2 ─┴ s1 + s2 ─┐
              ├─ s3 ─┐          ├ …
              └─ s4 ─┴ s3 + s4 ─┘

The function holds the parameters of the pass and is sent once. What it makes of the shards stays on the workers, is
added there in the order that :class:`~bayeslearn.sources.engines.Sum` adds on one machine, and one answer comes back.
"""

from __future__ import annotations

import threading
import time
import weakref
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from bayeslearn import validation
from bayeslearn.errors import ClusterError, ParameterError
from bayeslearn.kernels import thread_count
from bayeslearn.sources import dask_client
from bayeslearn.sources.dask_client import Answer, Work, fetch, killed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: Seconds between two looks at the workers, while nothing comes from them.
LOOK = 1.0


class DaskEngine:
    """The workers of a Dask cluster as an engine of :func:`~bayeslearn.scan`.

    Every worker must see the files under the same paths, and have bayeslearn installed.

    Parameters
    ----------
    client
        A ``distributed.Client``, the address of a scheduler, or a cluster of Dask's own.
    security
        A ``distributed.Security``, or its paths: ``tls_ca_file``, ``tls_client_cert``, ``tls_client_key``. Dask's
        configuration has the other settings.
    timeout
        Seconds to wait when no worker is left, or no scheduler answers.
    retries
        How often a shard is read again after an error. Shards of workers that died are always read again.

    A cluster that is given a client leaves it open; else `close` ends what was begun, as does the end of the program.
    """

    def __init__(self, client: Any, *, security: Any = None, timeout: float = 60.0, retries: int = 2) -> None:
        self.timeout = validation.number("timeout", timeout, above=0)
        self.retries = validation.integer("retries", retries, min_value=0)
        theirs = isinstance(client, dask_client.distributed.Client)
        if theirs and client.asynchronous:
            raise ParameterError("the client is asynchronous", hint="make it by Client(…, asynchronous=False)")
        self.client = client if theirs else dask_client.connected(client, security, self.timeout)
        self._begun = [] if theirs else [self.client]
        self._end = weakref.finalize(self, dask_client.end, self._begun)

    @classmethod
    def local(
        cls,
        workers: int | None = None,
        *,
        memory_limit: str | float | None = None,
        security: Any = None,
        timeout: float = 60.0,
        retries: int = 2,
    ) -> Self:
        """Workers on this machine, each a process of one thread that listens on 127.0.0.1 only.

        There is one for every core, and each may use its share of the memory, by default; `memory_limit` is
        that of one worker, in Dask's words (``"2GB"``).
        """
        n = thread_count() if workers is None else validation.integer("workers", workers, min_value=1)
        begun = dask_client.started(n, memory_limit, security, timeout)
        try:
            cluster = cls(begun, timeout=timeout, retries=retries)
        except BaseException:
            begun.close()
            raise
        cluster._begun.append(begun)
        return cluster

    def __repr__(self) -> str:
        return f"DaskEngine({self.address!r}, {self.workers} workers)" if self.is_open else "DaskEngine(closed)"

    @property
    def is_open(self) -> bool:
        """Whether it can still be asked."""
        return self._end.alive

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return self.client.scheduler.address if self.client.scheduler else "nowhere"

    @property
    def workers(self) -> int:
        """How many workers take shards."""
        return len(self._running())

    @property
    def count(self) -> int:
        """Threads that share the memory of one worker."""
        return max(self._running().values(), default=1)

    def _running(self) -> dict[str, int]:
        """The threads of each worker that takes shards: one that is short of memory does not."""
        if self.client.status != "running":
            return {}
        try:
            known = self.client.sync(self.client.scheduler.identity, callback_timeout=self.timeout)["workers"]
        except (OSError, TimeoutError):
            return {}
        return {name: worker["nthreads"] for name, worker in known.items() if worker["status"] == "running"}

    def close(self) -> None:
        """End what was begun: the connection, and workers that were started here."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- a pass

    def fold(self, function: Callable[[Any], Any], shards: Iterable[Any], done: Callable[[Any], object]) -> Any:
        """``function(shard 1) + function(shard 2) + …``, wherever the shards are read."""
        if not self.is_open:
            raise ClusterError("the cluster was closed", hint="start or connect to another one")
        work = Work.of(function, shards, sum(self._running().values()))
        if work.last is None:
            return None
        self._refill()
        keys = [*work.shards, work.last.key]
        futures = dict(zip(keys, dask_client.submitted(self.client, work.tasks, keys, self.retries), strict=True))
        try:
            return self._answer(futures, work, done)
        finally:
            for future in futures.values():
                future.release()

    def _answer(self, futures: dict[str, Any], work: Work, done: Callable[[Any], object]) -> Any:
        """The last sum, when it is there; until then shards are reported as they are done."""
        assert work.last is not None
        events: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=fetch, args=(futures[work.last.key], events.put), daemon=True).start()
        left = dict(work.shards)
        for key in left:
            futures[key].add_done_callback(events.put)
        while not isinstance(event := self._next(events), Answer):
            if event.status == "finished":
                done(left.pop(event.key))
                if event.key != work.last.key:  # nobody but the tasks that add it needs the value of a shard
                    event.release()
        if event.error is not None:
            raise self._explained(event.error, work.shards)
        for shard in left.values():
            done(shard)
        return event.value

    def _next(self, events: SimpleQueue[Any]) -> Any:
        """The next event; an error if no worker is left."""
        seen = time.monotonic()
        while True:
            try:
                return events.get(timeout=min(LOOK, self.timeout / 4))
            except Empty:
                self._refill()
                if self._running():
                    seen = time.monotonic()
                elif time.monotonic() - seen > self.timeout:
                    raise self._forsaken() from None

    def _refill(self) -> None:
        """Start again what was started here and is gone: Dask itself forgets workers that die while they start."""
        for cluster in self._begun[1:]:
            cluster.scale(len(cluster.worker_spec))

    def _forsaken(self) -> ClusterError:
        return ClusterError(
            f"no worker of {self.address} was there to take shards for {self.timeout:g} seconds",
            hint="start workers and run the pass again; the logs of the old ones have the reasons",
            address=self.address,
        )

    def _explained(self, error: BaseException, shards: Mapping[str, Any]) -> BaseException:
        """The error in our words, if it is one of the cluster and not one of the function's own."""
        kind = type(error).__name__
        if kind == "KilledWorker":
            return killed(error, shards)
        if kind in {"NoWorkerError", "NoValidWorkerError"}:
            return self._forsaken()
        if type(error).__module__.partition(".")[0] == "distributed" or "deserialization of the task" in str(error):
            return ClusterError(
                f"the pass was lost at {self.address}: {error.__cause__ or error}",
                hint="look whether the scheduler is up, and has the same versions as here; then run the pass again",
                address=self.address,
            )
        return error


def cluster_of(engine: Any) -> DaskEngine:
    """The cluster that is meant.

    A client or a cluster of Dask's, an address (``"tcp://…"``, ``"tls://…"``), a number of workers or the keywords of
    :meth:`DaskEngine.local`, or ``"dask"``: the scheduler that Dask's configuration names, else workers on this
    machine, the same ones as long as somebody uses them.
    """
    if isinstance(engine, DaskEngine):
        return engine
    if engine == "dask":
        address = dask_client.configured("scheduler-address")
        return DaskEngine(address) if address else common()
    if isinstance(engine, dict):
        return DaskEngine.local(**engine)
    if isinstance(engine, int) and not isinstance(engine, bool):
        return DaskEngine.local(engine)
    if isinstance(engine, str) and ":" not in engine:
        raise ParameterError(
            f"there is no engine {engine!r}", hint='use "files", "dask", or the address of a scheduler: "tcp://…:8786"'
        )
    return DaskEngine(engine)


def common() -> DaskEngine:
    """The workers on this machine that all share who do not ask for more."""
    with _lock:
        cluster = _common.get("local")
        if cluster is None or not cluster.is_open:
            cluster = _common["local"] = DaskEngine.local()
        return cluster


_lock = threading.Lock()
_common: weakref.WeakValueDictionary[str, DaskEngine] = weakref.WeakValueDictionary()
