"""Columns that name their rows and say nothing else: identifiers, free text.

A whole-number column (more than 20 different values, so that it is numeric) is an identifier when

    consecutive    its n values are a, a + 1, …, a + n − 1, each once
    named          its name is that of an identifier: id, host_id, hostId, uuid, key, index, row, no., …
    increasing     it increases, or decreases, from every row to the next, in at least 20 rows
    all different  its n values, at least 100, are all different, such as random numbers of eight digits

Fractions are kept, and so is a column that is declared or asked for by name. A column of words is an identifier when
every row has another one, or nearly so, or when it is named like one and a word has fewer than 20 rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bayeslearn.tables.near_formats import why_not_read

#: Fewest values that are consecutive numbers (or different words), increasing, and all different.
LEAST_NAMES, LEAST_ORDERED, LEAST_DIFFERENT = 4, 20, 100

#: A column of words with more of them than this may be an identifier by its name, if each has fewer rows than that.
MANY_WORDS, FEW_ROWS_EACH = 20, 20

#: The share of rows with a word of their own that makes nearly all different, and the fewest rows for it.
NEARLY, LEAST_NEARLY = 0.9, 50

#: Last words of names of identifiers, and whole names.
LAST_WORDS = frozenset({"id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "pk", "rowid", "identifier"})
WHOLE_NAMES = frozenset({"row", "rows", "no", "no.", "nr", "nr.", "#", "", "unnamed: 0", "rownames", "row_number"})

#: Words and characters of a value on average, from which on it is free text.
TEXT_WORDS, TEXT_LENGTH = 4.0, 25.0


def is_identifier_name(name: str) -> bool:
    """Whether a column is named like an identifier.

    >>> [n for n in ("id", "host_id", "hostId", "ID", "paid", "key", "no.", "valid", "idle") if is_identifier_name(n)]
    ['id', 'host_id', 'hostId', 'ID', 'key', 'no.']
    """
    if name.strip().lower() in WHOLE_NAMES:
        return True
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    return bool(words) and (words[-1] in LAST_WORDS or (words[0] == "id" and len(words) > 1))


@dataclass(frozen=True)
class WholeNumbers:
    """What a column of whole numbers shows."""

    n: int
    is_consecutive: bool
    is_ordered: bool
    #: Whether all values differ; None where nobody counted.
    all_different: bool | None

    def why_identifier(self, name: str) -> str | None:
        """Why the column is an identifier, if it is."""
        if self.n >= LEAST_NAMES and self.is_consecutive:
            return f"column {name!r} numbers the rows"
        if is_identifier_name(name):
            return f"column {name!r} is an identifier, by its name and its many different values"
        if self.n >= LEAST_ORDERED and self.is_ordered:
            return f"column {name!r} is an identifier: whole numbers in the order of the rows"
        if self.all_different and self.n >= LEAST_DIFFERENT:
            return f"column {name!r} is an identifier: whole numbers that are all different"
        return None


def why_name(name: str, states: tuple[object, ...], n_rows: int, most: int) -> str | None:
    """Why a column of words names its rows, if it does: from the rows that have a word, and those of the commonest."""
    if n_rows < LEAST_NAMES:
        return None
    nearly = n_rows >= LEAST_NEARLY and len(states) >= NEARLY * n_rows
    if most == 1 or nearly:
        if is_free_text(states):
            return f"column {name!r} is free text; `bayeslearn fit text` learns from such"
        every = f"{'nearly ' * (most > 1)}every row"
        return f"column {name!r} has another state in {every}, like a name{why_not_read(name, states)}"
    if is_identifier_name(name) and len(states) > MANY_WORDS and n_rows < FEW_ROWS_EACH * len(states):
        return f"column {name!r} is an identifier, by its name and its {len(states)} different states"
    return None


def is_free_text(states: tuple[object, ...] | list[object]) -> bool:
    """Whether values are sentences rather than names: several words, and long."""
    words = [s for s in states[:500] if isinstance(s, str)]
    if len(words) < min(len(states), 500):
        return False
    length = sum(map(len, words)) / max(len(words), 1)
    return length >= TEXT_LENGTH and sum(len(s.split()) for s in words) / max(len(words), 1) >= TEXT_WORDS
