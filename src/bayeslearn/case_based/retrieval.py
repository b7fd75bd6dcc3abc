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

from bayeslearn import lazy_imports, validation
from bayeslearn.case_based.function_graph import Case, arcs_text, mapping_text, specification
from bayeslearn.case_based.subgraph_matching import BoundMet, Common, common_part, covered_arcs, embedding
from bayeslearn.errors import EmptyTableError
from bayeslearn.printable import printable
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.reports import Grid, Pairs, Report, Reported, Words
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.case_based.function_graph import Arc, Case, FunctionGraph, Key

    Postings = dict[Any, tuple[NDArray[np.int64], NDArray[np.int64]]]
    from collections.abc import Iterator

    from bayeslearn.case_based.case_base import CaseBase
    from bayeslearn.progress import Reporter
    from bayeslearn.tables.frames import Backend

    Rank = tuple[int, int, float, int]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

### limits of a search


@dataclass(frozen=True)
class SearchProgress:
    """The `detail` of the progress of a search."""

    #: Items that were examined, the largest number of them, and the arcs that the best answer covers.
    n_done: int
    n_total: int
    n_covered: int

    def __str__(self) -> str:
        return f"{self.n_done:,} of {self.n_total:,}, {self.n_covered} influences covered"


class Watch:
    """Decides after every step whether the search continues."""

    def __init__(self, time_limit: float | None, progress: Reporter | None) -> None:
        limit = None if time_limit is None else validation.number("time_limit", time_limit, min_value=0)
        self.end = None if limit is None else time.monotonic() + limit
        self.progress = progress
        #: Why the search ended early; None while it continues.
        self.stop_reason: str | None = None

    def stops(self, step: SearchProgress) -> bool:
        """Whether this step is the last; `stop_reason` names the reason."""
        if self.stop_reason is None and should_stop(self.progress, step.n_done / max(step.n_total, 1), str(step), step):
            self.stop_reason = "stopped by the callback"
        if self.stop_reason is None and self.over():
            self.stop_reason = "time limit"
        return self.stop_reason is not None

    def over(self) -> bool:
        """Whether the time limit is reached."""
        return self.end is not None and time.monotonic() > self.end

    def inner(self) -> Watch:
        """The same time limit for a search within this one, without progress."""
        watch = Watch(None, None)
        watch.end = self.end
        return watch


### counts of all cases


SIGNS = (1, -1)

#: Which kinds keys are made of: of both ends, of the source, of the target.
ENDS = ((0, 2), (0,), (2,))


class CaseIndex:
    """Counts of features of all cases."""

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

    def similarity(self, case: Case) -> NDArray[np.float64]:
        """The similarity of each case to this one."""
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
    """Arcs by sign and the kinds of these ends (0: source, 2: target), if all of them are given."""
    found: Counter[Key] = Counter()
    for key, n in graph.keys.items():
        if all(key[end] is not None for end in ends):
            found[key[0] if 0 in ends else None, key[1], key[2] if 2 in ends else None] += n
    return found


def loose_arcs(graph: FunctionGraph, ends: tuple[int, ...] | None = None) -> Counter[int]:
    """Arcs by sign of which one of these kinds is not given; all arcs by sign if no ends are named."""
    found: Counter[int] = Counter()
    for key, n in graph.keys.items():
        if ends is None or any(key[end] is None for end in ends):
            found[key[1]] += n
    return found


def features_of(case: Case) -> Counter[Any]:
    """The features that similarity compares."""
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
    """For each feature the rows that have it, and its counts."""
    found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for row, counter in enumerate(counts):
        for feature, count in counter.items():
            found[feature].append((row, count))
    return {feature: (pairs[:, 0], pairs[:, 1]) for feature, pairs in ((f, np.array(p)) for f, p in found.items())}


def _per_sign(counts: Iterable[Counter[int]]) -> dict[int, NDArray[np.int64]]:
    rows = list(counts)
    return {sign: np.array([row[sign] for row in rows], dtype=np.int64) for sign in SIGNS}


### retrieval


