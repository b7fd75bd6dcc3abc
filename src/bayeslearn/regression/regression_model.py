"""A function of the columns of a table, learned: least squares, or radial units with a linear output.

    row → point (:mod:`.features`) → units (:mod:`.radial`), if there are any → linear fit (:mod:`.linear`)

A model is a value that keeps its prior and statistics, so that learning goes on: rows are added (:meth:`update`),
models are merged (``a + b``), taken back (``a − b``) and faded (``0.9 * a``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.capacity import require_numbers
from bayeslearn.codec import Saved, rename_keys
from bayeslearn.distributions import JointMoments, RegressionPrior
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.errors import MismatchError, ShapeError, listed
from bayeslearn.model_values import ARRAY, is_scatter, plain, plain_lineage
from bayeslearn.printable import printable
from bayeslearn.regression.bayesian_linear import LinearFit, collect
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.inputs import require_rows
from bayeslearn.regression.out_of_core import collected_from, more_of, opened
from bayeslearn.regression.priors import prior_of
from bayeslearn.regression.rbf import RBFBasis
from bayeslearn.regression.targets import Examples, examples, numbers_in, numbers_of, target_names
from bayeslearn.sources import with_options
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Schema, as_table
from bayeslearn.tables.variables import NumericVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: Numbers in the largest block of units that is held at once.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Predicted:
    """An output at each row, and what had to be made up on the way."""

    #: Student t of shape (n, m); None where an interval is undefined.
    mean: Floats
    low: Floats | None = None
    high: Floats | None = None
    filled: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RegressionModel(Saved, kind="regression", version=2):
    """Numbers as a function of columns; :func:`fit_linear` and :func:`~bayeslearn.regression.fit_rbf` learn one."""

    features: Features
    outputs: tuple[str, ...]
    fit: LinearFit
    basis: RBFBasis | None = None

    def __post_init__(self) -> None:
        wide = self.features.size if self.basis is None else self.basis.size
        if self.fit.dim != wide or self.fit.n_outputs != len(self.outputs):
            raise ShapeError(
                f"{wide} inputs and {len(self.outputs)} outputs do not fit {self.fit.dim} and {self.fit.n_outputs}"
            )

    def __repr__(self) -> str:
        what = "least squares" if self.basis is None else f"{self.basis.size} radial units"
        inputs = ", ".join(self.features.schema.names)
        return printable(f"RegressionModel({', '.join(self.outputs)} of {inputs}: {what}; {self.cases:.10g} cases)")

    @property
    def cases(self) -> float:
        """How many cases it rests on."""
        return self.fit.cases

    # -- what it says

    def predict(self, data: Any) -> Floats:
        """The expected outputs at each row, (n, m)."""
        with in_range():
            found = np.concatenate([self.fit.mean(x) for x in self.blocks(data)])
        require_range(found)
        return found

    def predicted(self, data: Any, *, level: float = 0.95, missing_columns: Any = "error") -> Predicted:
        """The expected outputs with intervals for one more case, and which cells were filled."""
        rows = self.features.encode(data, missing_columns=missing_columns)
        parts = [self.fit.predictive(x) for x in self._blocks(rows.matrix)]
        bounds = [part.interval(level) for part in parts]
        low, high = (np.concatenate([b[side] for b in bounds]) for side in (0, 1))
        return Predicted(np.concatenate([p.location for p in parts]), low, high, rows.filled, rows.unseen)

    def spread(self, data: Any) -> Floats:
        """The standard deviation of one more case at each row, (n, m); infinite of two degrees of freedom or fewer."""
        parts = [self.fit.predictive(x) for x in self.blocks(data)]
        ν = parts[0].dof[0]
        inflation = np.sqrt(np.where(ν > 2, ν / np.where(ν > 2, ν - 2, 1.0), np.inf))
        return np.concatenate([np.where(p.scale > 0, p.scale * inflation, 0.0) for p in parts])

    def log_evidence(self) -> float:
        """ln p(outputs | inputs), everything else integrated out; it takes a proper prior."""
        return float(self.fit.log_evidence().sum())

    def leave_one_out_residuals(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> Floats:
        """What each of the cases it learned is off by when predicted from all others, (n, m); see PRESS."""
        found = data if isinstance(data, Examples) else self.cases_of(data, target, sample_weight)
        w = np.ones(len(found.targets)) if found.sample_weight is None else found.sample_weight
        parts, at = [], 0
        for x in self.blocks(found.inputs):
            rows = slice(at, at + len(x))
            parts.append(self.fit.leave_one_out_residuals(x, found.targets[rows], sample_weight=w[rows]))
            at += len(x)
        return np.concatenate(parts)

    # -- rows

    def design(self, data: Any) -> Floats:
        """What the linear fit sees of each row: features, or how near every center is."""
        return np.concatenate(list(self.blocks(data)))

    def blocks(self, data: Any) -> Iterator[Floats]:
        """The same, some rows at a time."""
        return self._blocks(self.features.encode(data).matrix)

    def _blocks(self, matrix: Floats) -> Iterator[Floats]:
        return design_blocks(self.features, self.basis, matrix)

    def cases_of(self, data: Any, target: Any = None, sample_weight: Any = None) -> Examples:
        """Rows with their outputs, by the columns of training; `target` where these are not columns of the data."""
        names = self.outputs if target is None else target_names(target)
        w = sample_weight
        if names is None:
            found = numbers_of(target)
        else:
            schema = Schema(NumericVariable(name) for name in names)
            table = as_table(data, schema=schema, sample_weight=sample_weight)
            found, w = np.column_stack([numbers_in(table, name) for name in names]), table.sample_weight
        return Examples(data, found, self.outputs, None if w is None else np.asarray(w, dtype=float))

    # -- evidence adds

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> RegressionModel:
        """More rows, or a source of them; the encoding, the centers and the prior stay."""
        if self.basis is None and is_source(data):
            seen = more_of(data, self.features, self.outputs, target, sample_weight)
            return replace(self, fit=self.fit.with_more(seen))
        require_rows(data)
        found = self.cases_of(data, target, sample_weight)
        x = self.features.encode(found.inputs).matrix
        more = collected(self.features, self.basis, x, found.targets, found.sample_weight)
        return replace(self, fit=self.fit.with_more(more))

    def __add__(self, other: RegressionModel) -> RegressionModel:
        if not isinstance(other, RegressionModel):
            return NotImplemented
        self.require_same(other)
        return replace(self, fit=self.fit + other.fit)

    def __sub__(self, other: RegressionModel) -> RegressionModel:
        if not isinstance(other, RegressionModel):
            return NotImplemented
        self.require_same(other)
        return replace(self, fit=self.fit - other.fit)

    def __mul__(self, factor: float) -> RegressionModel:
        return replace(self, fit=self.fit * factor)

    __rmul__ = __mul__

    def require_same(self, other: RegressionModel) -> None:
        """Only models of the same columns, centers and prior can be joined."""
        self.features.require_same(other.features)
        if self.outputs != other.outputs:
            raise MismatchError(
                f"these have different outputs: {listed(self.outputs)} and {listed(other.outputs)}", differs="outputs"
            )
        if self.basis is not other.basis and (
            self.basis is None or other.basis is None or not self.basis.same(other.basis)
        ):
            raise MismatchError(
                "these have different radial units", hint="grow both from one model by `updated`", differs="units"
            )

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"features", "basis": {"centers", "widths"} or null, "outputs", "prior", "statistics", "lineage"}
        """
        return {
            "features": self.features.to_dict(),
            "basis": None if self.basis is None else plain(self.basis),
            "outputs": list(self.outputs),
            "prior": plain(self.fit.prior),
            "statistics": plain(self.fit.statistics),
            **plain_lineage(self.fit.lineage),
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> RegressionModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "basis": (dict, type(None)), "outputs": [str], "prior": dict, "statistics": dict,
        }  # fmt: skip
        entry, units, outputs, prior, statistics = reader.model(document, keys)
        features = Features.checked(reader, entry)
        basis = None if units is None else RBFBasis.checked(reader, units, features.size)
        if not outputs:
            reader.wrong(f"{outputs!r:.60} are no names of outputs")
        d, m = (features.size if basis is None else basis.size), len(outputs)
        require_numbers("the moments of the inputs and outputs", (d + m, d + m))
        found = reader.statistics(statistics, JointMoments.zero((d + m,)))
        reader.require_units("n", np.asarray(found.n))
        shapes = {"kappa": (m,), "center": (m, d + 1), "scatter": (m, d + 1, d + 1), "alpha": (m,)}
        values = reader.entries(prior, dict.fromkeys(shapes, ARRAY), "a prior")
        arrays = {name: reader.numbers(value, name, shapes[name]) for name, value in zip(shapes, values, strict=True)}
        reader.require_units("kappa", arrays["kappa"])
        if not is_scatter(arrays["scatter"]):
            reader.wrong("the scatter of the prior is not symmetric, or below zero in some direction")
        fit = LinearFit(RegressionPrior(**arrays), found, d, reader.lineage(document, found))
        return cls(features, tuple(outputs), fit, basis)


