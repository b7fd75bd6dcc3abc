"""Notes on cells that are not read as they stand: values that are none of the known states, and words among numbers.

One warning of each kind reports them.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import BayeslearnWarning, joined, listed, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Cells = Mapping[str, Mapping[Any, int]]

#: Columns that a warning names, and values of each.
MOST_COLUMNS, MOST_VALUES = 5, 3


@dataclass
class Notes:
    """How often each value occurs, by column."""

    #: Values that are none of the states, and are treated as missing.
    unseen: dict[str, dict[Any, int]] = field(default_factory=dict)
    #: Values that were none of the states, and are added to them.
    added: dict[str, dict[Any, int]] = field(default_factory=dict)
    #: Words among numbers that are treated as missing.
    words: dict[str, dict[Any, int]] = field(default_factory=dict)

    def warn(self) -> None:
        """Report what there is, once; a collector takes unseen states instead."""
        collector = _collector.get()
        if collector is not None:
            collector.unseen.update({name: dict(counts) for name, counts in self.unseen.items()})
            self.unseen.clear()
        for sentence in self.sentences():
            warnings.warn(sentence, BayeslearnWarning, stacklevel=4)
        for cells in (self.unseen, self.added, self.words):
            cells.clear()

    def sentences(self) -> list[str]:
        """What is read otherwise than it stands there, a sentence for each kind."""
        kinds = (
            (
                self.unseen,
                "not among the states: treated as missing",
                f"; {option('handle_unknown', 'error')} refuses them",
            ),
            (
                self.added,
                "not among the states: added to them",
                f"; {option('handle_unknown', 'missing')} leaves them out",
            ),
            (self.words, "that are words among numbers: treated as missing", ""),
        )
        return [f"{counted(cells)} {what}{otherwise}" for cells, what, otherwise in kinds if cells]


_collector: ContextVar[Notes | None] = ContextVar("collector", default=None)


@contextmanager
def collected() -> Iterator[Notes]:
    """Within it, unseen states are collected and not warned of: for results that hold them, and for estimators."""
    notes = Notes()
    token = _collector.set(notes)
    try:
        yield notes
    finally:
        _collector.reset(token)


def counted(cells: Cells) -> str:
    """How many values of which columns, with some of them."""
    n = sum(sum(counts.values()) for counts in cells.values())
    columns = [f"{name!r} ({listed(counts, MOST_VALUES)})" for name, counts in cells.items()]
    return f"{n:,} {'value' if n == 1 else 'values'} of {joined(columns, MOST_COLUMNS)}"
