"""What a fit of a mixture found out, and mixtures as reports, dictionaries and frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from bayeslearn.components.description import described, parameters_of
from bayeslearn.fit_info import FitInfo
from bayeslearn.mixture.cluster_report import describe_clusters
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.mixture.cluster_report import ClusterReport, UncertainRow
    from bayeslearn.mixture.model import MixtureModel

#: The names of criteria in reports.
CRITERIA = {"marginal_likelihood": "Log marginal likelihood", "bic": "−BIC/2", "aic": "−AIC/2"}

#: Columns that describe a component in a report.
MAX_COLUMNS = 3


@dataclass(frozen=True, repr=False)
class ComponentSelection(Reported):
    """The criterion of every number of components that was tried; higher is better.

    Attributes
    ----------
    criterion
        ``"marginal_likelihood"``, ``"bic"`` or ``"aic"``; the latter two as −½ BIC and −½ AIC.
    scores
        The criterion by the number of components.
    """

    criterion: str
    scores: Mapping[int, float]

    @property
    def n_components(self) -> int:
        """The number of components with the best criterion, the smallest of equal ones."""
        return max(self.scores, key=lambda k: self.scores[k])

    def report(self) -> Report:
        """Return the criterion of every number of components."""
        return Report(f"{self.n_components} components", self.grid())

    def grid(self) -> Grid:
        """The criterion of every number of components, as a block."""
        best = max(self.scores.values())
        rows = [(k, value, value - best) for k, value in self.scores.items()]
        return Grid(["Components", CRITERIA[self.criterion], "Difference to best"], rows, "Number of components")

    def to_dict(self) -> dict[str, Any]:
        """Return criterion, scores and the best number as plain values."""
        return {
            "criterion": self.criterion, "n_components": self.n_components,
            "scores": {str(k): v for k, v in self.scores.items()},
        }  # fmt: skip

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each number of components."""
        columns = {"n_components": list(self.scores), self.criterion: list(self.scores.values())}
        return frame_of(columns, backend)


@dataclass(frozen=True, kw_only=True, repr=False)
class MixtureFitInfo(FitInfo):
    """What a fit of a mixture found out.

    Attributes
    ----------
    n_components
        The number of components.
    n_columns, n_missing
        The number of columns, and of missing values in them; None if the data come in batches.
    selection
        The criterion of the numbers of components that were tried.
    clusters
        The components with what distinguishes each.
    n_uncertain, uncertain_rows
        The number of rows whose most probable component has a probability below 0.9, and the most uncertain ones.
        None and empty for data that are not in memory.
    """

    n_components: int = 0
    n_columns: int = 0
    n_missing: int | None = None
    selection: ComponentSelection = field(default_factory=lambda: ComponentSelection("bic", {}))
    clusters: tuple[ClusterReport, ...] = ()
    n_uncertain: int | None = None
    uncertain_rows: tuple[UncertainRow, ...] = ()

    def _title(self) -> str:
        return f"Mixture of {self.n_components} components fitted to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found = {"Rows": self.n_rows, "Columns": self.n_columns, "Missing values": self.n_missing}
        scores = {CRITERIA[self.selection.criterion]: self.selection.scores[self.n_components]}
        return {**found, "Components": self.n_components, **super()._pairs(), **scores}

    def _blocks(self) -> tuple[Any, ...]:
        several = len(self.selection.scores) > 1
        return (self.selection.grid() if several else None, cluster_grid(self.clusters), self._uncertain())

    def _uncertain(self) -> Grid | None:
        if not self.n_uncertain:
            return None
        rows = [(u.row, u.best, u.probability, u.second, u.second_probability) for u in self.uncertain_rows[:5]]
        title = f"{self.n_uncertain:,} uncertain rows (probability below 0.9)"
        return Grid(["Row", "Component", "Probability", "Second", "Probability"], rows, title)


def cluster_grid(clusters: tuple[ClusterReport, ...] | list[ClusterReport]) -> Grid:
    """The components, their sizes and what distinguishes them, as a block."""
    rows = [
        (report.number, round(report.size, 1), report.share, "; ".join(map(str, report.differences[:MAX_COLUMNS])))
        for report in clusters
    ]
    return Grid(["Component", "Rows", "Weight", "Distinguishing columns"], rows, "Components")


### models


def report_of(model: MixtureModel) -> Report:
    """Return the components of a model and what distinguishes them."""
    title = f"Mixture of {model.n_components} components over {len(model.schema)} columns"
    pairs = {"Rows": round(model.total_weight, 1), "Parameters": model.n_parameters}
    if model.statistics is not None:
        return Report(title, Pairs(pairs), cluster_grid(describe_clusters(model)))
    rows = [
        (j, float(w), "; ".join(described(model.parts, model.parameters, j).values()))
        for j, w in enumerate(model.weights)
    ]
    return Report(title, Pairs(pairs), Grid(["Component", "Weight", "Columns"], rows, "Components"))


def plain_model(model: MixtureModel) -> dict[str, Any]:
    """Return weights, sizes and descriptions as plain values."""
    each = zip(model.weights.tolist(), model.component_sizes.tolist(), strict=True)
    columns = model.parts, model.parameters
    return {
        "n_components": model.n_components, "n_rows": model.total_weight, "n_parameters": model.n_parameters,
        "columns": list(model.feature_names),
        "components": [
            {"number": j, "weight": w, "size": n, "columns": described(*columns, j),
             "parameters": parameters_of(*columns, j)}
            for j, (w, n) in enumerate(each)
        ],
    }  # fmt: skip


def frame_of_model(model: MixtureModel, backend: Any) -> Any:
    """Return a frame with a row for each component."""
    columns: dict[str, list[Any]] = {
        "component": list(range(model.n_components)), "weight": model.weights.tolist(),
        "size": model.component_sizes.tolist(),
    }  # fmt: skip
    for j in range(model.n_components):
        for name, value in parameters_of(model.parts, model.parameters, j).items():
            columns.setdefault(name, []).append(value)
    return frame_of(columns, backend)