def fit_linear(
    data: Any,
    target: Any,
    *,
    prior: RegressionPrior | str | float | None = "auto",
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> RegressionModel:
    """Least squares: a linear function of the columns of a table, with all that is uncertain about it.

    Parameters
    ----------
    data
        A table, a frame, an array, a dict of columns, a list of rows, or the path of a file; or a source
        (:func:`~bayeslearn.scan`, or the pattern of files), which is read twice.
    target
        The name of the column to learn, several names, or the outputs themselves, (n,) or (n, m).
    prior
        ``"auto"``: ``"reference"`` (least squares with the textbooks' intervals) where the rows determine every weight,
        else ``"weak"``. Or ``"none"`` (maximum likelihood), a number of cases (ridge), ``"evidence"`` (as many as the
        evidence asks for), or a prior; see :mod:`bayeslearn.regression.priors`.
    columns, discrete, sample_weight, max_states, left_out
        As in :meth:`Features.learn`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Examples
    --------
    >>> line = fit_linear({"hours": [1.0, 2.0, 3.0, 4.0], "grade": [2.0, 4.0, 5.0, 8.0]}, "grade")
    >>> line
    RegressionModel(grade of hours: least squares; 4 cases)
    >>> line.predict({"hours": [5.0]}).tolist()
    [[9.5]]
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    if is_source(data):
        source, names = opened(
            data,
            target,
            columns=columns,
            discrete=discrete,
            sample_weight=sample_weight,
            max_states=max_states,
            left_out=left_out,
        )
        features, moments = collected_from(source, names)
        return RegressionModel(
            features, names, LinearFit(prior_of(prior, moments, features.size), moments, features.size)
        )
    found = examples(
        data,
        target,
        columns=columns,
        discrete=discrete,
        sample_weight=sample_weight,
        max_states=max_states,
        left_out=left_out,
    )
    return learned(Features.learn(found.inputs, sample_weight=found.sample_weight), None, found, prior)


def learned(features: Features, basis: RBFBasis | None, found: Examples, prior: Any) -> RegressionModel:
    """The model of these examples."""
    x = features.encode(found.inputs).matrix
    moments = collected(features, basis, x, found.targets, found.sample_weight)
    dim = features.size if basis is None else basis.size
    return RegressionModel(features, found.names, LinearFit(prior_of(prior, moments, dim), moments, dim), basis)


def collected(
    features: Features, basis: RBFBasis | None, matrix: Floats, targets: Floats, sample_weight: Floats | None
) -> JointMoments:
    """The moments of points and outputs, block by block."""
    total: Any = 0
    at = 0
    for x in design_blocks(features, basis, matrix):
        rows = slice(at, at + len(x))
        total = total + collect(x, targets[rows], None if sample_weight is None else sample_weight[rows])[0]
        at += len(x)
    return total


def design_blocks(features: Features, basis: RBFBasis | None, matrix: Floats) -> Iterator[Floats]:
    """Points as a linear fit sees them, some at a time."""
    if basis is None:
        yield matrix
        return
    step = max(BLOCK // basis.size, 1)
    for start in range(0, max(len(matrix), 1), step):
        yield basis(features.standardized(matrix[start : start + step]))


rename_keys("regression", 1, {"basis/centres": "centers", "prior/centre": "center"})
