"""Candidate elimination: all conjunctions consistent with the examples, represented by their boundaries.

    VS = { h : s ⊑ h ⊑ g for some g in G }       s: the most specific member       G: the most general members

For conjunctions the specific boundary is one hypothesis s, which follows from the positive examples; a member is then
any hypothesis above s that leaves out every negative example. G, the size and the votes follow from s and the negative
examples, none of them by listing the members. G can be exponentially large, so it is computed only when asked for. The
space is empty exactly when s covers a negative example.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.codec import Saved
from bayeslearn.distributions import Counts
from bayeslearn.errors import CapacityError, InconsistentDataError, ParameterError, option
from bayeslearn.hypotheses.concept_learning import explanation
from bayeslearn.hypotheses.concept_learning import generality_lattice as lattice
from bayeslearn.hypotheses.concept_learning.conjunctions import Conjunction, conflicts_in_order, covering
from bayeslearn.hypotheses.concept_learning.examples import (
    ANY,
    MISSING,
    NONE,
    UNSEEN,
    AttributeSpace,
    ConceptStatistics,
    Examples,
)
from bayeslearn.model_values import ARRAY
from bayeslearn.reports import Bars, Grid, Pairs, Report, Reported, Words
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concept_learning.explanation import VoteExplanation
    from bayeslearn.hypotheses.concept_learning.generality_lattice import Weight
    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True)
class Vote(Reported):
    """The members (or their weight) that predict positive, that predict negative, and all members.

    >>> vote = Vote(yes=2, no=4, total=6)
    >>> vote.majority, vote.unanimous, round(vote.share, 3)
    (False, None, 0.333)
    """

    yes: Weight
    no: Weight
    total: Weight

    @property
    def share(self) -> float:
        """The share of all votes for positive: P(positive|D) when members are weighted by their posterior."""
        return float(self.yes / self.total)

    @property
    def undecided(self) -> Weight:
        """The votes that depend on missing values."""
        return self.total - self.yes - self.no

    @property
    def majority(self) -> bool | None:
        """What more than half predict; None if no side has more than half."""
        return True if 2 * self.yes > self.total else False if 2 * self.no > self.total else None

    @property
    def unanimous(self) -> bool | None:
        """What all predict; None if they differ."""
        return True if self.yes == self.total else False if self.no == self.total else None

    @property
    def verdict(self) -> str:
        """The unanimous answer, or the majority's with its share of the votes for yes."""
        words = {True: "yes", False: "no", None: "undecided"}
        if self.unanimous is not None:
            return f"{words[self.unanimous]}, unanimously"
        return f"{words[self.majority]}, {self.share:.0%} vote yes"

    def report(self) -> Report:
        """Return the votes and the verdict."""
        votes = {"Yes": self.yes, "No": self.no, "Total": self.total}
        return Report(f"Vote: {self.verdict}", Pairs(votes), Bars({"Share of yes": self.share}))

    def to_dict(self) -> dict[str, Any]:
        """Return votes, share and verdict as plain values."""
        votes = {name: plain_number(getattr(self, name)) for name in ("yes", "no", "total")}
        return {**votes, "share": self.share, "verdict": self.verdict}


