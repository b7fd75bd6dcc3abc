"""All that is asked of Dask: to connect, to start workers on this machine, to run tasks, and to end."""

from __future__ import annotations

import logging
import multiprocessing
import threading
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports
from bayeslearn.errors import ClusterError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a script must do that starts processes.
GUARD = 'in a script, start the cluster below `if __name__ == "__main__":`, for workers read the script as they start'


distributed: Any = lazy_imports.Optional("distributed", "clusters", "dask")


def configured(name: str) -> Any:
    """What the user's configuration of Dask says, if it says anything."""
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
