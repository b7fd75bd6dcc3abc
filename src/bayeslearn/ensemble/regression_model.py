"""Bayes optimal models of numbers: fitted members, and the pool of their means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.codec import Saved
from bayeslearn.ensemble.inputs import Columns
from bayeslearn.ensemble.mean_pooling import MAX_DOF, MIN_DOF, MeanPool
from bayeslearn.ensemble.members import FittedMember
from bayeslearn.fit_info import Fitted
from bayeslearn.model_values import ARRAY, NUMBER
from bayeslearn.printable import printable
from bayeslearn.regression.explanation import FeatureExplanation, NumericPredictions
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables import Schema, Table
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions.student_t import StudentT
    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Rows that are answered together.
BATCH = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimalRegressionModel(NumericPredictions, Fitted, Reported, Saved, kind="Bayes optimal regression"):
    """Numbers by several models, pooled; :func:`fit_bayes_optimal_regression` fits one."""

    columns: Columns
    targets: tuple[str, ...]
    pool: MeanPool
    members: tuple[FittedMember, ...]
    #: The mean of the target, which is predicted without members.
    average: float
    total_weight: float

    def __repr__(self) -> str:
        names = ", ".join(member.name for member in self.members)
        return printable(f"BayesOptimalRegressionModel({self.targets[0]} by {names}; {self.total_weight:.10g} rows)")

    @property
    def schema(self) -> Schema:
        """The columns that the model reads: those whose states are numbers as numbers."""
        return self.columns.numbers

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.names

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each member; they sum to 1."""
        return {m.name: float(w) for m, w in zip(self.members, self.pool.coefficients, strict=True)}

    # -- answers

    def read(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> Table:
        """Return rows by the columns of the model; states that training did not show are missing."""
        return self.columns.read(data, missing_columns=missing_columns)

    def means_of_members(self, table: Table) -> Floats:
        """Return the mean of each member, (rows, members); of a model without members the mean of the target."""
        if not self.members:
            return np.full((len(table), 1), self.average)
        tables = self.columns.forms(table)
        return np.stack([member.mean(tables) for member in self.members], axis=1)

    def predictive(self, data: Any) -> StudentT:
        """Return the distribution of the target of one more row at each row, Student t of shape (n, 1)."""
        rows = self.read(data)
        parts = [self.means_of_members(batch) for batch in rows.batches(BATCH)]
        width = max(len(self.members), 1)
        return self.pool.predictive(np.concatenate([np.empty((0, width)), *parts]))

    def _means(self, data: Any) -> Floats:
        return self.predictive(data).location

    def explain(self, data: Any) -> list[FeatureExplanation]:
        """Return for each row what every cell adds to the prediction where all cells are missing; it adds up."""
        from bayeslearn.ensemble.explanation import by_cell, written  # noqa: PLC0415 - loaded when rows are explained

        table = self.read(data)
        start, parts = by_cell(table, lambda rows: self.pool.mean(self.means_of_members(rows)))
        total = start + np.sum(list(parts.values()), axis=0)
        cells = {v.name: written(table, v) for v in table.schema}
        return [
            FeatureExplanation(
                self.targets[0], float(total[i]), float(start[i]),
                {name: cells[name][i] for name in parts}, {name: float(part[i]) for name, part in parts.items()},
            )
            for i in range(len(table))
        ]  # fmt: skip

    # -- what it shows

    def report(self) -> Report:
        """Return the members with their weights."""
        rows = [[name, round(w, 4)] for name, w in sorted(self.weights.items(), key=lambda pair: -pair[1])]
        what = f"{len(self.members)} members, {self.total_weight:,.10g} rows"
        pairs = {
            "Columns": len(self.schema),
            "Spread of the errors": self.pool.spread,
            "Degrees of freedom": self.pool.dof,
        }
        return Report(
            f"Bayes optimal regression of {self.targets[0]}: {what}", Pairs(pairs), Grid(["Member", "Weight"], rows)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return target, columns, weights and the width of predictions as plain values."""
        return {
            "target": self.targets[0], "columns": list(self.schema.names), "weights": self.weights,
            "spread": self.pool.spread, "level": self.pool.level, "slope": self.pool.slope, "dof": self.pool.dof,
            "total_weight": self.total_weight,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each member: name, weight."""
        return frame_of({"member": list(self.weights), "weight": list(self.weights.values())}, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the weight of each member (:func:`bayeslearn.plots.plot_member_weights`)."""
        return plots.plot_member_weights(self, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"target", "variables", "coefficients", "spread", "level", "slope", "dof", "average", "total_weight", "members"}
        """
        pool = self.pool
        return {
            "target": self.targets[0], **self.columns.schema.to_dict(), "coefficients": pool.coefficients,
            "spread": pool.spread, "level": pool.level, "slope": pool.slope, "dof": pool.dof,
            "average": self.average, "total_weight": self.total_weight,
            "members": [member.to_dict() for member in self.members],
        }  # fmt: skip

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> BayesOptimalRegressionModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "target": str, "variables": [dict], "coefficients": ARRAY, "spread": NUMBER, "level": NUMBER,
            "slope": NUMBER, "dof": NUMBER, "average": NUMBER, "total_weight": NUMBER, "members": [dict],
        }  # fmt: skip
        found = reader.entries(document, keys, "a model")
        target, variables, coefficients, spread, level, slope, dof, average, total, members = found
        columns = Columns(Schema(reader.variable(variable) for variable in variables))
        w = reader.numbers(coefficients, "coefficients", (max(len(members), 1),))
        if w.min() < 0 or min(spread, slope, total) < 0 or not MIN_DOF <= dof <= MAX_DOF or abs(level) > 700:
            reader.wrong("a weight or a width is out of range")
        pool = MeanPool(w, float(spread), float(level), float(slope), float(dof))
        fitted = tuple(FittedMember.checked(reader, member, None) for member in members)
        return cls(columns, (target,), pool, fitted, float(average), float(total))
