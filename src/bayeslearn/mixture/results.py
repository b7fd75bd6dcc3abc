"""Components described: their sizes, what distinguishes each from all rows, and which rows are uncertain.

A column distinguishes a component by the divergence of its distribution there from that in all rows, in nats:

    KL(component ‖ all) = Σ_x p(x | component) ln p(x | component) / p(x)

Each distribution has its formula (:meth:`~bayeslearn.distributions.distribution.Distribution.divergence`).

What a fit of a mixture found out, and mixtures as reports, dictionaries and frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import softmax

from bayeslearn import validation
from bayeslearn.components.description import described, parameters_of, part_columns
from bayeslearn.errors import EvidenceError
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.mixture.comparison import pooled
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.mixture.hierarchy import ClusterHierarchy
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]


#: A row whose most probable component has a lower probability is uncertain; how many of them a fit keeps.
CERTAIN, MAX_UNCERTAIN = 0.9, 20


@dataclass(frozen=True)
class ClusterDifference:
    """A column in a component and in all rows, and the divergence between them."""

    column: str
    divergence: float
    here: str
    everywhere: str

    def __str__(self) -> str:
        return printable(f"{self.column} {self.here} (all {self.everywhere})")


@dataclass(frozen=True)
class ClusterReport:
    """One component: number, expected number of rows, weight, and columns, those that distinguish it most first."""

    number: int
    size: float
    share: float
    differences: tuple[ClusterDifference, ...]


@dataclass(frozen=True)
class UncertainRow:
    """A row with its two most probable components."""

    row: int
    best: int
    probability: float
    second: int
    second_probability: float


def describe_clusters(model: MixtureModel) -> list[ClusterReport]:
    """Return a report of every component, from the statistics of the model."""
    if model.statistics is None:
        raise EvidenceError("the mixture was not fitted, so it has no statistics to describe")
    columns = [c for part, θ in zip(model.parts, model.parameters, strict=True) for c in differences(model, part, θ)]
    return [
        ClusterReport(
            j, float(model.component_sizes[j]), float(model.weights[j]),
            tuple(sorted((column[j] for column in columns), key=lambda d: -d.divergence)),
        )
        for j in range(model.n_components)
    ]  # fmt: skip


def differences(model: MixtureModel, part: Component, θ: Any) -> Iterator[list[ClusterDifference]]:
    """Every column of a part in each component."""
    assert model.statistics is not None
    family, seen = part.distribution, pooled(model.statistics[part.name])
    whole = family.estimate(family.update(family.none(), seen), otherwise=family.take(θ, np.array([0])))
    columns = zip(part_columns(part, θ), family.marginals(θ), family.marginals(whole), strict=True)
    for column, (distribution, here), (_, everywhere) in columns:
        divergence = distribution.divergence(here, everywhere)
        words = [distribution.contrast(here, everywhere, j, variable=column) for j in range(model.n_components)]
        yield [ClusterDifference(column.name, float(d), *pair) for d, pair in zip(divergence, words, strict=True)]


### uncertain rows


def uncertain_rows(
    model: MixtureModel, data: Any, *, below: float = CERTAIN, max_results: int | None = None
) -> list[UncertainRow]:
    """Return the rows whose most probable component has a probability below a limit, the most uncertain first.

    Parameters
    ----------
    model
        The mixture.
    data
        Rows, as :meth:`MixtureModel.predict_proba` takes them.
    below
        The limit of the probability.
    max_results
        The maximum number of rows; default: all.
    """
    return most_uncertain(model, data, below, max_results)[1]


def most_uncertain(
    model: MixtureModel, data: Any, below: float = CERTAIN, max_results: int | None = MAX_UNCERTAIN
) -> tuple[int, list[UncertainRow]]:
    """The number of uncertain rows, and the most uncertain ones."""
    validation.number("below", below, min_value=0, max_value=1)
    if model.n_components == 1:
        return 0, []
    top: list[Any] = []  # row, component and probability: of the most probable one, then of the second
    first = 0
    for block in model.rows(data).blocks(model.weighted.block):
        shares = model.weighted.shares(block)[0]
        rows = np.flatnonzero(shares.max(axis=0) < below)
        order = np.argsort(-shares[:, rows], axis=0, kind="stable")[:2]
        top.append(np.vstack([first + rows, order, np.take_along_axis(shares[:, rows], order, axis=0)]))
        first += len(block)
    found = np.concatenate(top, axis=1)
    kept = found[:, np.argsort(found[3], kind="stable")[:max_results]].T
    return found.shape[1], [
        UncertainRow(int(row), int(one), float(p), int(two), float(q)) for row, one, two, p, q in kept
    ]


#: The names of criteria in reports.
CRITERIA = {"marginal_likelihood": "Log marginal likelihood", "bic": "−BIC/2", "aic": "−AIC/2"}

#: The number of components from which on a report has the mergers of components.
MIN_MERGED = 3

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

    @property
    def posterior(self) -> dict[int, float]:
        """The probability of every number of components that was tried, all equally probable before the data.

        P(k | D) = exp(score_k) / Σ exp(score): the scores are ln P(D | k), or approximations of it (BIC; AIC gives the
        weights of Akaike).
        """
        return dict(zip(self.scores, softmax(list(self.scores.values())).tolist(), strict=True))

    def report(self) -> Report:
        """Return the criterion of every number of components."""
        return Report(f"{self.n_components} components", self.grid())

    def grid(self) -> Grid:
        """The criterion of every number of components, as a block."""
        best = max(self.scores.values())
        posterior = self.posterior
        rows = [(k, value, value - best, posterior[k]) for k, value in self.scores.items()]
        headings = ["Components", CRITERIA[self.criterion], "Difference to best", "Probability"]
        return Grid(headings, rows, "Number of components")

    def to_dict(self) -> dict[str, Any]:
        """Return criterion, scores, their posterior and the best number as plain values."""
        return {
            "criterion": self.criterion, "n_components": self.n_components,
            "scores": {str(k): v for k, v in self.scores.items()},
            "posterior": {str(k): p for k, p in self.posterior.items()},
        }  # fmt: skip

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each number of components."""
        columns = {
            "n_components": list(self.scores), self.criterion: list(self.scores.values()),
            "posterior": list(self.posterior.values()),
        }  # fmt: skip
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
    """

    n_components: int = 0
    n_columns: int = 0
    n_missing: int | None = None
    selection: ComponentSelection = field(default_factory=lambda: ComponentSelection("bic", {}))
    clusters: tuple[ClusterReport, ...] = ()
    #: The model of the hierarchy of clusters, which is made when it is asked for.
    _model: MixtureModel | None = None
    #: The model and its rows, in which uncertain ones are looked for when they are asked for.
    _examined: tuple[MixtureModel, Any] | None = None

    @cached_property
    def _found(self) -> tuple[int | None, list[UncertainRow]]:
        return (None, []) if self._examined is None else most_uncertain(*self._examined)

    @property
    def n_uncertain(self) -> int | None:
        """The number of rows whose most probable component has a probability below 0.9; None for data in batches."""
        return self._found[0]

    @property
    def uncertain_rows(self) -> tuple[UncertainRow, ...]:
        """The most uncertain of these rows."""
        return tuple(self._found[1])

    @property
    def hierarchy(self) -> ClusterHierarchy | None:
        """The components merged step by step into clusters: :meth:`MixtureModel.hierarchy`."""
        return None if self._model is None else self._model.hierarchy()

    def _computed(self) -> dict[str, Any]:
        hierarchy = None if self.hierarchy is None else self.hierarchy.to_dict()
        return {"hierarchy": hierarchy, "n_uncertain": self.n_uncertain, "uncertain_rows": plain(self.uncertain_rows)}

    def _title(self) -> str:
        return f"Mixture of {self.n_components} components fitted to {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found = {"Rows": self.n_rows, "Columns": self.n_columns, "Missing values": self.n_missing}
        scores = {CRITERIA[self.selection.criterion]: self.selection.scores[self.n_components]}
        return {**found, "Components": self.n_components, **super()._pairs(), **scores}

    def _blocks(self) -> tuple[Any, ...]:
        several = len(self.selection.scores) > 1
        tree = None if self.hierarchy is None or self.n_components < MIN_MERGED else self.hierarchy.grid()
        return (self.selection.grid() if several else None, cluster_grid(self.clusters), tree, self._uncertain())

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
