"""Labelled examples of a concept, coded once and then given to any learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError, MissingValuesError, ParameterError, ShapeError, UnknownColumnError, listed
from bayeslearn.hypotheses.concepts.attributes import MISSING, Attributes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

#: Words that mean "belongs to the concept" when the user does not say which label does.
YES = ("yes", "true", "positive", "pos", "+", "⊕", "y", "t")


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of attribute values, and whether each belongs to the concept.

    >>> examples = Examples.of([{"sky": "sunny"}, {"sky": "rainy"}], [True, False])
    >>> len(examples), examples.attributes.states
    (2, (('sunny', 'rainy'),))
    """

    attributes: Attributes
    codes: NDArray[np.intp]
    labels: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.labels), len(self.attributes)):
            raise ShapeError(
                f"expected codes of {len(self.labels)} examples by {len(self.attributes)} attributes, "
                f"got shape {self.codes.shape}"
            )

    @classmethod
    def of(cls, rows: Any, labels: Sequence[Any], *, attributes: Any = None) -> Examples:
        """From rows and true/false labels; the attributes are those seen in the rows when not declared."""
        known = Attributes.seen(rows) if attributes is None else Attributes.of(attributes)
        codes = known.encode(rows)
        if len(codes) != len(labels):
            raise ShapeError(f"expected a label for each of {len(codes)} rows, got {len(labels)}")
        for i, label in enumerate(labels):
            if not isinstance(label, bool | np.bool_):
                raise ParameterError(
                    f"a label must be True or False, got {label!r} for example {i}",
                    hint='say which label is the concept, as in [y == "yes" for y in labels]',
                )
        return cls(known, codes, np.array(labels, dtype=bool))

    @classmethod
    def from_table(cls, table: Any, target: str, *, positive: Hashable = None) -> Examples:
        """From a Table of discrete columns: `target` holds the labels, every other column is an attribute.

        `positive` is the label of the concept; see :func:`positive_label` when it is not given.
        """
        if target not in table.schema.names:
            raise UnknownColumnError(
                f"no column is called '{target}'", hint=f"the columns are {listed(table.schema.names)}", column=target
            )
        if table.weights is not None:
            table = table.take(table.weights > 0)
        codes = table.code(target)
        states = table.schema[target].states
        concept = states.index(positive_label(states, positive))
        if (codes == MISSING).any():
            row = int(np.argmax(codes == MISSING))
            raise MissingValuesError(f"row {row} has no label in column '{target}'", hint="leave it out", row=row)
        attributes = Attributes.of(variable for variable in table.schema if variable.name != target)
        return cls(attributes, attributes.encode(table), codes == concept)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], bool]]:
        return ((self.attributes.decode(row), bool(label)) for row, label in zip(self.codes, self.labels, strict=True))

    def only(self, keep: Any) -> Examples:
        """Some of them: a mask, a slice or positions."""
        return Examples(self.attributes, self.codes[keep], self.labels[keep])

    def complete(self) -> Examples:
        """Themselves, if no cell is missing: a learner cannot tell what a hole would have ruled out."""
        holes = self.codes == MISSING
        if holes.any():
            row, column = (int(i) for i in np.argwhere(holes)[0])
            raise MissingValuesError(
                f"example {row} has no value for attribute '{self.attributes.names[column]}'",
                hint="leave the example out, or fill the cell in",
                row=row,
                column=self.attributes.names[column],
            )
        return self

    def told(self, i: int) -> str:
        """One example, for a message."""
        values = ", ".join(str(value) for value in self.attributes.decode(self.codes[i]).values())
        return f"example {i} ({values}; {'positive' if self.labels[i] else 'negative'})"


def positive_label(labels: Sequence[Any], positive: Any = None) -> Any:
    """Which of two labels is the concept: the one named, else one that says yes, else the later in sorted order."""
    if len(labels) != 2:
        raise DataError(
            f"a concept has two labels, got {len(labels)}: {listed(list(labels))}",
            hint="relabel the examples as inside or outside the concept",
        )
    if positive is not None:
        if positive not in list(labels):
            raise ParameterError(f"no example is labelled {positive!r}", hint=f"the labels are {listed(list(labels))}")
        return positive
    says_yes = [label for label in labels if isinstance(label, str) and label.lower() in YES]
    return says_yes[0] if len(says_yes) == 1 else max(labels)
