"""A local regression keeps its rows, and fits around a query when it is asked.

    f̂(q) = the value at q of the fit to the rows around q

Attributes are told in units of their standard deviation (``standardize=False`` leaves them), so that a distance means
the same in every direction; those that do not vary are left out. Rows are evidence: ``a + b`` has the rows of both.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.codec import Saved, rename_keys, upgrade
from bayeslearn.distributions.moments import require_squares
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import EvidenceError, MismatchError, MissingValuesError, ShapeError, listed
from bayeslearn.model_values import ARRAY, NUMBER
from bayeslearn.regression.feature_encoding import Features, center_and_spread
from bayeslearn.regression.inputs import read
from bayeslearn.regression.local import fit, model_selection
from bayeslearn.regression.local.settings import CRITERIA, Settings
from bayeslearn.sources.usability import dropping, warn_dropped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.regression.local.model_selection import Tried
    from bayeslearn.regression.local.results import LocalFit

    Floats = NDArray[np.float64]

#: Kinds of the settings in files.
SETTINGS: dict[str, Any] = {
    "degree": int, "criterion": str, "kernel": str, "k": (int, type(None)), "bandwidth": (*NUMBER, type(None)),
    "ridge": NUMBER,
}  # fmt: skip

#: The most rows that are left out to learn the noise.
NOISE_ROWS = 2000


@dataclass(frozen=True, eq=False)
class LocalRegressionModel(Saved, kind="local regression", version=3):
    """Rows that answer by themselves; :func:`local_regression` makes one."""

    #: The encoding of rows, in the units of these rows.
    features: Features
    #: The rows as points, NaN where a cell is missing, and their outputs (n,) or (n, m).
    rows: Floats
    outputs: Floats
    sample_weight: Floats
    #: How to fit, but for what is free: that is chosen by leave-one-out when first asked for.
    start: Settings
    free: frozenset[str] = frozenset()
    standardize: bool = True
    #: How many cases the noise of all rows counts for around a query.
    noise_cases: float = 10.0
    #: The most rows that are left out to choose, and the seed by which they are drawn.
    loo_rows: int | None = 5000
    seed: int = 0
    #: The names of the outputs, for reports and files: y, or y0, y1, ... when not given.
    output_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        there = np.asarray(self.sample_weight) > 0
        if not there.any():
            raise EvidenceError("every row has weight zero, so there is none to learn from")
        for name in ("rows", "outputs", "sample_weight"):
            object.__setattr__(self, name, frozen(getattr(self, name)[there]))
        require_squares("targets", self.outputs)
        m = 1 if self.outputs.ndim == 1 else self.outputs.shape[1]
        names = tuple(self.output_names) or (("y",) if m == 1 else tuple(f"y{i}" for i in range(m)))
        if len(names) != m:
            raise ShapeError(f"there are {m} outputs, and {len(names)} names: {listed(names)}")
        object.__setattr__(self, "output_names", names)
        mean, spread = center_and_spread(self.rows, self.sample_weight)
        object.__setattr__(self, "features", replace(self.features, mean=mean, spread=spread))

    def __repr__(self) -> str:
        return f"LocalRegressionModel({len(self.rows)} rows of {listed(self.features.names)}; {self.settings})"

    def at(self, X: Any, *, slopes: bool = False, noise: bool = True) -> LocalFit:
        """The fits around each query; without the noise of all rows when only their means are wanted.

        >>> model = local_regression([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0], k=4)
        >>> model.at([[1.5], [10.0]]).mean
        array([ 4., 21.])
        """
        found = fit.fits(self.space, self.settings, self.points(X), slopes=slopes)
        if found.slopes is not None:
            found = replace(found, slopes=self._told(found.slopes))
        if noise and self.noise_cases and len(self.rows) > 1:
            found = replace(found, noise_cases=self.noise_cases, noise_before=self.noise)
        return found if self.outputs.ndim == 2 else fit.squeezed(found)

    def neighbourhood(self, query: Any) -> tuple[NDArray[np.int64], Floats]:
        """The rows around one query and their weights, the heaviest first."""
        return fit.neighbourhood(self.space, self.settings, self.points(query))

    def leave_one_out(self, *, most: int | None = None, random_state: Any = None) -> LocalFit:
        """The fit at every row to the others: its errors are those that new rows will see."""
        found = model_selection.left_out(
            self.space, self.settings, model_selection.some_rows(self.space, most, random_state)
        )
        return found if self.outputs.ndim == 2 else fit.squeezed(found)

    @property
    def settings(self) -> Settings:
        """How the fits are made."""
        return self.tried[0].settings if self.free else self.start

    @cached_property
    def tried(self) -> tuple[Tried, ...]:
        """What leave-one-out tried, the best first; nothing where all is told."""
        if not self.free:
            return ()
        return tuple(
            model_selection.choose(self.space, self.start, self.free, most=self.loo_rows, random_state=self.seed)
        )

    @cached_property
    def noise(self) -> Floats:
        """The variance of the noise of each output over all rows: that of leave-one-out, less what the fits are off."""
        rows = model_selection.some_rows(self.space, NOISE_ROWS, 0)
        found = model_selection.left_out(self.space, self.settings, rows)
        square = (found.mean - self.space.outputs[rows]) ** 2 / (1 + found.spread[:, None])
        return np.asarray(np.average(square, axis=0, weights=self.sample_weight[rows]))

    def points(self, X: Any) -> Floats:
        """Rows as they are seen: told in standard deviations, missing cells filled, constant features left out."""
        return self._seen(self.features.encode(as_rows(X), warn_unseen=True).matrix)

    @cached_property
    def space(self) -> fit.Space:
        """The rows with their outputs, ready to be searched."""
        x = self._seen(np.where(np.isnan(self.rows), self.features.mean, self.rows))
        return fit.Space(x, self.outputs.reshape(len(x), -1), self.sample_weight)

    @property
    def _varies(self) -> NDArray[np.bool_]:
        return self.features.spread > 0

    def _seen(self, x: Floats) -> Floats:
        told = self.features.standardized(x) if self.standardize else x - self.features.mean
        return np.ascontiguousarray(told[:, self._varies])

    def _told(self, slopes: Floats) -> Floats:
        """Slopes in units of the attributes, 0 for those that do not vary."""
        told = np.zeros((*slopes.shape[:2], self.features.size))
        told[..., self._varies] = slopes / self.features.spread[self._varies] if self.standardize else slopes
        return told

    # -- evidence adds

    def __add__(self, other: LocalRegressionModel) -> LocalRegressionModel:
        """The rows of both, by the settings of the first."""
        if not isinstance(other, LocalRegressionModel):
            return NotImplemented
        self.features.require_same(other.features)
        if self.outputs.shape[1:] != other.outputs.shape[1:]:
            raise MismatchError("these have different numbers of outputs", differs="outputs")
        rows, outputs, weights = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("rows", "outputs", "sample_weight")
        )
        return replace(self, rows=rows, outputs=outputs, sample_weight=weights)

    def update(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> LocalRegressionModel:
        """These rows too."""
        x = self.features.raw(self.features.table(as_rows(X)))
        w = validation.weights(sample_weight, len(x))
        return self + replace(self, rows=x, outputs=checked_outputs(y, len(x)), sample_weight=w)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values: the rows, null where a cell is missing, and how they are fitted.

        {"features", "outputs", "rows", "targets", "weights", "settings", "standardize", "noise_cases"}

        What leave-one-out chose is written as chosen.
        """
        return {
            "features": self.features.to_dict(),
            "outputs": list(self.output_names),
            "rows": np.ma.masked_invalid(self.rows),
            "targets": self.outputs.reshape(len(self.rows), -1),
            "weights": self.sample_weight,
            "settings": asdict(self.settings),
            "standardize": self.standardize,
            "noise_cases": self.noise_cases,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> LocalRegressionModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "outputs": [str], "rows": ARRAY, "targets": ARRAY, "weights": ARRAY, "settings": dict,
            "standardize": bool, "noise_cases": NUMBER,
        }  # fmt: skip
        entry, names, rows, targets, weights, settings, standardize, noise = reader.entries(document, keys, "a model")
        features = Features.checked(reader, entry)
        if not names:
            reader.wrong(f"{names!r:.60} are no names of outputs")
        reader.entries(settings, SETTINGS, "settings")
        x = reader.array(rows, "rows", missing=True).astype(np.float64, copy=False)
        y, w = reader.numbers(targets, "targets"), reader.numbers(weights, "weights")
        n = len(x) if x.ndim else 0
        if not n or x.shape != (n, features.size) or y.shape != (n, len(names)) or w.shape != (n,):
            reader.wrong(f"rows {x.shape}, targets {y.shape} and weights {w.shape} do not fit each other")
        if (w < 0).any() or noise < 0:
            reader.wrong("a weight is below zero")
        flat = y[:, 0] if len(names) == 1 else y
        return cls(
            features, x, flat, w, Settings(**settings), standardize=standardize, noise_cases=float(noise),
            output_names=tuple(names),
        )  # fmt: skip