@dataclass(frozen=True, repr=False)
class VersionSpace(Saved, Reported, kind="version space"):
    """The conjunctions that are consistent with every example; begin with :meth:`from_attributes`.

    >>> weather = {"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}
    >>> space = VersionSpace.from_attributes(weather).update(["sunny", "warm"], True).update(["rainy", "cold"], False)
    >>> space.specific, space.general, space.size
    (⟨sunny, warm⟩, (⟨?, warm⟩, ⟨sunny, ?⟩), 3)
    """

    attributes: AttributeSpace
    statistics: ConceptStatistics

    @classmethod
    def from_attributes(cls, attributes: Any) -> VersionSpace:
        """Every conjunction over these attributes: no example yet."""
        attributes = AttributeSpace.parse(attributes)
        return cls(attributes, ConceptStatistics.zero(attributes))

    @classmethod
    def fit(cls, data: Any, target: Any = None, *, positive: Any = None) -> VersionSpace:
        """Return the version space of :class:`Examples`, or of a table with labels (:meth:`Examples.from_data`).

        >>> from bayeslearn import datasets
        >>> VersionSpace.fit(datasets.load_table("enjoy-sport"), "enjoy_sport").size
        6
        """
        examples = Examples.from_data(data, target, positive=positive)
        return cls.from_attributes(examples.attributes).update_many(examples)

    def __repr__(self) -> str:
        return f"VersionSpace(s={self.specific}, {sum(self.statistics.negative.values())} negative examples)"

    # -- examples in and out

    def update(self, row: Any, label: bool) -> VersionSpace:  # noqa: FBT001 - a label is what it is
        """One more example."""
        return self.update_many([row], [label])

    def update_many(self, rows: Any, labels: Sequence[Any] | None = None) -> VersionSpace:
        """More examples (or :class:`Examples`); the same result as one after the other, in any order."""
        examples = self._examples(rows, labels)
        conflict = next(conflicts_in_order(examples, *self._codes), None)
        if conflict is not None:
            raise InconsistentDataError(
                f"no conjunction is consistent with {examples.describe(conflict.position)} and those before it: "
                f"{conflict.reason}",
                hint=f"drop such examples ({option('conflicts', 'drop', command='--drop-conflicts')}), "
                "allow for noise, or look for a wrong label",
                position=conflict.position,
            )
        return replace(self, statistics=self.statistics + ConceptStatistics.collect(examples))

    def remove(self, row: Any, label: bool) -> VersionSpace:  # noqa: FBT001 - a label is what it is
        """The version space as if this example had not been seen."""
        return self.remove_many([row], [label])

    def remove_many(self, rows: Any, labels: Sequence[Any] | None = None) -> VersionSpace:
        """The version space as if these examples had not been seen."""
        return replace(self, statistics=self.statistics - ConceptStatistics.collect(self._examples(rows, labels)))

    def steps(self, examples: Examples) -> Iterator[VersionSpace]:
        """The version space after each example, for following the algorithm."""
        space = self
        for i in range(len(examples)):
            space = space.update_many(examples.only([i]))
            yield space

    def __add__(self, other: VersionSpace) -> VersionSpace:
        """The hypotheses that are in both: the version space of both sets of examples."""
        self._require_same(other)
        merged = replace(self, statistics=self.statistics + other.statistics)
        s, negatives = merged._codes
        if covering(s[None, :], negatives).any():
            raise InconsistentDataError("the two version spaces have no hypothesis in common")
        return merged

    def __sub__(self, other: VersionSpace) -> VersionSpace:
        """The version space without the examples of `other`."""
        self._require_same(other)
        return replace(self, statistics=self.statistics - other.statistics)

    # -- members

    @cached_property
    def specific(self) -> Conjunction:
        """The one most specific member s; Find-S outputs it."""
        return Conjunction(self.attributes, tuple(self._codes[0].tolist()))

    @cached_property
    def general(self) -> tuple[Conjunction, ...]:
        """The most general members G."""
        found = lattice.most_general(*self._problem())
        top = [Conjunction(self.attributes, self._filled(g)) for g in found] or [self.specific]
        return tuple(sorted(top, key=lambda g: g.codes))

    @cached_property
    def size(self) -> int:
        """How many hypotheses are in it, counted without listing them."""
        return int(self._weight(1))

    @property
    def converged(self) -> bool:
        """Whether one hypothesis is left."""
        return self.size == 1

    def __contains__(self, h: object) -> bool:
        if not isinstance(h, Conjunction) or h.attributes != self.attributes:
            return False
        return self.specific <= h and not covering(np.array([h.codes]), self._codes[1]).any()

    def contains(self, h: Conjunction) -> bool:
        """Whether a hypothesis is consistent with every example (also `h in space`)."""
        return h in self

    def members(self) -> Iterator[Conjunction]:
        """Every hypothesis in it, one at a time, the most specific first."""
        if self._nothing:
            yield self.specific
        for codes in lattice.solutions(*self._problem()):
            yield Conjunction(self.attributes, codes)

    # -- reports

    def report(self) -> Report:
        """Return the boundaries, the number of members and of examples; of large spaces without what takes too long."""
        numbers = {
            "Attributes": list(self.attributes.names), "Hypotheses": self.attributes.n_conjunctions,
            "Consistent": self._or_reason(lambda: self.size), "Positive examples": self.n_positive,
            "Negative examples": self.n_negative,
        }  # fmt: skip
        general = self._or_reason(lambda: self.general)
        rows = [("S", *self.specific.constraints)]
        rows += [("G", *g.constraints) for g in general] if isinstance(general, tuple) else []
        boundaries = Grid(["Boundary", *self.attributes.names], rows, "Boundaries")
        note = general if isinstance(general, str) else None
        title = f"Version space of {numbers['Consistent']:,} hypotheses" if note is None else "Version space"
        return Report(title, Pairs(numbers), boundaries, Words(note, "General boundary") if note else None)

    def to_dict(self) -> dict[str, Any]:
        """Return boundaries and numbers as plain values; None for what takes too long to compute."""
        general, size = self._or_reason(lambda: self.general), self._or_reason(lambda: self.size)
        return {
            "attributes": list(self.attributes.names), "n_examples": self.n_positive + self.n_negative,
            "n_positive": self.n_positive, "n_hypotheses": self.attributes.n_conjunctions,
            "n_consistent": size if isinstance(size, int) else None, "specific": list(self.specific.constraints),
            "general": [list(g.constraints) for g in general] if isinstance(general, tuple) else None,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each member of the boundaries."""
        rows = [("S", *self.specific.constraints), *(("G", *g.constraints) for g in self.general)]
        return frame_of_rows(["boundary", *self.attributes.names], rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the members from specific to general (:func:`bayeslearn.plots.plot_version_space`)."""
        return plots.plot_version_space(self, ax=ax)

    @property
    def n_positive(self) -> int:
        """The number of positive examples."""
        return int(self.statistics.positive.n[: len(self.attributes.states[0])].sum())

    @property
    def n_negative(self) -> int:
        """The number of negative examples."""
        return int(sum(self.statistics.negative.values()))

    @staticmethod
    def _or_reason(value: Callable[[], Any]) -> Any:
        """A value, or the sentence that explains why it takes too long."""
        try:
            return value()
        except CapacityError as error:
            return error.message

    # -- votes on new rows

    def vote(self, row: Any, *, favor: float | Fraction = 1) -> Vote:
        """The number of members that predict positive, and of those that predict negative.

        `favor` weights the votes by a prior P(h) ∝ favor^(number of required attributes): above 1 specific members
        count more, below 1 general ones, 1 gives every member one vote. Members whose prediction depends on missing
        values of the row are counted as undecided.
        """
        return self.votes([row], favor=favor)[0]

    def votes(self, rows: Any, *, favor: float | Fraction = 1) -> list[Vote]:
        """The vote on each of several rows."""
        weight = _exact(favor)
        total = self._weight(weight)
        seen = list(map(tuple, self._as_seen(rows).tolist()))
        votes = {}
        for x in set(seen):
            yes, maybe = (lattice.count(*self._problem(weight, f(x))) for f in (self._surely, self._possibly))
            votes[x] = Vote(yes, total - maybe, total)
        return [votes[x] for x in seen]

    def explain(self, row: Any) -> VoteExplanation:
        """Return the vote on a row, and the constraints of the boundaries that it violates.

        >>> weather = {"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}
        >>> space = VersionSpace.from_attributes(weather).update(["sunny", "warm"], True)
        >>> space.explain(["sunny", "cold"]).vote.verdict
        'undecided, 50% vote yes'
        """
        return explanation.explain(self, row)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the attributes and the counts of the examples as plain values.

        {"attributes": {"names", "states"}, "positive": counts of all states, one attribute after the other,
         "negative": {"rows": codes of the different rows, "counts"}}
        """
        rows, evidence = self.statistics.negatives(self.attributes), self.statistics
        negative = {"rows": rows, "counts": np.array(list(evidence.negative.values()), np.int64)}
        return {"attributes": self.attributes.to_dict(), "positive": evidence.positive.n, "negative": negative}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> VersionSpace:
        """Return the version space of a document, all of which is checked."""
        keys: dict[str, Any] = {"attributes": dict, "positive": ARRAY, "negative": dict}
        entry, positive, negative = reader.entries(document, keys, "a model")
        attributes = AttributeSpace.checked(reader, entry)
        sizes = [len(states) for states in attributes.states]
        counts = reader.whole_numbers(positive, "positive", (sum(sizes),))
        per_attribute = np.add.reduceat(counts, np.cumsum([0, *sizes[:-1]]))
        if (per_attribute != per_attribute[0]).any():
            reader.wrong("its attributes have different numbers of positive examples")
        rows, times = reader.entries(negative, {"rows": ARRAY, "counts": ARRAY}, "negative examples")
        n = reader.whole_numbers(times, "counts")
        seen = reader.whole_numbers(rows if n.size else [[0] * len(sizes)], "rows", (max(n.size, 1), len(sizes)))
        codes = [tuple(row) for row in seen.tolist()] if n.size else []
        if n.ndim != 1 or (n < 1).any() or (seen >= np.array(sizes)).any() or len(set(codes)) < len(codes):
            reader.wrong("its negative examples are not rows of states, each with a count of at least 1")
        space = cls(
            attributes, ConceptStatistics(Counts(counts.astype(float)), dict(zip(codes, n.tolist(), strict=True)))
        )
        if covering(space._codes[0][None, :], space._codes[1]).any():
            reader.wrong("no conjunction is consistent with all of its examples")
        return space

    # -- inside

    @cached_property
    def _codes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Codes of s, and of the negative examples."""
        return self.statistics.specific(self.attributes), self.statistics.negatives(self.attributes)

    @property
    def _nothing(self) -> bool:
        """Whether no positive example was seen, so that ⟨∅, …⟩ is still a member."""
        return bool((self._codes[0] == NONE).any())

    @cached_property
    def _states(self) -> tuple[tuple[int, ...], ...]:
        """The states that a member may require of each attribute."""
        sizes = (len(states) for states in self.attributes.states)
        choices = zip(self._codes[0].tolist(), sizes, strict=True)
        return tuple(tuple(range(k)) if s == NONE else () if s == ANY else (s,) for s, k in choices)

    def _problem(
        self, weight: Weight = 1, allowed: tuple[tuple[int, ...], ...] | None = None
    ) -> tuple[lattice.Options, frozenset[lattice.Clause]]:
        options = [dict.fromkeys(states, weight) for states in (self._states if allowed is None else allowed)]
        return options, lattice.clauses_of(options, self._codes[1])

    def _weight(self, weight: Weight) -> Weight:
        empty = weight ** len(self.attributes) if self._nothing else 0
        return lattice.count(*self._problem(weight)) + empty

    def _as_seen(self, rows: Any) -> NDArray[np.intp]:
        """Codes of rows, with what no member may require made the same, so that rows alike in the rest are equal."""
        codes = self.attributes.encode(rows, unseen=True)
        for column, states in zip(codes.T, self._states, strict=True):
            known = np.isin(column, states)
            column[~known & ~((column == MISSING) & bool(states))] = UNSEEN
        return codes

    def _surely(self, x: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """What a member may require and still cover x, whatever its missing cells hold."""
        return tuple((v,) if v in states else () for states, v in zip(self._states, x, strict=True))

    def _possibly(self, x: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """What a member may require and still cover x for some values of its missing cells."""
        pairs = zip(self._states, self._surely(x), x, strict=True)
        return tuple(states if v == MISSING else sure for states, sure, v in pairs)

    def _filled(self, required: dict[int, int]) -> tuple[int, ...]:
        return tuple(required.get(i, ANY) for i in range(len(self.attributes)))

    def _examples(self, rows: Any, labels: Sequence[Any] | None) -> Examples:
        if isinstance(rows, Examples):
            if rows.attributes != self.attributes:
                raise ParameterError("the examples have other attributes than the version space")
            return rows.complete()
        if labels is None:
            raise ParameterError("rows need labels", hint="pass `labels`, or Examples that hold them")
        return Examples.from_rows(rows, labels, attributes=self.attributes).complete()

    def _require_same(self, other: VersionSpace) -> None:
        if self.attributes != other.attributes:
            raise ParameterError("version spaces add only over the same attributes")


def plain_number(value: Weight) -> int | float:
    """A number of votes as JSON has it."""
    return int(value) if value == int(value) else float(value)


def _exact(favor: float | Fraction) -> Weight:
    if not isinstance(favor, Fraction):
        favor = Fraction(validation.number("favor", favor, above=0))
    return favor.numerator if favor.denominator == 1 else favor
