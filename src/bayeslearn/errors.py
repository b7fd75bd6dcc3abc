"""Everything that can go wrong, by name.

A message states what is wrong and what was given; the hint states what to do. The invalid value is kept on the
exception (``error.details``), so that a program can act on it without reading the sentence.

>>> raise UnknownStateError("column 'outlook' has state 'foggy', not seen in training", hint="declare it in the schema")
Traceback (most recent call last):
bayeslearn.errors.UnknownStateError: column 'outlook' has state 'foggy', not seen in training
<BLANKLINE>
hint: declare it in the schema
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The folder of the package.
PACKAGE = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - pathlib takes a millisecond

__all__ = [
    "BayeslearnError",
    "BayeslearnWarning",
    "CapacityError",
    "ChangedFileError",
    "ClusterError",
    "ConflictingInfluenceError",
    "ConstantColumnError",
    "ConvergenceWarning",
    "CycleError",
    "DataError",
    "DuplicateColumnError",
    "EmptyTableError",
    "EvidenceError",
    "FormatError",
    "ImpossibleDataError",
    "ImpossibleEvidenceError",
    "ImproperPriorError",
    "InconsistentDataError",
    "InputFileNotFoundError",
    "MismatchError",
    "MissingDependencyError",
    "MissingValuesError",
    "MixedTypesError",
    "NoFitInfoError",
    "ParameterError",
    "ProbabilityError",
    "ShapeError",
    "SoftEvidenceError",
    "TooManyStatesError",
    "UnknownColumnError",
    "UnknownStateError",
    "UnwritableFileError",
    "WeightError",
]


def __dir__() -> list[str]:
    return __all__


#: The longest message and the longest hint, in characters; the longest item of a list.
MOST_MESSAGE, MOST_HINT, MOST_ITEM = 900, 500, 80


class BayeslearnError(Exception):
    """The root of every error raised on purpose by this package."""

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        message = short(printable(message), MOST_MESSAGE)
        super().__init__(message)
        self.message = message
        self.hint = None if hint is None else short(printable(hint), MOST_HINT)
        self.details = details

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n\nhint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:  # errors of other processes arrive whole
        return type(self), (self.message,), self.__dict__


### short lists


def short(text: str, most: int) -> str:
    """Return at most `most` characters of a text, the rest as an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 4].rstrip()} ..."


def joined(items: Iterable[str], most: int = 8, *, separator: str = ", ") -> str:
    """A few items in a row, and how many more there are: a, b, ... and 147 more."""
    items = list(items)
    more = [f"... and {len(items) - most:,} more"] if len(items) > most else []
    return separator.join([*items[:most], *more])


def listed(items: Iterable[Any], most: int = 8) -> str:
    """A few values for a message: 'a', 'b', ... and 147 more."""
    return joined((short(repr(item), MOST_ITEM) for item in items), most)


### near names


def near(names: Iterable[Any], known: Iterable[Any], most: int = 3) -> list[str]:
    """The known names that are nearest to others, whatever their case."""
    from difflib import get_close_matches  # noqa: PLC0415 - loads when something is misspelled

    written: dict[str, list[str]] = {}
    for name in known:
        written.setdefault(str(name).casefold(), []).append(str(name))
    close = (match for name in names for match in get_close_matches(str(name).casefold(), written, n=most))
    return list(dict.fromkeys(name for match in close for name in written[match]))[:most]


def nearest(names: Iterable[Any], known: Iterable[Any], what: str) -> str:
    """A hint: did you mean 'carrier'? Else what there is: "the columns are ..."."""
    known = list(known)
    close = near(names, known)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"{what} are {listed(known)}" if known else f"there are no {what.removeprefix('the ')}"


### the language of the caller

#: Options of the command line with another name than the parameter in Python.
OPTIONS = {"random_state": "seed", "data": "DATA"}

_on_command_line = False