def local_regression(
    X: Any,
    y: ArrayLike,
    *,
    degree: int | Literal["auto"] = 1,
    criterion: Literal["E1", "E2", "E3"] = "E3",
    kernel: str = "tricube",
    k: int | Literal["auto"] | None = "auto",
    bandwidth: float | Literal["auto"] | None = None,
    ridge: float = 0.0,
    standardize: bool = True,
    noise_cases: float = 10.0,
    discrete: Iterable[str] = (),
    sample_weight: ArrayLike | None = None,
    loo_rows: int | None = 5000,
    random_state: np.random.Generator | int | None = None,
) -> LocalRegressionModel:
    """Keep the rows; fit around a query when it is asked.

    Parameters
    ----------
    X, y
        Rows, as an array or a table of any kind, and their outputs, (n,) or (n, m).
    degree
        0, 1 or 2: constant, linear, quadratic.
    criterion
        ``"E1"``: the k nearest rows alike; ``"E2"``: all rows by their weight; ``"E3"``: the k nearest by weight.
    kernel
        How weight falls with distance: see :mod:`.distance`.
    k
        How many rows E1 and E3 look at, at most all of them.
    bandwidth
        Where the kernel ends (a Gaussian: its σ), in standard deviations of the attributes. None: the distance of the
        k-th nearest row; E2 then chooses by leave-one-out.
    ridge
        The prior's precision of the slopes. Without one, fits that the rows do not determine get a small one.
    standardize
        Whether attributes are told in standard deviations.
    noise_cases
        How many cases the noise of all rows counts for, beside the rows around a query; 0: the noise is quite local.
    discrete
        Columns of a table whose numbers are names.
    sample_weight
        How often each row counts.
    loo_rows, random_state
        ``"auto"`` for `degree`, `k` or `bandwidth` takes what predicts rows left out best; so many rows, at random.
    """
    gone = dropping(X, None)
    table = read(as_rows(X), discrete=discrete, left_out=gone)
    warn_dropped(gone, named=True)
    features = Features.learn(table, every_state=degree == 0)
    outputs, w = checked_outputs(y, table.n_rows), validation.weights(sample_weight, table.n_rows)
    criterion = validation.choice("criterion", criterion, CRITERIA)
    if criterion == "E2":
        k, bandwidth = None, "auto" if bandwidth is None and kernel != "inverse_square" else bandwidth
    elif k is None:
        k = "auto"
    asked = {"degree": (degree, 1), "k": (k, 1), "bandwidth": (bandwidth, 1.0)}
    told: dict[str, Any] = {name: default if value == "auto" else value for name, (value, default) in asked.items()}
    free = frozenset(name for name, (value, _) in asked.items() if value == "auto")
    start = Settings(criterion=criterion, kernel=kernel, ridge=ridge, **told)
    cases, seed = (
        validation.number("noise_cases", noise_cases, min_value=0),
        validation.generator(random_state).integers(2**32),
    )
    return LocalRegressionModel(
        features, features.raw(table), outputs, w, start, free, standardize, cases, loo_rows, int(seed)
    )  # fmt: skip


def as_rows(X: Any) -> Any:
    """Lists of numbers as the matrix they are; anything else as it is."""
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
    """Outputs (n,) or (n, m), none missing."""
    outputs = validation.float_array("y", y)
    if outputs.ndim not in {1, 2} or len(outputs) != n:
        raise ShapeError(f"expected one y per row of X, got shape {outputs.shape} for {n} rows")
    bad = ~np.isfinite(outputs)
    if bad.any():
        raise MissingValuesError(
            f"y at {validation.first_position(bad)} is {outputs[bad][0]}, and a row answers by its y",
            hint="drop the rows whose y is not known",
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
