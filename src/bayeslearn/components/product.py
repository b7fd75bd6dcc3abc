"""The product of components: what naive Bayes, mixtures and hidden Markov models hold, with separate parameters.

    p(x | row) = Π_components p(x_component | θ_component, row)

    block        cells of all components, checked once
    collect      statistics of a block: by the label of each case, or by its shares of all rows
    add          ln p of a block, added to ln P(row, case)
    expect       the E step: shares, statistics and log likelihood of hidden rows in one sweep
    estimate     posterior means        log_prior, shaped, draw, n_parameters        as the distributions have them

Where all columns of a block are of one distribution and in one array, its kernels take them at once; a sweep,
registered by the names of the distributions that it serves (:func:`register_sweep`), does all of `expect`. Without them
one component follows the other, and the answers are the same.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.components.component import ColumnDensity, Component
from bayeslearn.distributions.categorical import Counts
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.distributions.sufficient_statistics import Assignment, StatisticsBundle
from bayeslearn.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Density, Kernels
    from bayeslearn.components.rows import Rows

    Floats = NDArray[np.float64]
    Cells = Sequence[NDArray[Any]] | NDArray[Any]


#: Numbers in the largest array that an E step makes without a sweep.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Product:
    """Components that are independent once the row of parameters is known."""

    components: tuple[Component, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the distributions."""
        return tuple(c.distribution.name for c in self.components)

    def n_parameters(self, rows: int) -> int:
        """The number of free parameters of `rows` rows."""
        return sum(c.distribution.n_parameters(rows) for c in self.components)

    def block(self, data: Any, sample_weight: Any = None) -> Rows:
        """The cells of all components: of what has names by these, of others by order."""
        from bayeslearn.components.rows import in_batch  # noqa: PLC0415 - naive Bayes reads rows in blocks

        return in_batch(self.components, data, sample_weight)

    # -- statistics

    def collect(self, cells: Cells, to: Assignment, parameters: Sequence[Any] | None = None) -> list[Any]:
        """What a block shows of each component; :meth:`total` makes statistics of it. A case of group −1 is left out.

        Where parameters are given, what is missing in a case is expected by these.
        """
        if to.groups is not None:
            labels, weights = to.groups.astype(np.int32, copy=False), [to.sample_weight]
            rows, to = to.rows[0], Assignment(to.sample_weight, to.groups.astype(np.intp, copy=False), to.n_groups)
        else:
            shares = np.ascontiguousarray(to.sample_weight.T)
            labels, weights, rows, to = np.zeros(len(to.sample_weight), np.int32), list(shares), 1, Assignment(shares.T)

        def compiled(found: Kernels, components: Sequence[Component], columns: NDArray[Any]) -> list[Any]:
            shown = [np.asarray(found.collect(components, columns, labels, w, rows)) for w in weights]
            return list(shown[0] if len(shown) == 1 else np.concatenate(shown, axis=-1))

        fused = self._fused(cells)
        if fused is not None:
            return compiled(fused, self.components, cells)  # type: ignore[arg-type]
        given = [None] * len(self.components) if parameters is None else parameters
        return [
            _expected(c, x, to, θ) if c.kernels is None else compiled(c.kernels, [c], x[None])[0]
            for c, x, θ in zip(self.components, cells, given, strict=True)
        ]

    def _fused(self, cells: Cells) -> Kernels | None:
        first = self.components[0].kernels if self.components and isinstance(cells, np.ndarray) else None
        return first if all(c.kernels is first for c in self.components) else None

    def total(self, blocks: Sequence[Sequence[Any]], rows: int) -> StatisticsBundle:
        """The statistics of every component, by its name, of what blocks showed."""
        if not blocks:
            return StatisticsBundle({c.name: c.distribution.zero((rows,)) for c in self.components})
        shown = zip(self.components, zip(*blocks, strict=True), strict=True)
        return StatisticsBundle({
            c.name: sum(parts) if c.kernels is None else c.kernels.statistics(c, np.stack(parts)) for c, parts in shown
        })  # fmt: skip

    # -- densities

    def density(self, parameters: Sequence[Any]) -> ProductDensity:
        """What each component adds to ln P(row, case)."""
        return ProductDensity([c.density(θ) for c, θ in zip(self.components, parameters, strict=True)])

    def posterior_density(self, statistics: Any, estimate: str, sharpness: Sequence[float]) -> ProductDensity:
        """The same times `sharpness`, by posterior means or with parameters integrated out."""
        parts = zip(self.components, sharpness, strict=True)
        return ProductDensity([c.posterior_density(statistics[c.name], estimate, τ) for c, τ in parts])

    def weighted(self, log_weights: Floats, parameters: Sequence[Any]) -> WeightedProduct:
        """The mixture of the rows of parameters with these shares."""
        return WeightedProduct(self, log_weights, tuple(parameters))

    # -- estimates

    def estimate(self, priors: Sequence[Any], statistics: Any, before: Sequence[Any]) -> tuple[Any, ...]:
        """Posterior means; rows without data and prior keep the parameters they had before."""
        parts = zip(self.components, priors, before, strict=True)
        return tuple(c.estimate(prior, statistics[c.name], θ) for c, prior, θ in parts)

    def log_prior(self, priors: Sequence[Any], parameters: Sequence[Any]) -> float:
        """The log likelihood of the cases that the priors stand for."""
        parts = zip(self.components, priors, parameters, strict=True)
        return sum(c.distribution.log_prior(prior, θ) for c, prior, θ in parts)

    def shaped(self, priors: Sequence[Any], rows: int) -> tuple[Any, ...]:
        """The priors with one row for each of `rows` rows."""
        return tuple(c.distribution.shaped(prior, rows) for c, prior in zip(self.components, priors, strict=True))

    def take(self, parameters: Sequence[Any], rows: NDArray[np.intp]) -> tuple[Any, ...]:
        """Some rows of parameters."""
        return tuple(c.distribution.take(θ, rows) for c, θ in zip(self.components, parameters, strict=True))

    def draw(
        self, parameters: Sequence[Any], labels: NDArray[np.intp], random_state: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """The cells of a case for each label, of the row that it names."""
        size = block_size(self, int(labels.max(initial=0)) + 1)
        blocks = [labels[start : start + size] for start in range(0, len(labels), size)]

        def cases(component: Component, θ: Any) -> NDArray[Any]:
            drawn = (component.distribution.draw(θ, len(b), random_state)[np.arange(len(b)), b] for b in blocks)
            return np.concatenate(list(drawn))

        return tuple(cases(c, θ) for c, θ in zip(self.components, parameters, strict=True))


def _expected(component: Component, cells: NDArray[Any], to: Assignment, parameters: Any) -> Any:
    """The statistics of cells, with what is missing expected by parameters, if there are some."""
    if parameters is None:
        return component.distribution.gather(cells, to)
    return component.distribution.expected(cells, to, parameters)


### densities


class ProductDensity:
    """What each component adds to ln P(row, case); None for one of which there is no evidence."""

    def __init__(self, parts: Sequence[Density | None]) -> None:
        self.parts = parts

    @cached_property
    def together(self) -> Density | None:
        """Those of all components as one, where kernels take them all at once."""
        kind = type(self.parts[0]) if self.parts else None
        if kind is None or not issubclass(kind, ColumnDensity) or any(type(one) is not kind for one in self.parts):
            return None
        return kind(*(one.tables[0] for one in self.parts))  # type: ignore[union-attr]

    def add(self, cells: Cells, joint: Floats) -> None:
        """Add ln p of a block to `joint`, (rows, cases)."""
        if len(cells) != len(self.parts):
            raise ShapeError(f"expected {len(self.parts)} columns, got {len(cells)}")
        if isinstance(cells, np.ndarray) and self.together is not None:
            self.together(cells, joint)
            return
        for density, column in zip(self.parts, cells, strict=True):
            if density is not None:
                density(column[None], joint)

    def each(self, cells: Cells, rows: int, n: int) -> Floats:
        """Log densities of a block of n rows under every component, (components, rows, n)."""
        said = np.zeros((len(self.parts), rows, n))
        for density, column, logs in zip(self.parts, cells, said, strict=True):
            if density is not None:
                density(column[None], logs)
        return said


def normalized(joint: Floats) -> tuple[Floats, Floats]:
    """P(row | case), (rows, cases), and ln P(case), from ln P(row, case); 0 in every row if that is −∞ in every row."""
    top = joint.max(axis=0, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0.0)
    p = np.exp(joint - safe)
    total = p.sum(axis=0)
    p /= np.where(total > 0, total, 1.0)
    with np.errstate(divide="ignore"):
        return p, safe + np.log(total)


### rows of parameters that are hidden


@dataclass(frozen=True, eq=False)
class Expected:
    """What an E step finds: the weight of each row, the statistics of the components, and the log likelihood."""

    counts: Counts
    statistics: StatisticsBundle
    log_likelihood: float

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.counts + other.counts, self.statistics + other.statistics, self.log_likelihood + other.log_likelihood
        )


