"""All that is asked of Dask: to connect, to start workers on this machine, to run tasks, and to end.

The work of one pass over shards is tasks by their keys, and what they do where they run.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bayeslearn import lazy_imports
from bayeslearn.errors import ClusterError, ParameterError
from bayeslearn.tables.source_protocol import Sum, plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True)
class Later:
    """A value that a worker will hold; adding two of them is one more task."""

    key: str
    tasks: dict[str, Any]

    def __add__(self, other: Later) -> Later:
        key = f"{self.key.rpartition('-')[0]}-{len(self.tasks)}".replace(SHARD, ADD)
        self.tasks[key] = (plus, self.key, other.key)
        return Later(key, self.tasks)


#: What the tasks are called on Dask's pages.
SEND, SHARD, ADD = "bayeslearn-send", "bayeslearn-shard", "bayeslearn-add"


@dataclass(frozen=True)
class Work:
    """All tasks, the shards by their keys, and the sum of all."""

    tasks: Mapping[str, Any]
    shards: Mapping[str, Any]
    last: Later | None

    @classmethod
    def of(cls, function: Callable[[Any], Any], shards: Iterable[Any], threads: int = 1) -> Work:
        """Each shard is a task, as is every sum of two.

        Few shards would all go where the function is, so it is sent to every thread; many are spread by Dask itself.
        """
        name, sent = uuid4().hex, packed(function)
        named = {f"{SHARD}-{name}-{number}": shard for number, shard in enumerate(shards)}
        copies = max(min(len(named), threads), 1) if len(named) <= 2 * threads else 1
        sends = [f"{SEND}-{name}-{copy}" for copy in range(copies)]
        tasks: dict[str, Any] = {send: (Unpack(sent, send),) for send in sends}
        total: Sum[Later] = Sum()
        for (key, shard), send in zip(named.items(), cycle(sends), strict=False):
            tasks[key] = (Read(shard, key), send)
            total.add(Later(key, tasks))
        return cls(tasks, named, total.total)


### on this machine


@dataclass(frozen=True)
class Answer:
    """What came back: a value, or an error."""

    value: Any = None
    error: BaseException | None = None


def fetch(future: Any, tell: Callable[[Answer], object]) -> None:
    """Wait for a value and report it."""
    try:
        answer = Answer(future.result())
    except BaseException as error:  # noqa: BLE001 - told to who asked
        answer = Answer(error=error)
    tell(answer)


def packed(function: Callable[[Any], Any]) -> bytes:
    """A function as it is sent, with all that it holds."""
    import cloudpickle  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with the extra

    try:
        return cloudpickle.dumps(function)
    except Exception as error:
        raise ParameterError(
            f"what is made of the batches cannot be sent to workers: {error}",
            hint="functions that travel hold numbers, arrays and models, but no locks, open files, or sources",
        ) from error


def killed(error: Any, shards: Mapping[str, Any]) -> ClusterError:
    """Workers that died over a task, one after the other."""
    shard = shards.get(error.args[0])
    what = f"reading {shard}" if shard is not None else "loading" if error.args[0].startswith(SEND) else "adding"
    return ClusterError(
        f"{error.args[2] + 1} workers died while {what}",
        hint="most often they were out of memory: allow a worker more, or read smaller batches with `memory_limit`;"
        " their logs have details",
        path=getattr(shard, "path", None),
    )


### on a worker


@dataclass(frozen=True)
class Step:
    """What a worker is to do, identified by its key, so that Dask need not compare contents."""

    what: Any
    key: str

    def __dask_tokenize__(self) -> str:
        return self.key


class Unpack(Step):
    """Unpacks the function that was sent."""

    def __call__(self) -> Callable[[Any], Any]:
        """The function."""
        import cloudpickle  # noqa: PLC0415

        try:
            return cloudpickle.loads(self.what)
        except (ImportError, AttributeError) as error:
            raise ClusterError(
                f"a worker cannot load what it is to do: {error}",
                hint="install the same versions of bayeslearn, and your own modules, on the workers",
            ) from None


class Read(Step):
    """Reads a shard."""

    def __call__(self, function: Callable[[Any], Any]) -> Any:
        """What the function makes of it."""
        return function(self.what)


#: What a script must do that starts processes.
GUARD = 'in a script, start the cluster below `if __name__ == "__main__":`, for workers read the script as they start'


distributed: Any = lazy_imports.Optional("distributed", "clusters", "dask")


def configured(name: str) -> Any:
    """A setting of the user's configuration of Dask, or None."""
    distributed.load()
    import dask  # noqa: PLC0415

    return dask.config.get(name, None)


