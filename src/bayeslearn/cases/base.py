"""A case base: cases and rewrite rules, which add up.

base + base      the cases and rules of both; one name for two different things is an error
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayeslearn.cases.case import Case, many
from bayeslearn.cases.index import Index
from bayeslearn.cases.rules import Rule
from bayeslearn.errors import CapacityError, MismatchError, ParameterError, UnknownColumnError, listed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    Named = TypeVar("Named", Case, Rule)

#: Cases and rules that a base holds at most.
MOST_CASES, MOST_RULES = 100_000, 100


class CaseBase:
    """Cases by name, in the order of the alphabet; specifications (cases without a structure) are kept beside them.

    >>> pipes = CaseBase([Case("pipe", "in ->+ out", "a tube")])
    >>> base = pipes + CaseBase([Case("seesaw", "left ->- right", "a plank")])
    >>> base
    CaseBase(2 cases)
    >>> base["seesaw"].structure
    'a plank'
    """

    __slots__ = ("__dict__", "_entries", "rules")

    def __init__(self, cases: Iterable[Case] = (), rules: Iterable[Rule] = ()) -> None:
        self._entries = _by_name(cases, Case, MOST_CASES)
        #: The rewrite rules that come with the cases.
        self.rules = tuple(_by_name(rules, Rule, MOST_RULES).values())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CaseBase:
        """Read a .json, .json.gz or .yaml file, or one that ships, by its name."""
        from bayeslearn.cases.case_files import read  # noqa: PLC0415 - files load when they are read

        return read(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .json or .json.gz file, whole or not at all."""
        from bayeslearn.cases.case_files import write  # noqa: PLC0415 - files load when they are written

        write(self, path)

    def __add__(self, other: CaseBase) -> CaseBase:
        if not isinstance(other, CaseBase):
            return NotImplemented
        return CaseBase([*self._entries.values(), *other._entries.values()], [*self.rules, *other.rules])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CaseBase):
            return NotImplemented
        return self._entries == other._entries and self.rules == other.rules

    def __hash__(self) -> int:
        return hash((tuple(self._entries.values()), self.rules))

    def __reduce__(self) -> tuple[Any, ...]:
        return CaseBase, (tuple(self._entries.values()), self.rules)

    def __repr__(self) -> str:
        parts = {"case": self.cases, "specification": self.open, "rule": self.rules}
        told = [many(len(items), name) for name, items in parts.items() if items or name == "case"]
        return f"CaseBase({', '.join(told)})"

    ### what is there

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Case:
        if name not in self._entries:
            near = get_close_matches(str(name), self._entries)
            hint = f"did you mean {listed(near)}?" if near else f"there is {listed(self._entries)}"
            raise UnknownColumnError(f"there is no case {name!r}", hint=hint)
        return self._entries[name]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Those with a structure, which answer questions."""
        return tuple(case for case in self if not case.is_open)

    @cached_property
    def open(self) -> tuple[Case, ...]:
        """The specifications, whose structure is not known."""
        return tuple(case for case in self if case.is_open)

    @cached_property
    def index(self) -> Index:
        """What is counted of the cases, so that few of them need to be looked at."""
        return Index(self.cases)


def _by_name(items: Iterable[Named], kind: type[Named], most: int) -> dict[str, Named]:
    """All of them in the order of their names; the same thing may come twice, two of one name may not."""
    found: dict[str, Named] = {}
    for item in items:
        if not isinstance(item, kind):
            raise ParameterError(f"expected a {kind.__name__}, got {item!r:.80}")
        if found.setdefault(item.name, item) != item:
            raise MismatchError(
                f"two different {kind.__name__.lower()}s are named {item.name!r}",
                hint="give one of them another name",
                differs="cases",
            )
        if len(found) > most:
            raise CapacityError(f"a case base holds at most {most:,} {kind.__name__.lower()}s")
    return dict(sorted(found.items()))