@dataclass(frozen=True, repr=False)
class Match(Reported):
    """A case compared with a specification."""

    case: Case
    kind: str
    #: Quantity of the case → quantity of the specification.
    mapping: dict[str, str]
    #: Arcs of the specification that the case covers, and those that it does not.
    covered: tuple[Arc, ...]
    uncovered: tuple[Arc, ...]
    #: Arcs of the case that are not in the specification.
    extra: tuple[Arc, ...]
    #: Similarity of the features of both, in [0, 1].
    similarity: float
    #: Whether no mapping of this case covers more arcs.
    is_optimal: bool = True

    @property
    def score(self) -> float:
        """The number of shared arcs by the number of arcs in either."""
        return len(self.covered) / (len(self.covered) + len(self.uncovered) + len(self.extra))

    @property
    def coverage(self) -> float:
        """The share of the specification that is covered."""
        return len(self.covered) / (len(self.covered) + len(self.uncovered))

    def __str__(self) -> str:
        pairs = mapping_text(self.mapping)
        return printable(f"{self.case.name}: {self.kind}, score {self.score:.3g}" + (f", {pairs}" if pairs else ""))

    def __repr__(self) -> str:
        return printable(f"Match({self.case.name}: {self.kind}, score {self.score:.3g})")

    def report(self) -> Report:
        """Return score, mapping and the arcs that are covered, uncovered and extra."""
        pairs = {
            "Match": self.kind, "Score": self.score, "Coverage": self.coverage, "Similarity": self.similarity,
            "Mapping": mapping_text(self.mapping), "Covered": arcs_text(self.covered),
            "Uncovered": arcs_text(self.uncovered), "Extra": arcs_text(self.extra),
        }  # fmt: skip
        return Report(self.case.name, Pairs({name: value for name, value in pairs.items() if value != ""}))

    def to_dict(self) -> dict[str, Any]:
        """Return all values of the match, and the structure of the case, as plain values."""
        return {
            "case": self.case.name, "match": self.kind, "score": self.score, "similarity": self.similarity,
            "mapping": dict(self.mapping), "covered": [str(arc) for arc in self.covered],
            "uncovered": [str(arc) for arc in self.uncovered], "extra": [str(arc) for arc in self.extra],
            "is_optimal": self.is_optimal, "structure": self.case.structure,
        }  # fmt: skip


@dataclass(frozen=True, repr=False)
class RetrievalResult(Reported):
    """The matches of a specification, the best first; `stop_reason` explains why a search ended early."""

    specification: Case
    matches: tuple[Match, ...]
    stop_reason: str | None = None

    @property
    def best(self) -> Match:
        """The best match."""
        return self.matches[0]

    @property
    def is_complete(self) -> bool:
        """Whether no better match exists: the search did not end early, and every match is optimal."""
        return self.stop_reason is None and all(match.is_optimal for match in self.matches)

    def report(self) -> Report:
        """Return the matches with their scores and mappings."""
        n = len(self.specification.function)
        rows = [
            (
                m.case.name,
                m.kind,
                m.score,
                f"{len(m.covered)} of {n}",
                len(m.extra),
                m.similarity,
                mapping_text(m.mapping),
            )
            for m in self.matches
        ]
        head = ["Case", "Match", "Score", "Covered", "Extra", "Similarity", "Mapping"]
        note = Words(f"Search ended early: {self.stop_reason}") if self.stop_reason else None
        return Report(f"{len(rows)} cases for {self.specification.name}", Grid(head, rows), note)

    def to_dict(self) -> dict[str, Any]:
        """Return the specification and all matches as plain values."""
        return {
            "specification": str(self.specification.function), "is_complete": self.is_complete,
            "stop_reason": self.stop_reason, "matches": [match.to_dict() for match in self.matches],
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each match."""
        head = ["case", "match", "score", "coverage", "similarity", "n_covered", "n_extra"]
        rows = (
            (m.case.name, m.kind, m.score, m.coverage, m.similarity, len(m.covered), len(m.extra)) for m in self.matches
        )
        return frame_of_rows(head, rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the arcs that the best case covers (:func:`bayeslearn.plots.plot_function_graph`)."""
        return plots.plot_function_graph(self, ax=ax)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, i: int) -> Match:
        return self.matches[i]


