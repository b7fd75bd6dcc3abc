r"""A network while its file is being read: variables and tables, each with the place it stands at.

Nothing is handed out before everything is there and has been checked, so that a broken file never gives half a network.

Quoted names carry all but control characters: ``"`` and ``\`` are written ``\"`` and ``\\``. Where a format requires
identifiers, other names are replaced, and a legend next to them keeps the originals, as JSON in ASCII:

    {"name": "wind speed", "states": ["< 5", "5+"]}
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import CapacityError, DataError, FormatError, ParameterError, listed
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT, ROW_TOLERANCE, rounding_notes
from bayeslearn.source_text import UNKNOWN
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.source_text import Mark, Source


#: Cells that the tables of one file may have together: 2²⁵ take 256 MB. The largest published networks have 10⁶.
MOST_CELLS = 2**25

#: Parents that one table may have: NumPy stops at 64 axes.
MOST_PARENTS = 63


@dataclass
class Draft:
    """Variables by the name the file has for them (their key), and tables by the key of their child."""

    source: Source
    name: str = UNKNOWN
    variables: dict[str, DiscreteVariable] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cells: int = 0

    # -- variables

    def declare(
        self, key: str, states: Sequence[str], mark: Mark, legend: str | None = None, *, name: str | None = None
    ) -> None:
        """One more variable; a legend has its name and states as they were before they were written.

        Without a legend the variable takes `name`, or else its key.
        """
        if key in self.variables:
            raise self.source.error(f"variable {key!r} is declared twice", mark)
        original = (name or key, states) if legend is None else read_legend(legend)
        if original is None or len(original[1]) != len(states):
            raise self.source.error(f"the legend of {key!r} is damaged: {legend!r:.60}", mark)
        try:
            self.variables[key] = DiscreteVariable(original[0], tuple(original[1]))
        except ParameterError as error:
            raise self.source.error(error.message, mark, hint=error.hint) from None
        self.marks[key] = mark

    # -- tables

    def shape(self, child: str, parents: Sequence[str], mark: Mark) -> tuple[int, ...]:
        """The shape of the table to come, once it is known to be allowed."""
        for key in (child, *parents):
            if key not in self.variables:
                hint = f"the variables are {listed(self.variables)}" if self.variables else None
                raise self.source.error(f"variable {key!r} is not declared", mark, hint=hint)
        if child in self.tables:
            raise self.source.error(f"variable {child!r} has two tables", mark)
        if child in parents or len(set(parents)) < len(parents):
            raise self.source.error(f"the table of {child!r} names a variable twice: {listed((child, *parents))}", mark)
        shape = (*(self.variables[key].n_states for key in parents), self.variables[child].n_states)
        self.reserve(child, len(parents), math.prod(shape), mark)
        return shape

    def reserve(self, child: str, n_parents: int, cells: int, mark: Mark) -> None:
        """Count the cells of a table before any memory is asked for."""
        self.cells += cells
        if self.cells > MOST_CELLS or n_parents > MOST_PARENTS:
            line, column = self.source.place(mark) or (None, None)
            raise CapacityError(
                f"the table of {child!r} with {n_parents} parents has {cells:,} cells, {self.cells:,} with those "
                f"before it; at most {MOST_CELLS:,} cells and {MOST_PARENTS} parents are read",
                hint="give the variable fewer parents, or fewer states",
                cells=self.cells,
                bytes=8 * self.cells,
                path=self.source.path,
                line=line,
                column=column,
            )

    def fill(self, child: str, parents: Sequence[str], p: NDArray[np.float64], mark: Mark) -> None:
        """The table of one variable, with the shape that was asked for."""
        self.parents[child], self.tables[child], self.marks[child] = tuple(parents), p, mark

    def require_probabilities(self, child: str, p: NDArray[np.float64], mark: Mark) -> None:
        """Every entry within 0 and 1; whether rows sum to one is seen when the network is built."""
        if not are_probabilities(p):
            fine = (p >= 0) & (p <= 1 + ROW_TOLERANCE)
            value = float(p[~fine].flat[0])
            raise self.source.error(f"the table of {child!r} holds {value:g}, which is no probability", mark)

    # -- the whole

    def network(self) -> BayesianNetwork:
        """The finished network."""
        if not self.variables:
            raise self.source.error("expected a network, found no variables", len(self.source.text))
        for key in self.variables:
            if key not in self.tables:
                raise self.source.error(f"variable {key!r} has no table", self.marks[key])
        if not are_probabilities(np.concatenate([p.reshape(-1) for p in self.tables.values()])):
            for key, p in self.tables.items():
                self.require_probabilities(key, p, self.marks[key])
        try:
            cpts = tuple(self._cpt(key) for key in self.variables)
            notes = rounding_notes(cpts, [self.tables[key] for key in self.variables])
            name = self.source.stem if self.name == UNKNOWN else self.name
            return BayesianNetwork(cpts, name, (*notes, *self.notes))
        except (ParameterError, DataError) as error:
            raise self._located(error) from None

    def _cpt(self, key: str) -> CPT:
        return CPT(self.variables[key], tuple(self.variables[name] for name in self.parents[key]), self.tables[key])

    def _located(self, error: ParameterError | DataError) -> FormatError:
        """The error with the place of the table it is about."""
        cycle = error.details.get("cycle")
        for key in self.tables:
            if cycle:
                if self.variables[key].name == cycle[0]:
                    return self.source.error(error.message, self.marks[key], hint=error.hint, cycle=cycle)
                continue
            try:
                self._cpt(key)
            except ParameterError as wrong:
                return self.source.error(wrong.message, self.marks[key], hint=wrong.hint)
        return self.source.error(error.message, hint=error.hint)


def are_probabilities(p: NDArray[np.float64]) -> bool:
    """Whether all are within 0 and 1, as near as published tables are; one that is NaN is neither."""
    return bool(p.min() >= 0 and p.max() <= 1 + ROW_TOLERANCE)


#: The key under which a legend stands in a file.
LEGEND = "bayeslearn"

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
ESCAPE = re.compile(r'\\([\\"])')


#: A word that needs no quotation marks.
PLAIN = re.compile(r'(?:[^\s{}()\[\],;|"/\\]|/(?![/*]))+')

#: Words of the grammar of BIF, which aGrUM takes for themselves wherever they stand.
RESERVED = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}


def has_control(name: str) -> bool:
    """Whether a name holds a character that files cannot carry; the pattern takes a while to compile."""
    return re.search(CONTROL, name) is not None


### states as text


def state_names(variable: DiscreteVariable) -> list[str]:
    """The states as text; numbers and truth values are written as Python shows them."""
    names = [str(state) for state in variable.states]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(
            f"two states of {variable.name!r} are both written {twice!r}, among {listed(variable.states)}",
            hint="name the states differently, or write JSON, which keeps 1 and '1' apart",
        )
    return names


### quoted words


def quote(name: str) -> str:
    """The name between quotation marks."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote(word: str) -> str:
    """The name that stands between quotation marks."""
    return ESCAPE.sub(r"\1", word[1:-1])


