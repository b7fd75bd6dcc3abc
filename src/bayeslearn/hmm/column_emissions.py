"""Numbers of any registered distribution of one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeslearn.distributions.distribution import by_name, first_of
from bayeslearn.errors import MismatchError
from bayeslearn.hmm.emissions import Emissions
from bayeslearn.hmm.observations import number_rows
from bayeslearn.tables import NumericVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader


@dataclass(frozen=True, eq=False)
class ColumnEmissions(Emissions):
    """Numbers of any registered distribution of one column; distributions with kernels have other classes."""

    name: str
    distribution: Any
    parameters: Any

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Parameters of the observations 1 and 2."""
        distribution = by_name(kind)()
        return cls((names or ("x0",))[0], distribution, blank_parameters(distribution, rows))

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the distribution."""
        return self.distribution.name

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(first_of(self.parameters))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def with_parameters(self, parameters: Any) -> Self:
        """The same emissions with others."""
        return replace(self, parameters=parameters)

    def cells(self, x: Any) -> NDArray[Any]:
        """Numbers that the distribution takes; NaN is missing."""
        return self.distribution.cells(number_rows(x)[:, 0])

    def require_like(self, other: Emissions) -> None:
        """Of the same distribution."""
        super().require_like(other)
        if isinstance(other, ColumnEmissions) and self.distribution != other.distribution:
            raise MismatchError(f"these models emit {self.kind} and {other.kind}", differs="emissions")

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        return {"kind": self.kind, "name": self.name, "parameters": plain_parameters(self.parameters)}

    @classmethod
    def from_document(cls, reader: Reader, entry: dict[str, Any], size: int) -> Self:
        """Return the emissions of an entry, all of which is checked."""
        keys = {"kind": str, "name": str, "parameters": list}
        kind, name, parameters = reader.entries(entry, keys, f"{entry['kind']} emissions")
        column = NumericVariable(name)
        distribution = by_name(kind).over([column])
        return cls(name, distribution, reader.parameters(parameters, distribution, [column], size))


def blank_parameters(distribution: Any, rows: int) -> Any:
    """Placeholders for parameters: those of the observations 1 and 2."""
    whole = distribution.collect(np.array([1.0, 2.0]), sample_weight=np.ones((2, 1)))
    return distribution.estimate(distribution.shaped(distribution.pooled(whole), rows))


def plain_parameters(parameters: Any) -> list[NDArray[np.float64]]:
    """Parameters as a list of arrays."""
    return [np.asarray(p) for p in (parameters if isinstance(parameters, tuple) else (parameters,))]
