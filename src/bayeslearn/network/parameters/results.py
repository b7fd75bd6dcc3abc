"""What a fit of CPTs to data found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.network.parameters.credible_intervals import thin_rows
from bayeslearn.reports import Grid
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters.credible_intervals import RowSupport

#: CPT rows that a report and `to_dict` list.
MAX_ROWS = 8


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParameterFitInfo(FitInfo):
    """What a fit of CPTs to data found out.

    Attributes
    ----------
    history, converged, log_likelihood
        The iterations of EM or of gradient ascent, a single one for complete rows; and ln P(D | θ).
    objective
        ln P(D | θ) + Σ α ln θ, which EM maximizes.
    starts
        The objective that each initialization ended with.
    missing
        The number of missing values of each variable; hidden variables have as many as there are rows.
    hidden
        The variables that are not observed in any row.
    n_passes
        Passes over a source; a table requires none.
    """

    objective: float
    starts: tuple[float, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    n_passes: int = 0
    _network: BayesianNetwork

    @property
    def n_missing(self) -> int:
        """The number of missing values, without those of hidden variables."""
        return sum(n for name, n in self.missing.items() if name not in self.hidden)

    def thin_rows(self, n: int = 10) -> tuple[RowSupport, ...]:
        """Return the n rows of CPTs with the fewest observed rows, the fewest first."""
        return thin_rows(self._network, n)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, and the CPT rows with the least data, as plain values."""
        return super().to_dict() | {"thin_rows": plain(self.thin_rows(MAX_ROWS))}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each iteration: iteration, log_likelihood, objective."""
        columns = {name: [getattr(step, name) for step in self.history] for name in STEP}
        return frame_of(columns, backend)

    def _title(self) -> str:
        return f"Parameters of {len(self._network)} variables fitted to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found = {"Rows": self.n_rows, "Missing values": share_of(self.n_missing, self._n_cells)}
        if self.hidden:
            found["Hidden variables"] = ", ".join(
                f"{name} ({len(self._network.states(name))} states)" for name in self.hidden
            )
        found |= super()._pairs()
        if len(self.starts) > 1:
            found["Objective of each initialization"] = list(self.starts)
        return found

    @property
    def _n_cells(self) -> int:
        return self.n_rows * (len(self._network) - len(self.hidden))

    def _blocks(self) -> tuple[Any, ...]:
        return (thin_grid(self.thin_rows(MAX_ROWS)),)


#: What a step of the history holds.
STEP = ("iteration", "log_likelihood", "objective")


def share_of(missing: int, cells: int) -> str:
    """How many values are missing, of how many."""
    share = f" ({100 * missing / cells:.3g} %)" if missing and cells else ""
    return f"{missing:,} of {cells:,}{share}"


def thin_grid(rows: Iterable[RowSupport]) -> Grid | None:
    """The CPT rows with the least data, as a block."""
    cells = [(row.name, row.n_observed, row.prior) for row in rows]
    return Grid(["CPT row", "Observed rows", "Prior rows"], cells, "CPT rows with the least data") if cells else None
