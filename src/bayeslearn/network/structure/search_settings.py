"""How a structure is searched for: what is known of it, what the search may take, and all other settings."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.em import should_stop
from bayeslearn.errors import ParameterError, UnknownColumnError, listed, option
from bayeslearn.network.dag import DAG
from bayeslearn.network.structure.scoring.criteria import StructureScore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.progress import Reporter


Arc = tuple[str, str]


@dataclass(frozen=True)
class Allowed:
    """Knowledge by position: arcs[c, x] may be there, required[c, x] must."""

    arcs: NDArray[np.bool_]
    required: NDArray[np.bool_]
    max_parents: int

    @property
    def anything(self) -> bool:
        """Whether any arc may be there, and none must."""
        n = len(self.arcs)
        return bool(self.arcs.sum() == n * (n - 1)) and not self.required.any() and self.max_parents >= n - 1


@dataclass(frozen=True)
class BackgroundKnowledge:
    """Arcs are pairs (parent, child).

    >>> BackgroundKnowledge(required=[("smoke", "lung")], roots=["asia"]).of(["asia", "smoke", "lung"]).arcs[1].tolist()
    [False, False, True]
    """

    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    #: Groups of variables, of which none has a parent in a later group.
    tiers: Sequence[Iterable[str]] = ()
    #: Variables without parents, and without children.
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        for name in ("required", "forbidden", "roots", "leaves"):  # read more than once
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "tiers", tuple(tuple(tier) for tier in self.tiers))

    @property
    def directs(self) -> bool:
        """Whether it may direct arcs that rows leave open."""
        return any((self.required, self.forbidden, self.tiers, self.roots, self.leaves))

    def without(self, names: Collection[str]) -> BackgroundKnowledge:
        """What is left where these variables are not there."""

        def kept(arcs: Iterable[Arc]) -> list[Arc]:
            return [arc for arc in arcs if not {*arc} & {*names}]

        tiers = [[name for name in tier if name not in names] for tier in self.tiers]
        roots, leaves = ([name for name in some if name not in names] for some in (self.roots, self.leaves))
        return BackgroundKnowledge(kept(self.required), kept(self.forbidden), tiers, roots, leaves, self.max_parents)

    def of(self, names: Sequence[str]) -> Allowed:
        """The same by position, once it is seen to be possible."""
        place = {name: i for i, name in enumerate(names)}
        n = len(names)
        can, must = ~np.eye(n, dtype=np.bool_), np.zeros((n, n), np.bool_)
        for c, x in self._pairs(self.forbidden, place):
            can[c, x] = False
        if self.tiers:
            level = self._levels(place, n)
            can &= ~((level[:, None] > level[None, :]) & (level[None, :] >= 0) & (level[:, None] >= 0))
        can[:, self._places(self.roots, place)] = False
        can[self._places(self.leaves, place), :] = False
        for c, x in self._pairs(self.required, place):
            must[c, x] = True
        if self.required:
            self._check(names, can, must)
        most = n - 1 if self.max_parents is None else validation.integer("max_parents", self.max_parents, min_value=0)
        crowded = np.flatnonzero(must.sum(axis=0) > most)
        if len(crowded):
            raise ParameterError(
                f"{names[int(crowded[0])]!r} has more required parents than the limit of {most}",
                hint=f"raise {option('max_parents')}, or require fewer arcs",
            )
        return Allowed(can, must, most)

    def _check(self, names: Sequence[str], can: NDArray[np.bool_], must: NDArray[np.bool_]) -> None:
        clash = np.argwhere(must & ~can)
        if len(clash):
            c, x = clash[0].tolist()
            raise ParameterError(
                f"the arc {names[c]} -> {names[x]} is required, but other knowledge forbids it",
                hint="check the forbidden arcs, tiers, roots and leaves",
            )
        DAG.from_arcs([(names[c], names[x]) for c, x in np.argwhere(must).tolist()])  # a cycle is named here

    def _levels(self, place: dict[str, int], n: int) -> NDArray[np.int64]:
        level = np.full(n, -1, np.int64)
        for number, tier in enumerate(self.tiers):
            level[self._places(tier, place)] = number
        return level

    def _places(self, names: Iterable[str], place: dict[str, int]) -> list[int]:
        return [self._place(name, place) for name in names]

    def _pairs(self, arcs: Iterable[Arc], place: dict[str, int]) -> list[tuple[int, int]]:
        return [(self._place(c, place), self._place(x, place)) for c, x in arcs]

    def _place(self, name: str, place: dict[str, int]) -> int:
        if name not in place:
            raise UnknownColumnError(
                f"knowledge names {name!r}, which is no column", hint=f"columns are {listed(place)}"
            )
        return place[name]


@dataclass(frozen=True)
class SearchStep:
    """Where a search stands."""

    score: float
    arcs: int
    steps: int

    @property
    def share(self) -> float:
        """An estimate of the share that is done; the number of steps is unknown."""
        return 1 - 0.98**self.steps

    def __str__(self) -> str:
        return f"score {self.score:.7g}, {self.arcs} arcs, step {self.steps}"


def reporting(
    progress: Reporter | None, time_limit: float | None = None, *, n_steps: int | None = None
) -> Callable[[Any], None] | None:
    """Return the callback of a budget that reports each step of a search, or of what has a `share` and a text.

    The share that is done is that of the time limit, or of `n_steps`, or what the step estimates itself.
    """
    if progress is None:
        return None
    started = time.monotonic()

    def report(now: Any) -> None:
        passed = (time.monotonic() - started) / time_limit if time_limit else 0.0
        progress(max(passed, now.steps / n_steps if n_steps else now.share), str(now), now)

    return report


@dataclass
class Budget:
    """A deadline, a callback that may end the search, and memory; once used up, it stays so for all that share it."""

    deadline: float | None = None
    progress: Callable[[Any], object] | None = None
    #: Bytes that a search may take for what it remembers.
    memory: int = 1 << 30
    #: The budget that this is a part of, see :meth:`reserve`: to stop the part is to stop the whole.
    whole: Budget | None = field(default=None, repr=False)
    #: Whether a search was ended.
    stopped: bool = field(default=False, init=False)

    @classmethod
    def from_time_limit(cls, seconds: float | None) -> Budget:
        """A deadline in `seconds` seconds, or none."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def over(self, score: float, arcs: int, steps: int) -> bool:
        """Whether to stop where a search stands."""
        return self.report(SearchStep(score, arcs, steps))

    def report(self, now: Any) -> bool:
        """Report where the search stands; return whether to stop there."""
        if not self.reached() and should_stop(self.progress, now):
            self.stop()
        return self.stopped

    def reached(self) -> bool:
        """Whether to stop, with nothing to report."""
        ended = self.whole is not None and self.whole.stopped
        self.stopped = self.stopped or ended or self.left() < 0
        return self.stopped

    def stop(self) -> None:
        """End this search, and all that it is a part of."""
        self.stopped = True
        if self.whole is not None:
            self.whole.stop()

    def left(self) -> float:
        """Seconds until the deadline."""
        return math.inf if self.deadline is None else self.deadline - time.monotonic()

    def reserve(self, seconds: float) -> Budget:
        """The same for a part of the work, which leaves `seconds` seconds to what comes after it."""
        return replace(self, deadline=None if self.deadline is None else self.deadline - seconds, whole=self)


