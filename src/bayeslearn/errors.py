"""Everything that can go wrong, by name.

A message says what is wrong and what was given; the hint says what to do. The value that offends is kept on the
exception (``error.details``), so that a program can act on it without reading the sentence.

>>> raise UnknownStateError("column 'outlook' has state 'foggy', not seen in training", hint="declare it in the schema")
Traceback (most recent call last):
bayeslearn.errors.UnknownStateError: column 'outlook' has state 'foggy', not seen in training
<BLANKLINE>
hint: declare it in the schema
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def listed(items: Iterable[Any], most: int = 8) -> str:
    """A few items for a message: 'a', 'b', … (12 in all)."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"


class BayeslearnError(Exception):
    """The root of every error raised on purpose by this package."""

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n\nhint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:  # errors of other processes arrive whole
        return type(self), (self.message,), self.__dict__


### what the caller asked for


class ParameterError(BayeslearnError, ValueError):
    """A parameter has a value outside its range."""


class ShapeError(ParameterError):
    """An array has the wrong shape, or two of them do not fit each other."""


class ProbabilityError(ParameterError):
    """Probabilities are negative, not finite, or do not sum to one."""


class ImproperPriorError(ParameterError):
    """A question was asked that an improper prior cannot answer."""


class MismatchError(ParameterError):
    """Two models that cannot be joined; ``details["differs"]`` says in what: graph, states, prior or tables."""


class CycleError(ParameterError):
    """Arcs that lead back to where they start; ``details["cycle"]`` names the nodes."""


class UnknownColumnError(ParameterError):
    """A column was named that is not there."""


class MissingFileError(BayeslearnError, FileNotFoundError):
    """A file was named that is not there; ``details`` hold its ``path``."""


class MissingDependencyError(BayeslearnError, ImportError):
    """An optional package is needed and not installed."""


class ClusterError(BayeslearnError, RuntimeError):
    """A cluster cannot be reached, lost its scheduler or all its workers, or a shard killed them."""


### what the data say


class DataError(BayeslearnError, ValueError):
    """The data cannot be used as they are."""


class EmptyTableError(DataError):
    """A table without rows or without columns."""


class DuplicateColumnError(DataError):
    """Two columns share a name."""


class MixedTypesError(DataError):
    """One column holds values of several kinds."""


class ConstantColumnError(DataError):
    """A column shows one state only, so there is nothing to learn from it."""


class TooManyStatesError(DataError):
    """A discrete column has more states than allowed: most often an identifier or a number."""


class UnknownStateError(DataError):
    """A value is not among the declared states of its column."""


class MissingValuesError(DataError):
    """A cell is missing where a value is needed."""


class WeightError(DataError):
    """A row weight is negative or not finite."""


class FormatError(DataError):
    """A file does not follow its format; ``details`` hold ``path``, ``line`` and, where known, ``column``."""


class EvidenceError(DataError):
    """More evidence was taken back than had been added, or none is left to read an estimate off."""


class ImpossibleDataError(DataError):
    """The data have probability zero under every hypothesis."""


class ImpossibleEvidenceError(ImpossibleDataError):
    """Evidence of probability zero; ``details["conflict"]`` names pieces that cannot be together."""


class UnmetTargetsError(DataError):
    """Target distributions that are not met together; ``details["off"]`` says how far each variable is from its own."""


class InconsistentDataError(DataError):
    """No hypothesis of the space agrees with the examples."""


class ContradictionError(DataError):
    """One quantity is said to influence another both ways; ``details`` hold the two as ``source`` and ``target``."""


class CapacityError(BayeslearnError, MemoryError):
    """The answer would need more memory or time than allowed; ``details`` hold the estimate."""


### warnings


class BayeslearnWarning(UserWarning):
    """The root of every warning of this package."""


class NotConvergedWarning(BayeslearnWarning):
    """An iteration stopped before it had settled; the message holds the numbers."""