@reports_progress("Comparing cases")
def retrieve(
    base: CaseBase,
    spec: Any,
    *,
    max_results: int = 10,
    time_limit: float | None = None,
    progress: Any = None,
) -> RetrievalResult:
    """Return the best cases for a specification.

    Parameters
    ----------
    base
        The cases; those without a structure are ignored.
    spec
        A case, a function graph, or statements such as ``"Qc, Qh ->+ Qm"``.
    max_results
        The largest number of matches, 10 by default.
    time_limit
        Seconds, after which the search returns its best matches.
    progress
        True for a progress bar, or a function of :class:`~bayeslearn.progress.Progress` with a
        :class:`SearchProgress` as `detail`; if it raises StopIteration, the search returns its best matches.
    """
    validation.integer("max_results", max_results, min_value=1)
    asked = specification(spec)
    if not base.cases:
        raise EmptyTableError("the case base holds no case with a structure", hint="add cases to it")
    watch = Watch(time_limit, progress)
    matches = matches_of(base, asked, max_results, watch)
    return RetrievalResult(asked, tuple(matches) or similar(base, asked, max_results), watch.stop_reason)


def matches_of(base: CaseBase, asked: Case, max_results: int, watch: Watch, looks: int | None = None) -> list[Match]:
    """The best matches that cover an arc, in their order; of at most `looks` cases, the likeliest first."""
    index = base.index
    bounds, similarity = index.bounds(asked.function), index.similarity(asked)
    n, rows = len(asked.function), np.flatnonzero(bounds)
    rows = rows[np.lexsort((rows, -similarity[rows], index.sizes[rows] - bounds[rows], -bounds[rows]))]
    kept: list[tuple[Rank, Match]] = []  # the best so far, in their order
    for i, row in enumerate(rows[:looks].tolist()):
        size, unlike, bound = int(index.sizes[row]), -float(similarity[row]), int(bounds[row])
        needed = 1
        if len(kept) == max_results:
            last = kept[-1][0]
            needed = n - last[0] + ((last[0], size - n + last[0], unlike, row) > last)
        if needed > bound or watch.stops(SearchProgress(i, len(rows), n - kept[0][0][0] if kept else 0)):
            break
        match = compared(base.cases[row], asked, needed, bound, -unlike)
        if match.covered:
            insort(kept, ((len(match.uncovered), len(match.extra), unlike, row), match), key=itemgetter(0))
            del kept[max_results:]
    return [match for _, match in kept]


def similar(base: CaseBase, asked: Case, max_results: int) -> tuple[Match, ...]:
    """The most similar cases, whatever they cover."""
    similarity = base.index.similarity(asked)
    best = np.argsort(-similarity, kind="stable")[:max_results]
    return tuple(_match(base.cases[row], asked, Common({}, 0, is_optimal=True), float(similarity[row])) for row in best)


### one case


def compared(case: Case, asked: Case, needed: int, bound: int, similarity: float) -> Match:
    """The best match of one case that covers `needed` arcs: as a whole, or by the largest common part."""
    function, whole = case.function, asked.function
    is_optimal = True
    if bound == min(len(function), len(whole)):
        try:
            mapping = embedded(function, whole)
        except BoundMet:
            mapping, is_optimal = None, False
        if mapping is not None:
            return _match(case, asked, Common(mapping, bound, is_optimal=True), similarity)
        bound -= is_optimal
    return _match(case, asked, common_part(function, whole, min_arcs=needed, max_arcs=bound), similarity)


def embedded(function: FunctionGraph, whole: FunctionGraph) -> dict[str, str] | None:
    """Either graph as a part of the other, as quantity of the first → quantity of the second."""
    if len(function) <= len(whole):
        return embedding(function, whole)
    back = embedding(whole, function)
    return None if back is None else dict(sorted((a, b) for b, a in back.items()))


def _match(case: Case, asked: Case, common: Common, similarity: float) -> Match:
    covered = covered_arcs(case.function, asked.function, common.mapping)
    done = set(covered)
    extra = [arc for arc in case.function.arcs if _image(arc, common.mapping) not in done]
    kinds = {(0, 0): "exact", (0, 1): "whole", (1, 0): "part", (1, 1): "common"}
    left = tuple(arc for arc in asked.function.arcs if arc not in done)
    kind = kinds[bool(left), bool(extra)] if covered else "similar"
    return Match(case, kind, common.mapping, tuple(covered), left, tuple(extra), similarity, common.is_optimal)


def _image(arc: Arc, mapping: dict[str, str]) -> tuple[str | None, str | None, int]:
    return mapping.get(arc.source), mapping.get(arc.target), arc.sign