@contextmanager
def command_line() -> Iterator[None]:
    """Within the block, hints name options of the command line instead of parameters of Python."""
    global _on_command_line  # noqa: PLW0603 - errors are raised in threads too, so that a context variable would be lost
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def option(name: str, value: Any = None, *, command: str | None = None) -> str:
    """Return how the caller sets an option: ``n_bins=5`` in Python, ``--n-bins 5`` on the command line.

    `command` is what the command line has instead, where that is something else. Without a value, the option's name.
    """
    if not _on_command_line:
        return f"`{name}=`" if value is None else f"{name}={written(value)}"
    flag = command if command is not None else f"--{OPTIONS.get(name, name).replace('_', '-')}"
    if value is None or value is True or command is not None:
        return flag
    from shlex import quote  # noqa: PLC0415 - loads when something is wrong

    return f"{flag} {quote(plain(value))}"


def in_python(text: str) -> str:
    """Part of a hint that the command line has nothing for."""
    return "" if _on_command_line else text


def written(value: Any) -> str:
    """A value in Python's words, text in double quotes."""
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)


def plain(value: Any) -> str:
    """A value in the words of the command line: A,B for a list, COLUMN=A for a mapping."""
    if isinstance(value, dict):
        pairs: Mapping[Any, Any] = value
        return ",".join(f"{name}={some}" for name, each in pairs.items() for some in as_list(each))
    return ",".join(map(str, as_list(value)))


def as_list(value: Any) -> list[Any]:
    """A list; one value stands for a list of one."""
    return list(value) if isinstance(value, list | tuple) else [value]


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
    """Two models that cannot be joined; ``details["differs"]`` names what differs: graph, states, prior or tables."""


class CycleError(ParameterError):
    """Arcs that lead back to where they start; ``details["cycle"]`` names the nodes."""


class UnknownColumnError(ParameterError):
    """A column was named that is not there."""


class NoFitInfoError(BayeslearnError, AttributeError):
    """A model was not returned by a fit: it was read from a file, updated, merged or made by hand."""


class InputFileNotFoundError(BayeslearnError, FileNotFoundError):
    """A file was named that is not there; ``details`` hold its ``path``."""


class UnwritableFileError(BayeslearnError, OSError):
    """A file cannot be written: a full disk, a name that is too long; ``details`` hold its ``path`` and ``errno``."""


class MissingDependencyError(BayeslearnError, ImportError):
    """An optional package is needed and not installed."""


class ClusterError(BayeslearnError, RuntimeError):
    """A cluster cannot be reached, lost its scheduler or all its workers, or a shard killed them."""


### what the data say


class DataError(BayeslearnError, ValueError):
    """The data cannot be used without changes."""


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


class ChangedFileError(DataError):
    """A file was changed between two passes over it, or while it was read; ``details`` hold its ``path``."""


class EvidenceError(DataError):
    """More evidence was removed than had been added, or none is left for an estimate."""


class ImpossibleDataError(DataError):
    """The data have probability zero under every hypothesis."""


class ImpossibleEvidenceError(ImpossibleDataError):
    """Evidence of probability zero; ``details["conflict"]`` names pieces that cannot be together."""


class SoftEvidenceError(DataError):
    """Target distributions that are not met together; ``details["off"]`` holds the difference of each variable."""


class InconsistentDataError(DataError):
    """No hypothesis of the space agrees with the examples."""


class ConflictingInfluenceError(DataError):
    """One quantity influences another both ways; ``details`` hold the two as ``source`` and ``target``."""


class CapacityError(BayeslearnError, MemoryError):
    """The answer would need more memory or time than allowed; ``details`` hold the estimate."""


### warnings


class BayeslearnWarning(UserWarning):
    """The root of every warning of this package."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ConvergenceWarning(BayeslearnWarning):
    """An iteration stopped before it had settled; the message holds the numbers."""


def outside() -> int:
    """The `stacklevel` of a warning that points at the line which called this package; for the caller of this function.

    The outermost frame of the package is the call of a user, whatever runs between: a bar, a context, a pool.
    """
    level, found, frame = 1, 1, sys._getframe(1)  # noqa: SLF001 - inspect.stack reads all source files
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            found = level + 1
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return found
