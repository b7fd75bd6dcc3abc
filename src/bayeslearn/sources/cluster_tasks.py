"""The work of one pass over shards on a cluster: tasks by their keys, and what they do where they run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bayeslearn.errors import ClusterError, ParameterError
from bayeslearn.tables.folded import Sum, plus

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
    """Wait for a value and tell it."""
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
        " their logs tell more",
        path=getattr(shard, "path", None),
    )


### on a worker


@dataclass(frozen=True)
class Step:
    """What a worker is to do, known by its key: Dask need not look into it to tell it from others."""

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