def security_of(security: Any) -> Any:
    """TLS settings as Dask takes them; None leaves them to its configuration."""
    if security is None or isinstance(security, distributed.Security):
        return security
    try:
        return distributed.Security(**security)
    except TypeError as error:
        raise ParameterError(
            f"`security` cannot be used: {error}",
            hint="give a distributed.Security, or paths: tls_ca_file, tls_client_cert, tls_client_key",
        ) from None


def connected(address: Any, security: Any, timeout: float) -> Any:
    """A client of the scheduler there; it does not become the one that Dask uses for all else."""
    from dask.utils import parse_timedelta  # noqa: PLC0415

    patience = min(timeout, parse_timedelta(configured("distributed.comm.timeouts.connect") or timeout))
    safe = security_of(security)
    try:
        return distributed.Client(address, security=safe, timeout=patience, set_as_default=False)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise ClusterError(
            f"cannot connect to {address!s:.120}: {error}",
            hint="look whether a scheduler listens there, and with which certificates",
            address=str(address),
        ) from error


def started(workers: int, memory_limit: str | float | None, security: Any, timeout: float) -> Any:
    """Processes of one thread on this machine, which listen on no other address than its own."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ClusterError("a worker that is just starting cannot start a cluster", hint=GUARD)
    package, safe = distributed, security_of(security)
    import dask  # noqa: PLC0415

    own = {} if memory_limit is None else {"memory_limit": memory_limit}
    settings = {NO_WORKERS: configured(NO_WORKERS) or f"{timeout}s", BIRTH: birth()}
    try:
        with dask.config.set(settings):
            return package.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", security=safe,
                dashboard_address="127.0.0.1:0", env={"BAYESLEARN_THREADS": "1"}, silence_logs=logging.CRITICAL, **own,
            )  # fmt: skip
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"cannot start workers on this machine: {error}", hint=GUARD) from error


#: Dask's settings: how long tasks wait for workers to come, and the environment that these are born into.
NO_WORKERS, BIRTH = "distributed.scheduler.no-workers-timeout", "distributed.nanny.pre-spawn-environ"


def birth() -> dict[str, Any]:
    """That environment, without Dask's own wish to give back all memory at once: each batch would fetch it anew."""
    return {name: value for name, value in (configured(BIRTH) or {}).items() if (name, str(value)) != TRIM}


#: What Dask sets unless it is told.
TRIM = ("MALLOC_TRIM_THRESHOLD_", "65536")


def submitted(client: Any, tasks: Mapping[str, Any], keys: list[str], retries: int) -> Any:
    """The futures of these tasks; parameters may be larger than what Dask deems right for a graph."""
    import dask  # noqa: PLC0415

    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            return client.get(dict(tasks), keys, sync=False, retries=retries)
    except distributed.client.ClosedClientError as error:
        raise ClusterError(f"the client is closed: {error}", hint="connect again") from None


def end(begun: list[Any]) -> None:
    """Close clients and clusters; on Dask's own thread, which must not wait for itself, somebody else does it."""
    if any(one.asynchronous for one in begun):
        threading.Thread(target=end, args=(begun,)).start()
        return
    for one in begun:
        one.close()