#: No limits.
UNLIMITED = Budget()


#: Completions of a row with missing values that are drawn, where it has too many to list.
DRAWS = 8


@dataclass(frozen=True)
class SearchSettings:
    """The one value that every search, test and resample is given.

    >>> SearchSettings(target="b").target_of(["a", "b"])
    1
    """

    algorithm: str = "auto"
    criterion: StructureScore = field(default_factory=lambda: StructureScore("bic"))
    knowledge: BackgroundKnowledge = field(default_factory=BackgroundKnowledge)
    #: Of the parameters, once there is a structure.
    prior: Prior = None
    #: Time, memory, and who may end the search.
    budget: Budget = field(default_factory=Budget)
    target: str | None = None
    order: tuple[str, ...] | None = None
    #: Of tests of independence, and which they are.
    significance_level: float = 0.05
    test: str = "g_test"
    n_restarts: int = 0
    seed: int = 0
    #: Where the arcs of ``tan`` between columns start.
    root: str | None = None

    def with_budget(self, budget: Budget) -> SearchSettings:
        """The same within another budget, for a part of the work."""
        return replace(self, budget=budget)

    def without(self, names: Collection[str]) -> SearchSettings:
        """The same where these variables are not there."""
        prior = self.prior
        if isinstance(prior, Mapping):
            prior = {name: of for name, of in prior.items() if name not in names}
        order = None if self.order is None else tuple(name for name in self.order if name not in names)
        return replace(self, knowledge=self.knowledge.without(names), prior=prior, order=order)

    # -- by position

    def order_of(self, names: Sequence[str]) -> list[int]:
        """The order, which names every variable once; empty where there is none."""
        if self.order is None:
            return []
        order = positions("order", self.order, names)
        if sorted(order) != list(range(len(names))):
            left = [name for name in names if name not in self.order]
            raise ParameterError(
                f"the order must name every variable once, {listed(left) or 'some'} is not so",
                hint="list all variables, each of them once",
            )
        return order

    def target_of(self, names: Sequence[str]) -> int | None:
        """The target."""
        return None if self.target is None else positions("target", [self.target], names)[0]

    def root_of(self, names: Sequence[str]) -> int | None:
        """The root of ``tan``, which is not the target."""
        if self.root is not None and self.root == self.target:
            raise ParameterError(f"the root {self.root!r} is the target", hint="name another column, or none")
        return None if self.root is None else positions("root", [self.root], names)[0]


def positions(what: str, wanted: Iterable[str], names: Sequence[str]) -> list[int]:
    """The position of each name."""
    place = {name: i for i, name in enumerate(names)}
    odd = [name for name in wanted if name not in place]
    if odd:
        raise UnknownColumnError(
            f"the {what} names {listed(odd)}, not a variable", hint=f"variables are {listed(names)}", columns=odd
        )
    return [place[name] for name in wanted]
