"""The attributes of concepts, labeled examples, and the statistics of examples.

A row may be a dictionary by attribute name or a sequence in the order of the attributes; many rows may also come as a
Table, a data frame or an array. `None`, NaN, `?` and the empty string are missing, unless declared as states.

    positive   how often each state of each attribute was seen in positive examples
    negative   how often each negative example was seen

The most specific hypothesis follows from the first: an attribute with one state requires it, one with several is `?`.
So examples can be added in any order and any batches, and be removed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Counts
from bayeslearn.errors import (
    DataError,
    EvidenceError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
    listed,
)
from bayeslearn.model_values import NAME
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables import as_table
from bayeslearn.tables.frames import frame_of_rows
from bayeslearn.tables.markers import is_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

#: Codes besides the states 0, 1, …: a missing value, and a value that is no declared state.
MISSING, UNSEEN = -1, -4

#: Attributes that are given by their number.
MOST = 1_000_000
#: Codes of the constraints ? (any value) and ∅ (no value).
ANY, NONE = -2, -3


@dataclass(frozen=True)
class AttributeSpace:
    """Discrete attributes in a fixed order; there are |H| = 1 + Π (k + 1) conjunctions over them.

    >>> AttributeSpace.parse({"sky": ["sunny", "cloudy", "rainy"], "air": ["warm", "cold"]}).n_conjunctions
    13
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names) or len(self.names) != len(self.states):
            raise ParameterError(
                f"expected attributes of different names, each with its states, got {listed(self.names)}"
            )
        for name, states in zip(self.names, self.states, strict=True):
            if not states or len(set(states)) < len(states):
                raise ParameterError(f"attribute '{name}' needs states that differ, got {listed(states)}")

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def parse(cls, given: Any) -> AttributeSpace:
        """From a mapping of names to states, (name, states) pairs, or a Schema of discrete variables.

        A whole number n stands for the Boolean attributes x1 to xn.
        """
        if isinstance(given, AttributeSpace):
            return given
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            return cls.from_literals(
                f"x{i}" for i in range(1, validation.integer("attributes", int(given), min_value=1, max_value=MOST) + 1)
            )
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ParameterError(
                f"attributes must be given by name with their states, got {given!r:.80}",
                hint='write {"sky": ["sunny", "rainy"]}, or how many Boolean attributes there are',
            )
        items = given.items() if isinstance(given, Mapping) else given
        pairs = [item if isinstance(item, tuple) else _variable(item) for item in items]
        return cls(tuple(name for name, _ in pairs), tuple(tuple(states) for _, states in pairs))

    @classmethod
    def from_literals(cls, names: Iterable[str]) -> AttributeSpace:
        """Boolean attributes: `x` required True is the literal x, required False is ¬x, and both at once is ∅."""
        names = tuple(names)
        return cls(names, ((False, True),) * len(names))

    @classmethod
    def from_rows(cls, rows: Sequence[Any], names: Sequence[str] | None = None) -> AttributeSpace:
        """The attributes and states that occur in some rows, in the order they occur."""
        columns = _columns(rows, names)
        states = {name: dict.fromkeys(v for v in column if not is_missing(v)) for name, column in columns.items()}
        for name, found in states.items():
            if not found:
                raise MissingValuesError(
                    f"attribute '{name}' has no value in any row", hint="leave it out", column=name
                )
        return cls(tuple(states), tuple(tuple(found) for found in states.values()))

    @property
    def n_conjunctions(self) -> int:
        """The number of conjunctions: each attribute a state or `?`, and one that covers nothing."""
        return 1 + math.prod(len(states) + 1 for states in self.states)

    def to_dict(self) -> dict[str, Any]:
        """Return names and states as plain values."""
        odd = [state for states in self.states for state in states if not isinstance(state, NAME)]
        if odd or not all(isinstance(name, str) for name in self.names):
            found = (*odd, *self.names)[0]
            raise ParameterError(f"names and states in a file are texts, numbers or truth values, not {found!r:.60}")
        return {"names": list(self.names), "states": [list(states) for states in self.states]}

    @classmethod
    def checked(cls, reader: Reader, entry: Any) -> AttributeSpace:
        """Return the attributes of a model file."""
        names, states = reader.entries(entry, {"names": [str], "states": [[NAME]]}, "attributes")
        return cls(tuple(names), tuple(map(tuple, states)))

    def encode(self, rows: Any, *, unseen: bool = False) -> NDArray[np.intp]:
        """Codes of shape (n, attributes); a value that is no state is an error, or UNSEEN where that is allowed."""
        if hasattr(rows, "schema") and hasattr(rows, "codes"):
            columns: dict[str, Any] = {name: _decoded(rows, name) for name in self.names}
        else:
            columns = _columns(rows, self.names)
        codes = [self._codes(i, columns[name], unseen=unseen) for i, name in enumerate(self.names)]
        return np.stack(codes, axis=1)

    def _codes(self, i: int, column: Sequence[Any], *, unseen: bool) -> NDArray[np.intp]:
        known = {state: code for code, state in enumerate(self.states[i])}
        try:
            codes = np.array([known.get(value, UNSEEN) for value in column], dtype=np.intp)
        except TypeError:
            raise ParameterError(
                f"attribute '{self.names[i]}' holds values that cannot be states, such as lists"
            ) from None
        for row in np.flatnonzero(codes == UNSEEN).tolist():
            if is_missing(column[row]):
                codes[row] = MISSING
            elif not unseen:
                raise UnknownStateError(
                    f"attribute '{self.names[i]}' has value {column[row]!r} in row {row}, not among its states",
                    hint=f"its states are {listed(self.states[i])}; declare every state it may have",
                    column=self.names[i],
                    value=column[row],
                )
        return codes

    def decode(self, codes: Iterable[int]) -> dict[str, Any]:
        """A row by name; missing cells are None."""
        cells = zip(self.names, self.states, codes, strict=True)
        return {name: states[code] if code >= 0 else None for name, states, code in cells}


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value."""
    if value is None or is_marker(value):
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}  # pandas has objects of its own


### inside


def _variable(variable: Any) -> tuple[str, Any]:
    if not hasattr(variable, "states"):
        name = getattr(variable, "name", variable)
        raise ParameterError(
            f"a concept needs discrete attributes, and '{name}' has no states",
            hint="declare the column as discrete, or discretize it",
        )
    return variable.name, variable.states


def _decoded(table: Any, name: str) -> list[Any]:
    if name not in table.schema.names:
        raise UnknownColumnError(f"no column is called '{name}'", hint=f"the columns are {listed(table.schema.names)}")
    states = [*table.schema[name].states, None]  # code −1 is missing
    return [states[code] for code in table.codes_of(name)]


def _columns(rows: Any, names: Sequence[str] | None) -> dict[str, Sequence[Any]]:
    """Columns by name, from a frame or from rows."""
    if hasattr(rows, "columns"):
        return {name: list(_column(rows, name)) for name in (rows.columns if names is None else names)}
    if len(rows) and isinstance(rows[0], Mapping):
        return {name: [_cell(row, name, i) for i, row in enumerate(rows)] for name in names or rows[0]}
    if names is None:
        names = [f"x{i}" for i in range(len(rows[0]))] if len(rows) else []
    for i, row in enumerate(rows):
        if isinstance(row, str | Mapping) or len(row) != len(names):
            raise ShapeError(f"expected {len(names)} attribute values in row {i}, got {row!r:.80}")
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise UnknownColumnError(f"no column is called '{name}'", hint=f"the columns are {listed(list(frame.columns))}")
    return frame[name]


def _cell(row: Any, name: str, i: int) -> Any:
    if not isinstance(row, Mapping):
        raise ShapeError(f"row {i} is not given by attribute name as the first one is, got {row!r:.80}")
    if name not in row:
        raise UnknownColumnError(f"row {i} has no attribute '{name}'", hint=f"it has {listed(list(row))}")
    return row[name]


### labeled examples


#: Labels that mean "belongs to the concept" if `positive` is not given.
YES = ("yes", "true", "positive", "pos", "+", "⊕", "y", "t")


@dataclass(frozen=True, eq=False, repr=False)
class Examples(Reported):
    """Rows of attribute values, and whether each belongs to the concept.

    >>> examples = Examples.from_rows([{"sky": "sunny"}, {"sky": "rainy"}], [True, False])
    >>> len(examples), examples.attributes.states
    (2, (('sunny', 'rainy'),))
    """

    attributes: AttributeSpace
    codes: NDArray[np.intp]
    labels: NDArray[np.bool_]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", validation.owned(self.codes))
        object.__setattr__(self, "labels", validation.owned(self.labels))
        if self.labels.dtype != np.bool_ or self.labels.ndim != 1:
            raise ParameterError(
                f"labels must be true or false for each example, got shape {self.labels.shape} of {self.labels.dtype}"
            )
        if self.codes.shape != (len(self.labels), len(self.attributes)):
            raise ShapeError(
                f"expected codes of {len(self.labels)} examples by {len(self.attributes)} attributes, "
                f"got shape {self.codes.shape}"
            )
        for name, states, codes in zip(self.attributes.names, self.attributes.states, self.codes.T, strict=True):
            known = validation.integers(f"codes of {name}", codes)
            seen = np.where((known == MISSING) | (known == UNSEEN), 0, known)
            validation.indices(f"codes of {name}", seen, len(states))

    @classmethod
    def from_rows(cls, rows: Any, labels: Sequence[Any], *, attributes: Any = None) -> Examples:
        """From rows and true/false labels; the attributes are those seen in the rows when not declared."""
        known = AttributeSpace.from_rows(rows) if attributes is None else AttributeSpace.parse(attributes)
        codes = known.encode(rows)
        if len(codes) != len(labels):
            raise ShapeError(f"expected a label for each of {len(codes)} rows, got {len(labels)}")
        for i, label in enumerate(labels):
            if not isinstance(label, bool | np.bool_):
                raise ParameterError(
                    f"a label must be True or False, got {label!r} for example {i}",
                    hint='compare with the label of the concept, as in [y == "yes" for y in labels]',
                )
        return cls(known, codes, np.array(labels, dtype=bool))

    @classmethod
    def from_table(cls, table: Any, target: str, *, positive: Hashable = None) -> Examples:
        """From a Table of discrete columns: `target` holds the labels, every other column is an attribute.

        `positive` is the label of the concept; see :func:`find_positive_label` when it is not given.
        """
        if target not in table.schema.names:
            raise UnknownColumnError(
                f"no column is called '{target}'", hint=f"the columns are {listed(table.schema.names)}", column=target
            )
        if table.sample_weight is not None:
            table = table.take(table.sample_weight > 0)
        codes = table.codes_of(target)
        states = table.schema[target].states
        concept = states.index(find_positive_label(states, positive))
        if (codes == MISSING).any():
            row = int(np.argmax(codes == MISSING))
            raise MissingValuesError(f"row {row} has no label in column '{target}'", hint="leave it out", row=row)
        attributes = AttributeSpace.parse(variable for variable in table.schema if variable.name != target)
        return cls(attributes, attributes.encode(table), codes == concept)

    @classmethod
    def from_data(cls, data: Any, target: Any = None, *, positive: Hashable = None) -> Examples:
        """Return examples unchanged, or those of a table whose labels are a column or a list.

        >>> rows = {"sky": ["sunny", "rainy"], "warm": ["yes", "no"], "swim": ["yes", "no"]}
        >>> [inside for _, inside in Examples.from_data(rows, "swim")]
        [True, False]
        """
        if isinstance(data, Examples):
            return data
        if target is None:
            raise ParameterError("the labels are not given", hint='name their column: target="swim", or give a list')
        table = as_table(data)
        if isinstance(target, str):
            return cls.from_table(table, target, positive=positive)
        labels = list(target)
        if len(labels) != table.n_rows:
            raise ShapeError(f"expected a label for each of {table.n_rows} rows, got {len(labels)}")
        concept = find_positive_label(list(dict.fromkeys(labels)), positive)
        attributes = AttributeSpace.parse(table.schema)
        return cls(attributes, attributes.encode(table), np.array([label == concept for label in labels]))

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], bool]]:
        return ((self.attributes.decode(row), bool(label)) for row, label in zip(self.codes, self.labels, strict=True))

    def only(self, keep: Any) -> Examples:
        """Some of them: a mask, a slice or positions."""
        return Examples(self.attributes, self.codes[keep], self.labels[keep])

    def drop_missing(self) -> Examples:
        """The examples without missing values."""
        return self.only((self.codes != MISSING).all(axis=1))

    def drop_conflicts(self) -> Examples:
        """The examples that some conjunction is consistent with: each that rules out the rest is dropped, in order."""
        from bayeslearn.hypotheses.concept_learning.conjunctions import keep_consistent  # noqa: PLC0415 - it reads examples

        return self.only(keep_consistent(self))

    def complete(self) -> Examples:
        """The examples, if no value is missing: what a missing value would rule out is unknown."""
        missing = self.codes == MISSING
        if missing.any():
            row, column = (int(i) for i in np.argwhere(missing)[0])
            raise MissingValuesError(
                f"example {row} has no value for attribute '{self.attributes.names[column]}'",
                hint="drop the example, or fill in the value",
                row=row,
                column=self.attributes.names[column],
            )
        return self

    def report(self) -> Report:
        """Return the examples with their labels."""
        rows = [("positive" if label else "negative", *row.values()) for row, label in self]
        title = f"{len(self):,} examples, {int(self.labels.sum()):,} positive"
        return Report(title, Grid(["Label", *self.attributes.names], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return rows and labels as plain values."""
        return {"rows": [row for row, _ in self], "labels": self.labels.tolist()}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a column for each attribute and one of the labels, `positive`."""
        rows = [(*row.values(), label) for row, label in self]
        return frame_of_rows([*self.attributes.names, "positive"], rows, backend)

    def describe(self, i: int) -> str:
        """Return one example as text."""
        values = ", ".join(str(value) for value in self.attributes.decode(self.codes[i]).values())
        return f"example {i} ({values}; {'positive' if self.labels[i] else 'negative'})"


def find_positive_label(labels: Sequence[Any], positive: Any = None) -> Any:
    """Return the label of the concept: the named one, else one that means yes, else the later in sorted order."""
    if len(labels) != 2:
        raise DataError(
            f"a concept has two labels, got {len(labels)}: {listed(list(labels))}",
            hint="relabel the examples as inside or outside the concept",
        )
    if positive is not None:
        if positive not in list(labels):
            raise ParameterError(f"no example is labeled {positive!r}", hint=f"the labels are {listed(list(labels))}")
        return positive
    says_yes = [label for label in labels if isinstance(label, str) and label.lower() in YES]
    return says_yes[0] if len(says_yes) == 1 else max(labels)


### statistics


@dataclass(frozen=True)
class ConceptStatistics:
    """Counts of states (all attributes in one row, one after the other) and of negative rows."""

    positive: Counts
    negative: Mapping[tuple[int, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "negative", dict(self.negative))

    @classmethod
    def zero(cls, attributes: AttributeSpace) -> ConceptStatistics:
        """No example."""
        return cls(Counts.zero((sum(len(states) for states in attributes.states),)))

    @classmethod
    def collect(cls, examples: Examples) -> ConceptStatistics:
        """The statistics of complete examples."""
        sizes = [len(states) for states in examples.attributes.states]
        starts = np.cumsum([0, *sizes[:-1]])
        cells = (examples.codes[examples.labels] + starts).ravel()
        positive = Counts(np.bincount(cells, minlength=sum(sizes)).astype(float))
        return cls(positive, Counter(tuple(row) for row in examples.codes[~examples.labels].tolist()))

    def __add__(self, other: ConceptStatistics) -> ConceptStatistics:
        return ConceptStatistics(self.positive + other.positive, Counter(self.negative) + Counter(other.negative))

    def __sub__(self, other: ConceptStatistics) -> ConceptStatistics:
        left = Counter(self.negative)
        left.subtract(other.negative)
        if any(n < 0 for n in left.values()):
            raise EvidenceError(
                "a negative example was removed that had not been added", hint="remove only what was added"
            )
        return ConceptStatistics(self.positive - other.positive, +left)

    def specific(self, attributes: AttributeSpace) -> NDArray[np.intp]:
        """Codes of the most specific hypothesis that covers every positive example."""
        sizes = [len(states) for states in attributes.states]
        seen = np.split(self.positive.n > 0, np.cumsum(sizes[:-1]))
        return np.array([NONE if not s.any() else int(s.argmax()) if s.sum() == 1 else ANY for s in seen])

    def negatives(self, attributes: AttributeSpace) -> NDArray[np.intp]:
        """The different negative examples, as codes."""
        return np.array(list(self.negative), dtype=np.intp).reshape(-1, len(attributes))
