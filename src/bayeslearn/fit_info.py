"""What a fit found out in addition to the model: iterations, convergence, dropped columns, notes, seconds.

    model = fit_mixture(data, 3)
    model.fit_info.history, model.fit_info.converged, model.fit_info.summary()

Every `fit_<model>` returns the model, and the model has the `fit_info` of that call. A model that was read from a file,
updated or merged is the result of no single fit and has none.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn import lazy_imports
from bayeslearn.errors import NoFitInfoError, ParameterError
from bayeslearn.reports import Grid, Pairs, Report, Reported, Words

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FitInfo", "Fitted", "with_fit_info"]


def __dir__() -> list[str]:
    return __all__


M = TypeVar("M")

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Where a model keeps it: outside of its fields, so that equality and files do not see it.
ATTRIBUTE = "_fit_info"


class Fitted:
    """The base of models that `fit_<model>` returns."""

    __slots__ = ()

    @property
    def fit_info(self) -> Any:
        """What the fit found out: history, convergence, dropped columns, notes, seconds."""
        try:
            return self.__dict__[ATTRIBUTE]
        except KeyError:
            raise NoFitInfoError(
                f"this {type(self).__name__} has no fit_info: it was not returned by a fit",
                hint="fit_info is not stored in files, and not kept by update, remove and +",
            ) from None


def with_fit_info(model: M, info: FitInfo) -> M:
    """Return the model with what its fit found out."""
    found = copy.copy(model)
    object.__setattr__(found, ATTRIBUTE, info)
    return found


@dataclass(frozen=True, kw_only=True, repr=False)
class FitInfo(Reported):
    """What every fit reports; learners add fields."""

    n_rows: int = 0
    #: One step per iteration; a single one where the estimate has a closed form.
    history: tuple[Any, ...] = ()
    converged: bool = True
    log_likelihood: float | None = None
    #: Columns that were not used, with the reason.
    dropped_columns: Mapping[str, str] | tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return int(getattr(self.history[-1], "iteration", len(self.history))) if self.history else 0

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the objective by iteration; see :func:`bayeslearn.plots.plot_em_history`."""
        if not hasattr(self.history[-1] if self.history else None, "objective"):
            raise ParameterError(
                "this fit has no iterations to plot: its estimate has a closed form",
                hint="plot the model: model.plot()",
            )
        return plots.plot_em_history(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        named = {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name[0] != "_"}
        return named | self._computed() | {"n_iter": self.n_iter}

    def _computed(self) -> dict[str, Any]:
        """Entries that are computed when they are asked for."""
        return {}

    def report(self) -> Report:
        """Return what the fit found out, as blocks."""
        return Report(self._title(), Pairs(self._pairs()), *self._blocks(), self._dropped(), self._noted())

    def _title(self) -> str:
        return f"Fit to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.log_likelihood is not None:
            found["Log-likelihood"] = self.log_likelihood
        if self.history:
            found["Iterations"], found["Converged"] = self.n_iter, self.converged
        return found | {"Seconds": round(self.seconds, 3)}

    def _blocks(self) -> tuple[Any, ...]:
        return ()

    def _dropped(self) -> Grid | None:
        if not self.dropped_columns:
            return None
        named = self.dropped_columns
        rows = [*named.items()] if hasattr(named, "items") else [(name, "") for name in named]
        return Grid(["Column", "Reason"], rows, "Dropped columns")

    def _noted(self) -> Words | None:
        return Words(self.notes, "Notes") if self.notes else None


def plain(value: Any) -> Any:
    """A value of numbers, texts, lists and dictionaries, as JSON has them."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "items"):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