def word(name: str) -> str:
    """A name, quoted if it needs it."""
    return name if PLAIN.fullmatch(name) and name not in RESERVED else quote(name)


def require_printable(names: Sequence[str], what: str) -> None:
    """No name with a line break or another control character, which this format cannot carry."""
    bad = [name for name in names if has_control(name)]
    if bad:
        raise FormatError(
            f"{what} cannot carry the name {bad[0]!r}: it holds a line break or another control character",
            hint="rename it, or write JSON, which carries every name",
        )


### identifiers with a legend


def is_identifier(name: str) -> bool:
    """Letters, digits and underscores, with a letter first."""
    return bool(IDENTIFIER.fullmatch(name))


def replaced(names: Sequence[str], carried: Callable[[str], bool]) -> list[str]:
    """The names, with identifiers in place of those that cannot be carried; all differ.

    >>> replaced(["wind", "wind speed", "wind-speed", "5+"], is_identifier)
    ['wind', 'wind_speed', 'wind_speed_2', 'x5_']
    """
    taken = {name for name in names if carried(name)}
    result, copies = [], dict[str, int]()
    for name in names:
        if carried(name):
            result.append(name)
            continue
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if is_identifier(plain) else f"x{plain}"
        unique = plain
        while unique in taken:
            copies[plain] = copies.get(plain, 1) + 1
            unique = f"{plain}_{copies[plain]}"
        taken.add(unique)
        result.append(unique)
    return result


def aliases(network: BayesianNetwork, carried: Callable[[str], bool]) -> dict[str, str]:
    """What each variable is called in the file."""
    return dict(zip(network.variables, replaced(network.variables, carried), strict=True))


def legend(variable: DiscreteVariable, alias: str, carried: Callable[[str], bool]) -> tuple[list[str], str | None]:
    """The states as the file calls them, and the legend where any name was replaced."""
    states = state_names(variable)
    written = replaced(states, carried)
    if alias == variable.name and written == states:
        return written, None
    import json  # noqa: PLC0415 - few files have a legend

    return written, json.dumps({"name": variable.name, "states": states})


def carried_by_xml(name: str) -> bool:
    """Whether XML keeps a name unchanged."""
    return bool(name) and name == name.strip() and not has_control(name)


def read_legend(text: str) -> tuple[str, list[str]] | None:
    """The original name and states, or None if this is no legend of ours."""
    import json  # noqa: PLC0415 - few files have a legend

    try:
        entry = json.loads(text)
        name, states = entry["name"], entry["states"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(states, list) or not all(isinstance(s, str) for s in (name, *states)):
        return None
    return name, states
