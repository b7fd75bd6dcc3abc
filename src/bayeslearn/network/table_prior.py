"""The prior of a table, with the rule that it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeslearn.families import Dirichlet

if TYPE_CHECKING:
    from bayeslearn.families import DirichletRule


@dataclass(frozen=True, eq=False)
class TablePrior(Dirichlet):
    """α of every cell of a table, with the rule that they follow, so that a table that gains states keeps its prior."""

    rule: DirichletRule

    @classmethod
    def of_rule(cls, rule: DirichletRule, shape: tuple[int, ...]) -> TablePrior:
        """The α of a table of this shape.

        >>> TablePrior.of_rule(Dirichlet.bdeu(1), (2, 2))
        Dirichlet(α₀=1 per table)
        """
        return cls(rule.of(shape).alpha, rule)

    def __repr__(self) -> str:
        return repr(self.rule)
