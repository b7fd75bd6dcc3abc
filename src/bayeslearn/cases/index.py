"""What is counted of many cases at once, so that few need to be matched.

    bound(c, s) = Σ_sign min(arcs of c, arcs of s, Σ min(c[key], s[key]) + loose arcs of c and of s)

is never less than the arcs that a case c and a specification s can share, where a key is the sign of an arc with the
kind of its source, of its target, or of both, whichever bounds best, and an arc is loose if such a kind is not told.

    likeness(c, s) = Σ min(c[f], s[f]) / Σ max(c[f], s[f])          in [0, 1], and 1 for what is counted alike

over features f: the kind of each quantity, the key of each arc, its sign alone, its kinds alone, and the attributes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.cases.case import Case
    from bayeslearn.cases.graph import Arc, FunctionGraph, Key

    Postings = dict[Any, tuple[NDArray[np.int64], NDArray[np.int64]]]

SIGNS = (1, -1)

#: Which kinds keys are made of: of both ends, of the source, of the target.
ENDS = ((0, 2), (0,), (2,))


class Index:
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
