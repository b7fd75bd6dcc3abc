"""Local regression keeps the training rows, and fits a small model around each query.

    f̂(q) = the value at q of the fit to the rows around q

The unit of a feature is its standard deviation (``standardize=False``: 1), so that distances are comparable in all
directions; constant features are not used. ``a + b`` has the rows of both models.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.codec import Saved, rename_keys, upgrade
from bayeslearn.distributions import row_lineage
from bayeslearn.distributions.moments import require_squares
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import EvidenceError, MismatchError, MissingValuesError, ShapeError, listed
from bayeslearn.fit_info import Fitted
from bayeslearn.model_values import ARRAY, NUMBER
from bayeslearn.regression import diagnostics
from bayeslearn.regression.explanation import NumericPredictions
from bayeslearn.regression.feature_encoding import Features, center_and_spread
from bayeslearn.regression.local import fit, model_selection
from bayeslearn.regression.local.settings import Settings
from bayeslearn.reports import Reported
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.row_lineage import RowLineage
    from bayeslearn.distributions.student_t import StudentT
    from bayeslearn.model_values import Reader
    from bayeslearn.regression.local.model_selection import Tried
    from bayeslearn.regression.local.results import LocalFit
    from bayeslearn.reports import Report
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Kinds of the settings in files.
SETTINGS: dict[str, Any] = {
    "degree": int, "locality": str, "kernel": str, "n_neighbors": (int, type(None)), "bandwidth": (*NUMBER, type(None)),
    "ridge": NUMBER,
}  # fmt: skip

#: The largest number of rows that are left out to estimate the noise.
NOISE_ROWS = 2000


@dataclass(frozen=True, eq=False, repr=False)
class LocalRegressionModel(NumericPredictions, Fitted, Reported, Saved, kind="local regression", version=4):
    """Training rows, and how a fit around each query is made; :func:`fit_local` fits one."""

    #: The encoding of rows, in the units of these rows.
    features: Features
    #: The rows as points, NaN where a cell is missing, and their targets (n,) or (n, m).
    rows: Floats
    outputs: Floats
    sample_weight: Floats
    #: How to fit; settings that are free are selected by leave-one-out when they are first needed.
    init: Settings
    free: frozenset[str] = frozenset()
    standardize: bool = True
    #: The equivalent sample size of the noise of all rows around a query.
    noise_sample_size: float = 10.0
    #: The largest number of rows that are left out to select settings, and the seed of their sample.
    loo_rows: int | None = 5000
    random_state: int = 0
    #: The names of the targets: y, or y0, y1, ... by default.
    targets: tuple[str, ...] = ()
    #: The update that each row came with, where the model was updated.
    lineage: RowLineage | None = None

    def __post_init__(self) -> None:
        there = np.asarray(self.sample_weight) > 0
        if not there.any():
            raise EvidenceError("no row has a weight above 0", hint="keep at least one row")
        if self.lineage is not None and not there.all():
            object.__setattr__(self, "lineage", row_lineage.taken(self.lineage, there))
        for name in ("rows", "outputs", "sample_weight"):
            object.__setattr__(self, name, frozen(getattr(self, name)[there]))
        require_squares("targets", self.outputs)
        m = 1 if self.outputs.ndim == 1 else self.outputs.shape[1]
        names = tuple(self.targets) or (("y",) if m == 1 else tuple(f"y{i}" for i in range(m)))
        if len(names) != m:
            raise ShapeError(f"expected {m} names of targets, got {listed(names)}")
        object.__setattr__(self, "targets", names)
        mean, spread = center_and_spread(self.rows, self.sample_weight)
        object.__setattr__(self, "features", replace(self.features, mean=mean, spread=spread))

    def __repr__(self) -> str:
        return f"LocalRegressionModel({len(self.rows)} rows of {listed(self.features.names)}; {self.settings})"

    @property
    def total_weight(self) -> float:
        """The total weight of the training rows."""
        return float(self.sample_weight.sum())

    # -- answers

    def local_fits(self, data: Any, *, slopes: bool = False, noise: bool = True) -> LocalFit:
        """Return the fits around each row; ``noise=False`` if only their means are needed.

        >>> from bayeslearn.regression import fit_local
        >>> model = fit_local([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0], n_neighbors=4)
        >>> model.local_fits([[1.5], [10.0]]).mean
        array([ 4., 21.])
        """
        found = self._fits(data, slopes=slopes, noise=noise)
        return found if self.outputs.ndim == 2 else fit.squeezed(found)

    def _fits(self, data: Any, *, slopes: bool = False, noise: bool = True) -> LocalFit:
        """The fits around each row, arrays of targets (q, m)."""
        found = fit.fits(self.space, self.settings, self.points(data), slopes=slopes)
        if found.slopes is not None:
            found = replace(found, slopes=self._in_units(found.slopes))
        if noise and self.noise_sample_size and len(self.rows) > 1:
            found = replace(found, noise_sample_size=self.noise_sample_size, noise_before=self.noise)
        return found

    def _means(self, data: Any) -> Floats:
        return self._fits(data, noise=False).mean

    def predictive(self, data: Any) -> StudentT:
        """Return the distribution of the targets of one more row at each row, Student t of shape (n, m)."""
        return self._fits(data).predictive()

    def _bounds(self, data: Any, level: float) -> tuple[Floats, Floats]:
        return self._fits(data).interval(level)

    def _shaped(self, outputs: Floats) -> Floats:
        return outputs if self.outputs.ndim == 2 else outputs[:, 0]

    def neighborhood(self, query: Any) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows around one query and their weights, the largest first."""
        return fit.neighborhood(self.space, self.settings, self.points(query))

    def leave_one_out(self, *, max_rows: int | None = None, random_state: Any = None) -> LocalFit:
        """Return the fit at every row to the other rows, or at a random sample of `max_rows` rows."""
        rows = model_selection.some_rows(self.space, max_rows, random_state)
        found = model_selection.leave_one_out_fit(self.space, self.settings, rows)
        return found if self.outputs.ndim == 2 else fit.squeezed(found)

    def leave_one_out_rows(self, max_rows: int) -> tuple[NDArray[np.int64], LocalFit]:
        """Return a sample of rows, and the fit at each to the other rows."""
        rows = model_selection.some_rows(self.space, max_rows, 0)
        return rows, model_selection.leave_one_out_fit(self.space, self.settings, rows)

    @property
    def settings(self) -> Settings:
        """How the fits are made."""
        return self.tried[0].settings if self.free else self.init

    @cached_property
    def tried(self) -> tuple[Tried, ...]:
        """The settings that leave-one-out tried, the best first; none if all are given."""
        if not self.free:
            return ()
        return tuple(
            model_selection.choose(
                self.space, self.init, self.free, max_rows=self.loo_rows, random_state=self.random_state
            )
        )

    @cached_property
    def noise(self) -> Floats:
        """The variance of the noise of each target over all rows, by leave-one-out without the variance of the fits."""
        rows = model_selection.some_rows(self.space, NOISE_ROWS, 0)
        found = model_selection.leave_one_out_fit(self.space, self.settings, rows)
        square = (found.mean - self.space.outputs[rows]) ** 2 / (1 + found.spread[:, None])
        return np.asarray(np.average(square, axis=0, weights=self.sample_weight[rows]))

    def points(self, X: Any) -> Floats:
        """Return rows as points: standardized, missing cells filled, without constant features."""
        return self._seen(self.features.encode(as_rows(X), warn_unseen=True).matrix)

    @cached_property
    def space(self) -> fit.Space:
        """The rows with their targets, with a search index."""
        x = self._seen(np.where(np.isnan(self.rows), self.features.mean, self.rows))
        return fit.Space(x, self.outputs.reshape(len(x), -1), self.sample_weight)

    @property
    def _varies(self) -> NDArray[np.bool_]:
        return self.features.spread > 0

    def _seen(self, x: Floats) -> Floats:
        points = self.features.standardized(x) if self.standardize else x - self.features.mean
        return np.ascontiguousarray(points[:, self._varies])

    def _in_units(self, slopes: Floats) -> Floats:
        """Slopes in the units of the features, 0 for those that are constant."""
        found = np.zeros((*slopes.shape[:2], self.features.size))
        found[..., self._varies] = slopes / self.features.spread[self._varies] if self.standardize else slopes
        return found

    # -- more rows, fewer rows

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> LocalRegressionModel:
        """Return the model with more rows.

        Parameters
        ----------
        data
            Rows with the columns of the model.
        target
            Columns of `data` with the targets, by default those that the model predicts, or the targets themselves.
        sample_weight
            The weight of each row, or the column that holds it.
        """
        x, y, w = self._more(data, target, sample_weight)
        lineage = row_lineage.extended(self._lineage(), [x, y, w], len(x))
        return self._of(*self._joined(x, y, w), lineage)

    def remove(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> LocalRegressionModel:
        """Return the model without some of its rows, each of which must be among them with the same target."""
        x, y, w = self._joined(*self._more(data, target, sample_weight))
        left = row_lineage.remaining(np.column_stack([x, y]), w, len(self.rows))
        kept = np.flatnonzero(left > 0)
        lineage = row_lineage.taken(self._lineage(), kept)
        return self._of(x[kept], y[kept], left[kept], lineage)

    def merge(self, *others: LocalRegressionModel) -> LocalRegressionModel:
        """Return the model with the rows of others; rows that several were updated from count once."""
        return reduce(lambda one, other: one + other, others, self)

    def __add__(self, other: LocalRegressionModel) -> LocalRegressionModel:
        """The rows of both, with the settings of the first."""
        if not isinstance(other, LocalRegressionModel):
            return NotImplemented
        self.features.require_same(other.features)
        if self.outputs.shape[1:] != other.outputs.shape[1:]:
            raise MismatchError("the models have different numbers of targets", differs="targets")
        mine, theirs, lineage = row_lineage.merged(
            self._lineage(), other._lineage(), self.sample_weight, other.sample_weight
        )
        parts = [(m.rows[r], m.outputs[r], m.sample_weight[r]) for m, r in ((self, mine), (other, theirs))]
        x, y, w = (np.concatenate(side) for side in zip(*parts, strict=True))
        return self._of(x, y, w, lineage)

    def discount(self, forgetting_factor: float) -> LocalRegressionModel:
        """Return the model with the weights of its rows multiplied by a factor in (0, 1]."""
        factor = validation.number("forgetting_factor", forgetting_factor, above=0, max_value=1)
        return self._of(self.rows, self.outputs, self.sample_weight * factor, self._lineage())

    def _more(self, data: Any, target: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats]:
        """Rows that are added or removed: points, targets and weights."""
        data = as_rows(data)
        y = self._truth(data, target)
        x = self.features.raw(self.features.table(data))
        w = as_weights(data, sample_weight, len(x))
        return x, checked_outputs(y[:, 0] if self.outputs.ndim == 1 else y, len(x)), w

    def _joined(self, x: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
        """The rows of the model, and more."""
        own = (self.rows, self.outputs, self.sample_weight)
        return tuple(np.concatenate(side) for side in zip(own, (x, y, w), strict=True))  # type: ignore[return-value]

    def _of(self, x: Floats, y: Floats, w: Floats, lineage: RowLineage) -> LocalRegressionModel:
        """The model of these rows, with the settings of this one."""
        return replace(self, rows=x, outputs=y, sample_weight=w, lineage=lineage)

    def _lineage(self) -> RowLineage:
        """The update that each row came with."""
        return row_lineage.started(self.lineage, [self.rows, self.outputs, self.sample_weight], len(self.rows))

    # -- what it shows

    def report(self) -> Report:
        """Return the settings."""
        return diagnostics.local_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return targets, features and settings as plain values."""
        return diagnostics.plain_local(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the training rows as points, with their targets, as a data frame."""
        return diagnostics.local_frame(self, backend)

    def plot(self, data: Any = None, target: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the function over its only numeric column, or predicted against observed values of these rows.

        By default the rows are those of training.
        """
        return plots.plot_regression(self, data, target, level=level, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values: the rows, null where a cell is missing, and how they are fitted.

        {"features", "targets": names, "rows", "outputs", "sample_weight", "settings", "standardize",
         "noise_sample_size", "lineage"?}

        Settings are written as leave-one-out selected them.
        """
        document = {
            "features": self.features.to_dict(),
            "targets": list(self.targets),
            "rows": np.ma.masked_invalid(self.rows),
            "outputs": self.outputs.reshape(len(self.rows), -1),
            "sample_weight": self.sample_weight,
            "settings": asdict(self.settings),
            "standardize": self.standardize,
            "noise_sample_size": self.noise_sample_size,
        }
        return document if self.lineage is None else document | {"lineage": self.lineage.to_dict()}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> LocalRegressionModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "targets": [str], "rows": ARRAY, "outputs": ARRAY, "sample_weight": ARRAY,
            "settings": dict, "standardize": bool, "noise_sample_size": NUMBER,
        }  # fmt: skip
        entry, names, rows, targets, weights, settings, standardize, noise = reader.model(document, keys)
        features = Features.checked(reader, entry)
        if not names:
            reader.wrong(f"{names!r:.60} are no names of targets")
        reader.entries(settings, SETTINGS, "settings")
        x = reader.array(rows, "rows", missing=True).astype(np.float64, copy=False)
        y, w = reader.numbers(targets, "outputs"), reader.numbers(weights, "sample_weight")
        n = len(x) if x.ndim else 0
        if not n or x.shape != (n, features.size) or y.shape != (n, len(names)) or w.shape != (n,):
            reader.wrong(f"rows {x.shape}, targets {y.shape} and weights {w.shape} do not fit each other")
        if (w < 0).any() or noise < 0:
            reader.wrong("a weight is below zero")
        flat = y[:, 0] if len(names) == 1 else y
        return cls(
            features, x, flat, w, Settings(**settings), standardize=standardize, noise_sample_size=float(noise),
            targets=tuple(names), lineage=reader.row_lineage(document, n),
        )  # fmt: skip


def as_rows(X: Any) -> Any:
    """Lists of numbers as a matrix; anything else unchanged."""
    if not isinstance(X, list | tuple | np.ndarray):
        return X
    try:
        x = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return X
    if x.ndim != 2:
        raise ShapeError(f"expected rows of numbers, got an array of shape {x.shape}", hint="use X[:, None]")
    return x


def checked_outputs(y: ArrayLike, n: int) -> Floats:
    """Targets (n,) or (n, m), none missing."""
    outputs = validation.float_array("target", y)
    if outputs.ndim not in {1, 2} or len(outputs) != n:
        raise ShapeError(f"expected one target per row, got shape {outputs.shape} for {n} rows")
    bad = ~np.isfinite(outputs)
    if bad.any():
        raise MissingValuesError(
            f"the target at {validation.first_position(bad)} is {outputs[bad][0]}",
            hint="drop the rows without a target",
        )
    return outputs


rename_keys("local regression", 1, {"standardise": "standardize"})


@upgrade("local regression", 2)
def with_underscore(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name the kernel as it is named now."""
    settings = parts.get("settings")
    if not isinstance(settings, dict) or settings.get("kernel") != "inverse square":
        return parts
    return parts | {"settings": settings | {"kernel": "inverse_square"}}


def as_weights(data: Any, sample_weight: Any, n: int) -> Floats:
    """The weights of rows: an array, a column of the data, or the weights of a table."""
    if sample_weight is None and isinstance(data, Table):
        sample_weight = data.sample_weight
    if isinstance(sample_weight, str):
        sample_weight = as_table(data, columns=[], sample_weight=sample_weight).sample_weight
    return validation.weights(sample_weight, n)


#: Keys and words as version 3 had them.
RENAMED = {"outputs": "targets", "targets": "outputs", "weights": "sample_weight", "noise_cases": "noise_sample_size"}
LOCALITIES = {"E1": "neighbors", "E2": "kernel", "E3": "kernel_neighbors"}


@upgrade("local regression", 3)
def with_full_names(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name settings as parameters are named."""
    named = {RENAMED.get(key, key): value for key, value in parts.items()}
    settings = named.get("settings")
    if isinstance(settings, dict):
        names = {"criterion": "locality", "k": "n_neighbors"}
        settings = {names.get(key, key): value for key, value in settings.items()}
        locality = settings.get("locality")
        named["settings"] = settings | {"locality": LOCALITIES.get(str(locality), locality)}
    return named
