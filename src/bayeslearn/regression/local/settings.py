"""What a local fit is: its degree, its criterion, its kernel, and how far it looks.

    E1    Σ over the k nearest rows of (f(x) − f̂(x))²
    E2    Σ over all rows of (f(x) − f̂(x))² K(d/h)
    E3    Σ over the k nearest rows of (f(x) − f̂(x))² K(d/h)

h is a number, or None: the distance of the k-th nearest row, as lowess has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.regression.local.distance_kernels import KERNELS

CRITERIA: tuple[Literal["E1", "E2", "E3"], ...] = ("E1", "E2", "E3")


@dataclass(frozen=True)
class Settings:
    """How every query is answered.

    >>> Settings(k=20)
    Settings(degree=1, criterion='E3', kernel='tricube', k=20, bandwidth=None, ridge=0.0)
    """

    degree: int = 1
    criterion: Literal["E1", "E2", "E3"] = "E3"
    kernel: str = "tricube"
    k: int | None = None
    bandwidth: float | None = None
    #: The prior's precision of the slopes; see :class:`~bayeslearn.distributions.RegressionPrior`.
    ridge: float = 0.0

    def __post_init__(self) -> None:
        validation.integer("degree", self.degree, min_value=0, max_value=2)
        object.__setattr__(self, "criterion", validation.choice("criterion", self.criterion, CRITERIA))
        object.__setattr__(self, "kernel", validation.choice("kernel", self.kernel, KERNELS))
        validation.number("ridge", self.ridge, min_value=0)
        if self.bandwidth is not None:
            validation.number("bandwidth", self.bandwidth, above=0)
        if self.criterion == "E2" and self.bandwidth is None and self.kernel != "inverse_square":
            raise ParameterError("E2 weighs all rows, so it needs a bandwidth", hint='give a number, or "auto"')
        if self.criterion != "E2":
            if self.k is None:
                raise ParameterError(f"{self.criterion} looks at the k nearest rows", hint='give k a number, or "auto"')
            validation.integer("k", self.k, min_value=1)

    @property
    def neighbors(self) -> int | None:
        """How many rows a fit looks at; None when at all of them."""
        return None if self.criterion == "E2" else self.k

    @property
    def reach(self) -> float:
        """The bandwidth as compiled code has it: 0 is the distance of the farthest row that is looked at."""
        return 0.0 if self.criterion == "E1" or self.bandwidth is None else self.bandwidth

    @property
    def weighting(self) -> str:
        """The kernel that is used: E1 has none."""
        return "uniform" if self.criterion == "E1" else self.kernel


def parameters(degree: int, dim: int) -> int:
    """How many numbers a fit has, the level among them."""
    return (1, 1 + dim, 1 + dim + dim * (dim + 1) // 2)[degree]
