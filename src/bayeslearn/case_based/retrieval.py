"""Cases that do what a specification asks for, the best first.

    exact     the case does exactly this
    whole     the case does all of this, and more
    part      the case does a part of this, and nothing else
    common    a part of the case does a part of this
    similar   nothing is shared; the most similar cases are returned, so that there is an answer

Ranked by the arcs covered, then by the fewest extra arcs, then by similarity, then by name.

    score = covered / (covered + uncovered + extra)           1 for an exact match

Cases are compared in the order of an upper bound, so that most are never compared:

    bound(c, s) = Σ_sign min(arcs of c, arcs of s, Σ min(c[key], s[key]) + loose arcs of c and of s)

is never less than the arcs that a case c and a specification s can share, where a key is the sign of an arc with the
kind of its source, of its target, or of both, whichever bounds best; an arc is loose if such a kind is not given.

    similarity(c, s) = Σ min(c[f], s[f]) / Σ max(c[f], s[f])          in [0, 1], and 1 for equal counts

over features f: the kind of each quantity, the key of each arc, its sign alone, its kinds alone, and the attributes.
"""

from __future__ import annotations

import time
from bisect import insort
from collections import Counter, defaultdict
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.case_based.function_graph import Case, specification
from bayeslearn.case_based.subgraph_matching import BoundMet, Common, common_part, covered_arcs, embedding
from bayeslearn.em import should_stop
from bayeslearn.errors import EmptyTableError
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.case_based.function_graph import Arc, Case, FunctionGraph, Key

    Postings = dict[Any, tuple[NDArray[np.int64], NDArray[np.int64]]]
    from collections.abc import Iterator

    from bayeslearn.case_based.case_base import CaseBase

    Rank = tuple[int, int, float, int]

### what ends a search


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come: what it looked at, of how many at most, and the arcs that the best answer covers."""

    done: int
    of: int
    covered: int


class Watch:
    """Asked after every step whether to go on."""

    def __init__(self, time_limit: float | None, progress: Callable[[SearchProgress], object] | None) -> None:
        limit = None if time_limit is None else validation.number("time_limit", time_limit, min_value=0)
        self.end = None if limit is None else time.monotonic() + limit
        self.progress = progress
        #: Why the search ended early; None while it goes on.
        self.why: str | None = None

    def stops(self, step: SearchProgress) -> bool:
        """Whether this step is the last; then `why` says why."""
        if self.why is None and should_stop(self.progress, step):
            self.why = "it was told to stop"
        if self.why is None and self.over():
            self.why = "the time was up"
        return self.why is not None

    def over(self) -> bool:
        """Whether the time is up."""
        return self.end is not None and time.monotonic() > self.end

    def inner(self) -> Watch:
        """For a search within this one: the same time, and nobody is told."""
        watch = Watch(None, None)
        watch.end = self.end
        return watch


### counts of all cases


SIGNS = (1, -1)

#: Which kinds keys are made of: of both ends, of the source, of the target.
ENDS = ((0, 2), (0,), (2,))


class CaseIndex:
    """Counts of all cases, by what is counted."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.n = len(cases)
        features = [features_of(case) for case in cases]
        self.sizes = np.array([len(case.function) for case in cases], dtype=np.int64)
        self._totals = np.array([f.total() for f in features], dtype=np.int64)
        self._features = _postings(features)
        self._rows = {key: rows for key, (rows, _) in _postings(case.function.keys for case in cases).items()}
        self._keys = [_postings(tight_keys(case.function, ends) for case in cases) for ends in ENDS]
        self._loose = [_per_sign(loose_arcs(case.function, ends) for case in cases) for ends in ENDS]
        self._arcs = _per_sign(loose_arcs(case.function) for case in cases)

    def bounds(self, graph: FunctionGraph) -> NDArray[np.int64]:
        """The most arcs that each case can share with a graph."""
        arcs, total = loose_arcs(graph), np.zeros(self.n, dtype=np.int64)
        counted = [(tight_keys(graph, ends), loose_arcs(graph, ends)) for ends in ENDS]
        for sign in SIGNS:
            most = np.minimum(self._arcs[sign], arcs[sign])
            for (keys, loose), postings, own in zip(counted, self._keys, self._loose, strict=True):
                shared = self._overlap(postings, {key: n for key, n in keys.items() if key[1] == sign})
                most = np.minimum(most, shared + own[sign] + loose[sign])
            total += most
        return total

    def touching(self, graph: FunctionGraph, arcs: Iterable[Arc]) -> NDArray[np.bool_]:
        """Which cases have an arc that can be one of these arcs of a graph."""
        kinds = graph.kinds
        wanted = {(kinds.get(a), sign, kinds.get(b)) for a, b, sign in arcs}
        found = np.zeros(self.n, dtype=bool)
        for key, rows in self._rows.items():
            if any(
                key[1] == want[1] and all(None in {a, b} or a == b for a, b in zip(key, want, strict=True))
                for want in wanted
            ):
                found[rows] = True
        return found

    def likeness(self, case: Case) -> NDArray[np.float64]:
        """How alike each case is to this one."""
        wanted = features_of(case)
        shared = self._overlap(self._features, wanted)
        return shared / (self._totals + wanted.total() - shared)

    def _overlap(self, postings: Postings, wanted: Mapping[Any, int]) -> NDArray[np.int64]:
        """Σ min(counts of each case, counts wanted)."""
        shared = np.zeros(self.n, dtype=np.int64)
        for feature, count in wanted.items():
            if feature in postings:
                rows, counts = postings[feature]
                shared[rows] += np.minimum(counts, count)
        return shared