@dataclass(frozen=True, eq=False)
class WeightedProduct:
    """P(row, case) = w_row Π_components p(x_component | θ_component, row)."""

    product: Product
    log_weights: Floats
    parameters: tuple[Any, ...]

    @cached_property
    def density(self) -> ProductDensity:
        """What each component adds."""
        return self.product.density(self.parameters)

    @property
    def block(self) -> int:
        """How many rows are taken at a time."""
        return block_size(self.product, len(self.log_weights))

    def log_joint(self, cases: Rows) -> Floats:
        """ln P(row, case), (rows, cases)."""
        joint = np.repeat(self.log_weights[:, None], len(cases), axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            self.density.add(cases.cells, joint)
        return joint

    def comparable(self, cases: Rows, joint: Floats) -> Floats:
        """The joint, where one nearer in the same direction stands for a case so far away that every density is 0."""
        far = np.flatnonzero(~(joint.max(axis=0) > -np.inf))
        if len(far):
            from bayeslearn.components.gaussian_sweep import moved_rows, widened  # noqa: PLC0415 - few cases are so far away

            joint, components = joint.copy(), self.product.components
            moved = moved_rows(components, self.parameters, cases.take(far))
            wide = self.product.weighted(self.log_weights, widened(components, self.parameters))
            joint[:, far] = wide.log_joint(moved)
        return joint

    def shares(self, cases: Rows) -> tuple[Floats, Floats]:
        """P(row | case), (rows, cases), and ln P(case)."""
        joint = self.log_joint(cases)
        shares, log_p = normalized(joint)
        if not np.isfinite(log_p).all():
            shares, _ = normalized(self.comparable(cases, joint))
        return shares, log_p

    def expect(self, cases: Rows) -> Expected:
        """What is expected of cases whose rows of parameters are hidden."""
        sweep = sweep_of(self.product.kinds)
        found = None if sweep is None else sweep(self, cases)
        return self.expect_by_blocks(cases) if found is None else found

    def expect_by_blocks(self, cases: Rows) -> Expected:
        """The same block by block: shares, then what each component collects by them."""

        def one(block: Rows) -> tuple[Floats, list[Any], float]:
            shares, log_p = self.shares(block)
            if block.sample_weight is not None:
                shares *= block.sample_weight
            shown = self.product.collect(block.cells, Assignment(shares.T), self.parameters)
            return shares.T.sum(axis=0), shown, total_log_likelihood(log_p, block.sample_weight)

        blocks = cases.blocks(self.block)
        counts, parts, values = zip(*kernels.parallel(one, blocks, worth=len(blocks) > 1), strict=True)
        statistics = self.product.total(parts, len(self.log_weights))
        return Expected(Counts(np.sum(counts, axis=0)), statistics, sum(values))


def block_size(product: Product, rows: int) -> int:
    """How many rows fit into a block, with a number for each column and row of parameters."""
    widest = max((c.distribution.n_columns for c in product.components), default=1)
    return max(BLOCK // (rows * widest), 256)


def total_log_likelihood(log_p: Floats, sample_weight: Floats | None) -> float:
    """Σ w ln p, which must be a number where every ln p is one."""
    with in_range():
        total = float(log_p.sum() if sample_weight is None else sample_weight @ log_p)
    if not math.isfinite(total) and np.isfinite(log_p).all():
        require_range(np.array(total))
    return total


### sweeps

#: Where the sweeps are that come with the package, by the distributions that they serve.
MODULES = {("multivariate_gaussian",): "gaussian_sweep"}

#: All of `expect`; None where it is not worth compiled code.
_sweeps: dict[tuple[str, ...], Callable[[WeightedProduct, Rows], Expected | None]] = {}


def register_sweep(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    """Let a function do all of `expect` for products of distributions with these names."""

    def named(sweep: Any) -> Any:
        _sweeps[kinds] = sweep
        return sweep

    return named


def sweep_of(kinds: tuple[str, ...]) -> Callable[[WeightedProduct, Rows], Expected | None] | None:
    """The sweep that is registered for these distributions."""
    if kinds in MODULES and kinds not in _sweeps:
        importlib.import_module(f"bayeslearn.components.{MODULES[kinds]}")
    return _sweeps.get(kinds)
