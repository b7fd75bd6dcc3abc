"""Bayes optimal models: fitted members and the pool of their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports, significance
from bayeslearn.codec import Saved
from bayeslearn.ensemble.inputs import Columns
from bayeslearn.ensemble.members import FittedMember
from bayeslearn.ensemble.pooling import COMBINE, Pool, floored
from bayeslearn.fit_info import Fitted, plain
from bayeslearn.model_values import ARRAY, NUMBER
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables import Schema, as_table
from bayeslearn.tables.frames import frame_of, probabilities
from bayeslearn.tables.markers import class_array, label_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.ensemble.explanation import PooledContributions
    from bayeslearn.model_values import Reader
    from bayeslearn.tables import DiscreteVariable, Table
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Rows that are answered together.
BATCH = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimalModel(Fitted, Reported, Saved, kind="Bayes optimal"):
    """Probabilities of classes by several models, pooled; :func:`fit_bayes_optimal` fits one."""

    columns: Columns
    target: DiscreteVariable
    pool: Pool
    members: tuple[FittedMember, ...]
    total_weight: float

    def __repr__(self) -> str:
        names = ", ".join(member.name for member in self.members)
        return printable(f"BayesOptimalModel({self.target.name} by {names}; {self.total_weight:.10g} rows)")

    @property
    def schema(self) -> Schema:
        """The columns that the model reads: those whose states are numbers as numbers."""
        return self.columns.numbers

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes."""
        return self.target.states

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.names

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each member; of a ridge the mean coefficient of a class for its own log probability."""
        return {m.name: float(w) for m, w in zip(self.members, self.pool.member_weights, strict=True)}

    # -- answers

    def read(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> Table:
        """Return rows by the columns of the model; states that training did not show are missing."""
        return self.columns.read(data, missing_columns=missing_columns)

    def log_proba_of_members(self, table: Table) -> Floats:
        """Return ln P(class | row) of each member, (rows, members, classes), as the pool takes them."""
        if not self.members:
            return np.empty((len(table), 0, self.target.n_states))
        tables = self.columns.forms(table)
        return np.stack([floored(member.proba(tables, self.target)) for member in self.members], axis=1)

    def predict_log_proba(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> Floats:
        """Return ln P(class | row), a column for each of `classes`."""
        rows = self.read(data, missing_columns=missing_columns)
        parts = [self.pool.log_proba(self.log_proba_of_members(batch)) for batch in rows.batches(BATCH)]
        return np.concatenate([np.empty((0, self.target.n_states)), *parts])

    def predict_proba(
        self, data: Any, *, missing_columns: Literal["error", "missing"] = "error", backend: Backend | None = None
    ) -> Any:
        """Return P(class | row), a column for each of `classes`: an array, or a data frame of `backend`."""
        p = np.exp(self.predict_log_proba(data, missing_columns=missing_columns))
        return probabilities(p, self.classes, backend)

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the most probable class of each row, the first of tied classes."""
        return class_array(self.classes)[self.predict_log_proba(data).argmax(axis=1)]

    def log_likelihood(self, data: Any, target: Any = None) -> Floats:
        """Return ln P(target | row) of each row; 0 where the target is missing.

        `target` is a column of `data`, by default the one that the model predicts, or an array of classes.
        """
        codes, log_p = self._codes(data, target), self.predict_log_proba(data)
        return np.where(codes < 0, 0.0, log_p[np.arange(len(codes)), codes])

    def score(self, data: Any, target: Any = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows whose class is known."""
        predicted = self.predict_log_proba(data).argmax(axis=1)
        return significance.score(predicted, self._codes(data, target), sample_weight, classes=True)

    def _codes(self, data: Any, target: Any) -> NDArray[np.intp]:
        """The codes of the classes of rows, −1 where missing."""
        if target is None or isinstance(target, str):
            name = target or self.target.name
            variable = type(self.target)(name, self.classes)
            return as_table(data, schema=Schema([variable])).codes_of(name).astype(np.intp)
        return label_codes(np.asarray(target), class_array(self.classes)).astype(np.intp)

    def explain(self, data: Any, *, of: Any = None, against: Any = None) -> PooledContributions:
        """Return how much each cell and each member supports a class, in log odds that add up.

        Parameters
        ----------
        data
            Rows with the columns of the model.
        of
            The class that is explained; by default the most probable one of each row.
        against
            The class that it is compared with; by default all others together.
        """
        from bayeslearn.ensemble.explanation import explained  # noqa: PLC0415 - loaded when rows are explained

        return explained(self, data, of=of, against=against)

    # -- what it shows

    def report(self) -> Report:
        """Return the members with their weights."""
        total = sum(self.weights.values()) or 1.0
        rows = [
            [name, round(w, 4), f"{w / total:.1%}"] for name, w in sorted(self.weights.items(), key=lambda p: -p[1])
        ]
        pairs = {"Pool": self.pool.combine, "Columns": len(self.schema), "Classes": len(self.classes)}
        what = f"{len(self.members)} members, {self.total_weight:,.10g} rows"
        title = f"Bayes optimal classifier of {self.target.name}: {what}"
        return Report(title, Pairs(pairs), Grid(["Member", "Weight", "Share"], rows, "Members"))

    def to_dict(self) -> dict[str, Any]:
        """Return target, classes, columns, weights and offsets as plain values."""
        return {
            "target": self.target.name,
            "classes": [plain(label) for label in self.classes],
            "columns": list(self.schema.names),
            "combine": self.pool.combine,
            "weights": self.weights,
            "offsets": self.pool.offsets.tolist(),
            "total_weight": self.total_weight,
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each member: name, weight."""
        return frame_of({"member": list(self.weights), "weight": list(self.weights.values())}, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the weight of each member (:func:`bayeslearn.plots.plot_member_weights`)."""
        return plots.plot_member_weights(self, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"target": {"name", "states"}, "variables", "combine", "coefficients", "offsets", "total_weight",
         "members": [{"name", "form", "codes", "model"}, ...]}
        """
        return {
            "target": self.target.to_dict(),
            **self.columns.schema.to_dict(),
            "combine": self.pool.combine,
            "coefficients": self.pool.coefficients,
            "offsets": self.pool.offsets,
            "total_weight": self.total_weight,
            "members": [member.to_dict() for member in self.members],
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> BayesOptimalModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "target": dict, "variables": [dict], "combine": str, "coefficients": ARRAY, "offsets": ARRAY,
            "total_weight": NUMBER, "members": [dict],
        }  # fmt: skip
        entry, variables, combine, weights, offsets, total, members = reader.entries(document, keys, "a model")
        target = reader.discrete(entry, "the target")
        columns = Columns(Schema(reader.variable(variable) for variable in variables))
        if combine not in COMBINE or total < 0:
            reader.wrong(f"its pool is {combine!r:.40}, or its total weight is below zero")
        m, k = len(members), target.n_states
        shape = (k, m, k) if combine == "ridge" else (m,)
        pool = Pool(combine, reader.numbers(weights, "coefficients", shape), reader.numbers(offsets, "offsets", (k,)))
        if combine != "ridge" and pool.coefficients.min(initial=0.0) < 0:
            reader.wrong("a member has a weight below zero")
        found = tuple(FittedMember.checked(reader, member, target) for member in members)
        return cls(columns, target, pool, found, float(total))