### counts of one


def tight_keys(graph: FunctionGraph, ends: tuple[int, ...]) -> Counter[Key]:
    """Arcs by sign and the kinds of these ends (0: source, 2: target), where all of them are told."""
    found: Counter[Key] = Counter()
    for key, n in graph.keys.items():
        if all(key[end] is not None for end in ends):
            found[key[0] if 0 in ends else None, key[1], key[2] if 2 in ends else None] += n
    return found


def loose_arcs(graph: FunctionGraph, ends: tuple[int, ...] | None = None) -> Counter[int]:
    """Arcs by sign where one of these kinds is not told; all arcs by sign when no ends are named."""
    found: Counter[int] = Counter()
    for key, n in graph.keys.items():
        if ends is None or any(key[end] is None for end in ends):
            found[key[1]] += n
    return found


def features_of(case: Case) -> Counter[Any]:
    """What likeness compares."""
    graph = case.function
    keys = list(graph.keys.elements())
    return Counter(
        [
            *(("kind", kind) for kind in graph.kind_list),
            *(("arc", *key) for key in keys),
            *(("sign", sign) for _, sign, _ in keys),
            *(("join", a, b) for a, _, b in keys),
            *(("attribute", *pair) for pair in case.attributes.items()),
        ]
    )


### counts of many


def _postings(counts: Iterable[Counter[Any]]) -> Postings:
    """For each feature: the rows that have it, and how often."""
    found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for row, counter in enumerate(counts):
        for feature, count in counter.items():
            found[feature].append((row, count))
    return {feature: (pairs[:, 0], pairs[:, 1]) for feature, pairs in ((f, np.array(p)) for f, p in found.items())}


def _per_sign(counts: Iterable[Counter[int]]) -> dict[int, NDArray[np.int64]]:
    rows = list(counts)
    return {sign: np.array([row[sign] for row in rows], dtype=np.int64) for sign in SIGNS}


### retrieval


@dataclass(frozen=True)
class Match:
    """A case beside a specification."""

    case: Case
    kind: str
    #: Quantity of the case → quantity of the specification.
    mapping: dict[str, str]
    #: Arcs of the specification that the case does, and those that it does not.
    covered: tuple[Arc, ...]
    left_open: tuple[Arc, ...]
    #: Arcs of the case that nobody asked for.
    surplus: tuple[Arc, ...]
    #: How alike both are as bags of features, in [0, 1].
    likeness: float
    #: Whether no mapping of this case covers more.
    certain: bool = True

    @property
    def score(self) -> float:
        """The arcs in common by the arcs in either."""
        return len(self.covered) / (len(self.covered) + len(self.left_open) + len(self.surplus))

    @property
    def coverage(self) -> float:
        """The part of the specification that is covered."""
        return len(self.covered) / (len(self.covered) + len(self.left_open))

    def __str__(self) -> str:
        pairs = ", ".join(f"{a}→{b}" for a, b in self.mapping.items())
        return printable(f"{self.case.name}: {self.kind}, score {self.score:.3g}" + (f", {pairs}" if pairs else ""))


@dataclass(frozen=True)
class RetrievalResult:
    """The matches of a specification, the best first; if the search ended early, `why` says why."""

    specification: Case
    matches: tuple[Match, ...]
    why: str | None = None

    @property
    def best(self) -> Match:
        """The first of them."""
        return self.matches[0]

    @property
    def complete(self) -> bool:
        """Whether nothing better was left out: the search ended by itself, and every match is certain."""
        return self.why is None and all(match.certain for match in self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, i: int) -> Match:
        return self.matches[i]


