"""What is counted of many cases at once, so that few need to be matched.

    bound(c, s) = Σ_sign min(arcs of c, arcs of s, Σ min(c[key], s[key]) + loose arcs of c and of s)

is never less than the arcs that a case c and a specification s can share, where a key is (kind, sign, kind) and an arc
is loose if one of its ends may be of any kind.

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
    from bayeslearn.cases.graph import FunctionGraph

    Postings = dict[Any, tuple[NDArray[np.int64], NDArray[np.int64]]]

SIGNS = (1, -1)


class Index:
    """Counts of all cases, by what is counted."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.n = len(cases)
        features = [features_of(case) for case in cases]
        self.sizes = np.array([len(case.function) for case in cases], dtype=np.int64)
        self._totals = np.array([f.total() for f in features], dtype=np.int64)
        self._features = _postings(features)
        self._tight = _postings(tight_keys(case.function) for case in cases)
        self._loose = _per_sign(loose_arcs(case.function) for case in cases)
        self._arcs = _per_sign(all_arcs(case.function) for case in cases)

    def bounds(self, graph: FunctionGraph) -> NDArray[np.int64]:
        """The most arcs that each case can share with a graph."""
        keys, loose, arcs = tight_keys(graph), loose_arcs(graph), all_arcs(graph)
        total = np.zeros(self.n, dtype=np.int64)
        for sign in SIGNS:
            shared = self._overlap(self._tight, {key: n for key, n in keys.items() if key[1] == sign})
            shared += self._loose[sign] + loose[sign]
            total += np.minimum(np.minimum(shared, self._arcs[sign]), arcs[sign])
        return total

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


def tight_keys(graph: FunctionGraph) -> Counter[tuple[str | None, int, str | None]]:
    """(kind, sign, kind) of the arcs whose ends both have a kind."""
    return Counter({key: n for key, n in graph.keys.items() if None not in key})


def loose_arcs(graph: FunctionGraph) -> Counter[int]:
    """Arcs by sign, an end of which may be of any kind."""
    return Counter(sign for a, sign, b in graph.keys.elements() if a is None or b is None)


def all_arcs(graph: FunctionGraph) -> Counter[int]:
    """Arcs by sign."""
    return Counter(arc.sign for arc in graph.arcs)


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
