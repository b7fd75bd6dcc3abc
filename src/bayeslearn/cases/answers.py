"""A design explains itself: how the specification was rewritten, which cases do what, and what is left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.cases.case import Case, many
from bayeslearn.cases.using import joints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.cases.finding import Match
    from bayeslearn.cases.graph import Arc, FunctionGraph
    from bayeslearn.cases.rules import Rewrite
    from bayeslearn.cases.using import Use


@dataclass(frozen=True)
class Design:
    """Cases that together cover a specification, or a part of it."""

    specification: Case
    #: The function after all rewrites, to whose quantities the uses refer, with the kinds that they tell.
    function: FunctionGraph
    steps: tuple[Rewrite, ...]
    uses: tuple[Use, ...]
    #: Influences of the specification that are not covered, and what is left of them after the rewrites.
    left_open: tuple[Arc, ...]
    rest: tuple[Arc, ...]
    #: Whether no other choice of cases is better for this function.
    certain: bool = True

    @property
    def coverage(self) -> float:
        """The part of the specification that is covered."""
        return 1 - len(self.left_open) / len(self.specification.function)

    @property
    def shared(self) -> dict[str, list[str]]:
        """Where cases meet: quantities that several of them have, and their names there."""
        return joints(self.uses)

    @property
    def surplus(self) -> int:
        """How many arcs of the cases nobody asked for."""
        return sum(len(use.surplus) for use in self.uses)

    @property
    def rank(self) -> tuple[int, ...]:
        """The least is the best."""
        return len(self.left_open), len(self.uses), len(self.steps), self.surplus

    @property
    def covered(self) -> dict[str, tuple[Arc, ...]]:
        """The arcs of the function that each case does, by its name."""
        found: dict[str, tuple[Arc, ...]] = {}
        for use in self.uses:
            found[use.case.name] = (*found.get(use.case.name, ()), *use.covered)
        return found

    @property
    def structure(self) -> dict[str, Any]:
        """The structures of all cases, how their quantities are called here, and where they meet."""
        return {
            "parts": [
                {"case": use.case.name, "mapping": dict(use.mapping), "structure": use.case.structure}
                for use in self.uses
            ],
            "joints": self.shared,
            "left_open": [str(arc) for arc in self.left_open],
        }

    def as_case(self, name: str | None = None) -> Case:
        """The specification with this structure: a case that can be added to a base."""
        asked = self.specification
        return Case(name or asked.name, asked.function, self.structure, asked.attributes)

    def explain(self) -> list[str]:
        """The design in sentences."""
        n = len(self.specification.function)
        by = f"{many(len(self.uses), 'case')} after {many(len(self.steps), 'rewrite')}"
        return [
            f"{n - len(self.left_open)} of {n} influences are covered by {by}",
            *(f"rewritten by {step}" for step in self.steps),
            *map(_told, self.uses),
            *(f"{node} joins {' and '.join(names)}" for node, names in self.shared.items()),
            *(f"left open: {arc}" for arc in self.left_open),
        ]

    def __str__(self) -> str:
        return "\n".join(self.explain())


@dataclass(frozen=True)
class Designs:
    """Designs for a specification, the best first."""

    specification: Case
    designs: tuple[Design, ...]
    #: How many forms of the specification were looked at.
    states: int
    #: What ended the search before everything was tried; None if nothing did.
    why: str | None
    #: The cases nearest to what the best design leaves open.
    near: tuple[Match, ...] = ()

    @property
    def best(self) -> Design:
        """The first of them."""
        return self.designs[0]

    def __iter__(self) -> Iterator[Design]:
        return iter(self.designs)

    def __len__(self) -> int:
        return len(self.designs)

    def __getitem__(self, i: int) -> Design:
        return self.designs[i]


def _told(use: Use) -> str:
    more = f", and does besides: {', '.join(map(str, use.surplus))}" if use.surplus else ""
    return f"{use} covers {', '.join(map(str, use.covered))}{more}"