def retrieve(
    base: CaseBase,
    spec: Any,
    *,
    most: int = 10,
    time_limit: float | None = None,
    progress: Callable[[SearchProgress], object] | None = None,
) -> RetrievalResult:
    """The best cases for a specification.

    Parameters
    ----------
    base
        The cases; those without a structure answer nothing.
    spec
        A case, a function graph, or statements such as ``"Qc, Qh ->+ Qm"``.
    most
        How many matches to return at most.
    time_limit
        Seconds; the best so far are returned when they are over.
    progress
        Called with every :class:`~bayeslearn.case_based.SearchProgress`; raising StopIteration ends the search with the
        best so far.
    """
    validation.integer("most", most, min_value=1)
    asked = specification(spec)
    if not base.cases:
        raise EmptyTableError("the case base holds no case with a structure", hint="add cases to it")
    watch = Watch(time_limit, progress)
    matches = matches_of(base, asked, most, watch)
    return RetrievalResult(asked, tuple(matches) or similar(base, asked, most), watch.why)


def matches_of(base: CaseBase, asked: Case, most: int, watch: Watch, looks: int | None = None) -> list[Match]:
    """The best matches that cover anything, in their order; at most so many cases are looked at, the likeliest."""
    index = base.index
    bounds, likeness = index.bounds(asked.function), index.likeness(asked)
    n, rows = len(asked.function), np.flatnonzero(bounds)
    rows = rows[np.lexsort((rows, -likeness[rows], index.sizes[rows] - bounds[rows], -bounds[rows]))]
    kept: list[tuple[Rank, Match]] = []  # the best so far, in their order
    for i, row in enumerate(rows[:looks].tolist()):
        size, unlike, bound = int(index.sizes[row]), -float(likeness[row]), int(bounds[row])
        needed = 1
        if len(kept) == most:
            last = kept[-1][0]
            needed = n - last[0] + ((last[0], size - n + last[0], unlike, row) > last)
        if needed > bound or watch.stops(SearchProgress(i, len(rows), n - kept[0][0][0] if kept else 0)):
            break
        match = compared(base.cases[row], asked, needed, bound, -unlike)
        if match.covered:
            insort(kept, ((len(match.left_open), len(match.surplus), unlike, row), match), key=itemgetter(0))
            del kept[most:]
    return [match for _, match in kept]


def similar(base: CaseBase, asked: Case, most: int) -> tuple[Match, ...]:
    """The cases most alike, whatever they cover."""
    likeness = base.index.likeness(asked)
    best = np.argsort(-likeness, kind="stable")[:most]
    return tuple(_match(base.cases[row], asked, Common({}, 0, certain=True), float(likeness[row])) for row in best)


### one case


def compared(case: Case, asked: Case, needed: int, bound: int, likeness: float) -> Match:
    """The best match of one case, if it covers as much as needed: as a whole, or the largest common part."""
    function, whole = case.function, asked.function
    certain = True
    if bound == min(len(function), len(whole)):
        try:
            mapping = embedded(function, whole)
        except BoundMet:
            mapping, certain = None, False
        if mapping is not None:
            return _match(case, asked, Common(mapping, bound, certain=True), likeness)
        bound -= certain
    return _match(case, asked, common_part(function, whole, least=needed, most=bound), likeness)


def embedded(function: FunctionGraph, whole: FunctionGraph) -> dict[str, str] | None:
    """Either graph as a part of the other, as quantity of the first → quantity of the second."""
    if len(function) <= len(whole):
        return embedding(function, whole)
    back = embedding(whole, function)
    return None if back is None else dict(sorted((a, b) for b, a in back.items()))


def _match(case: Case, asked: Case, common: Common, likeness: float) -> Match:
    covered = covered_arcs(case.function, asked.function, common.mapping)
    done = set(covered)
    surplus = [arc for arc in case.function.arcs if _image(arc, common.mapping) not in done]
    kinds = {(0, 0): "exact", (0, 1): "whole", (1, 0): "part", (1, 1): "common"}
    left = tuple(arc for arc in asked.function.arcs if arc not in done)
    kind = kinds[bool(left), bool(surplus)] if covered else "similar"
    return Match(case, kind, common.mapping, tuple(covered), left, tuple(surplus), likeness, common.certain)


def _image(arc: Arc, mapping: dict[str, str]) -> tuple[str | None, str | None, int]:
    return mapping.get(arc.source), mapping.get(arc.target), arc.sign
