"""A mixture: k components of the same parts, and how much of the data each has.

    p(x) = Σ_j w_j Π_parts p(x_part | θ_j)          r_ij = P(component j | x_i), its responsibility

A model is a value that keeps its prior and the statistics it rests on, so that learning goes on: more rows are added
(:meth:`Mixture.updated`), models that grew from one start are merged (``a + b``), and what they were both updated from
counts once (:mod:`bayeslearn.distributions.lineage`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.codec import Saved
from bayeslearn.components import Component, collect_shares, in_total, normalized
from bayeslearn.distributions import Bundle, Categorical, Counts, Dirichlet
from bayeslearn.distributions.distribution import by_name
from bayeslearn.distributions.lineage import after_update
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.errors import ParameterError
from bayeslearn.mixture import gaussians, joining, nearer, rows, scoring
from bayeslearn.model_values import ARRAY, NUMBER, field_names, plain, plain_lineage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.components import Density
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.mixture.rows import Rows
    from bayeslearn.model_values import Reader

    Floats = NDArray[np.float64]

#: The name of the components' shares among the statistics.
SHARES = "shares of the components"

#: Numbers in the largest array that a plain E step makes.
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """Cases before the data: of the shares of the components, and of each part."""

    shares: Dirichlet
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Mixture(Saved, kind="mixture"):
    """k components; :func:`~bayeslearn.mixture.fit_mixture` learns one."""

    parts: tuple[Component, ...]
    weights: NDArray[np.float64]
    parameters: tuple[Any, ...]
    prior: MixturePrior
    #: What is expected of the data; None before anything was learned.
    statistics: Bundle | None = None
    #: Whether the shares of the components are known to be equal.
    equal: bool = False
    #: Statistics of the models that this one was updated from.
    lineage: Lineage | None = None

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts)
        return f"Mixture({self.k} components of {names}; {self.cases:.10g} cases)"

    @property
    def k(self) -> int:
        """How many components there are."""
        return len(self.weights)

    @property
    def cases(self) -> float:
        """How many cases the model rests on."""
        return 0.0 if self.statistics is None else float(self.statistics[SHARES].n.sum())

    @property
    def sizes(self) -> Floats:
        """How many cases each component has."""
        return np.zeros(self.k) if self.statistics is None else self.statistics[SHARES].n

    @property
    def free_parameters(self) -> int:
        """How many numbers can be chosen."""
        return sum(part.distribution.n_parameters(self.k) for part in self.parts) + (0 if self.equal else self.k - 1)

    def __getitem__(self, name: str) -> Any:
        """The parameters of a part, by its name; a row for every component."""
        names = [part.name for part in self.parts]
        if name not in names:
            raise ParameterError(f"there is no part {name!r}", hint=f"the parts are {', '.join(names)}")
        return self.parameters[names.index(name)]

    # -- what it says of rows

    def rows(self, data: Any, weights: Any = None) -> Rows:
        """Data as rows of this mixture."""
        return rows.read(self.parts, data, weights)

    def log_joint(self, data: Any) -> Floats:
        """ln P(component, row), (n, k)."""
        return np.concatenate([self._joint(block) for block in self.rows(data).blocks(self._block())])

    def log_density(self, data: Any) -> Floats:
        """ln p(row); cells that are missing are integrated out."""
        return np.concatenate([normalized(self._joint(b).T)[1] for b in self.rows(data).blocks(self._block())])

    def responsibilities(self, data: Any) -> Floats:
        """P(component | row), (n, k)."""
        return np.concatenate([self._shares(block)[0] for block in self.rows(data).blocks(self._block())])

    def assign(self, data: Any) -> NDArray[np.intp]:
        """The most probable component of each row, the first when tied."""
        blocks = self.rows(data).blocks(self._block())
        return np.concatenate([self._comparable(block, self._joint(block)).argmax(axis=1) for block in blocks])

    def log_likelihood(self, data: Any, weights: Any = None) -> float:
        """Σ ln p(row)."""
        found = self.rows(data, weights)
        log_p = self.log_density(found)
        return total_log_likelihood(log_p, found.weights)

    def sample(
        self, n: int, rng: np.random.Generator | int | None = None
    ) -> tuple[tuple[NDArray[Any], ...], NDArray[np.intp]]:
        """`n` rows at random, as the cells of every part, and the component of each."""
        rng = validation.generator(rng)
        validation.integer("n", n, least=1)
        require_numbers(f"{n:,} rows", (n, 1 + sum(len(part.columns) for part in self.parts)), copies=2)
        labels = Categorical(self.k).draw(self.weights, n, rng)
        blocks = [labels[start : start + self._block()] for start in range(0, n, self._block())]
        cells = tuple(
            np.concatenate([drawn(part.distribution, θ, block, rng) for block in blocks])
            for part, θ in zip(self.parts, self.parameters, strict=True)
        )
        return cells, labels

    @cached_property
    def log_weights(self) -> Floats:
        """ln P(component)."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    @cached_property
    def densities(self) -> list[Density]:
        """What each part adds to ln P(component, row)."""
        return densities_of(self.parts, self.parameters)

    def _block(self) -> int:
        widest = max((part.distribution.n_columns for part in self.parts), default=1)
        return max(BLOCK // (self.k * widest), 256)

    def _joint(self, block: Rows, parameters: tuple[Any, ...] | None = None) -> Floats:
        joint = np.repeat(self.log_weights[:, None], len(block), axis=1)
        densities = self.densities if parameters is None else densities_of(self.parts, parameters)
        with np.errstate(over="ignore", invalid="ignore"):
            for density, cells in zip(densities, block.cells, strict=True):
                density(cells[None], joint)
        return joint.T

    def _comparable(self, block: Rows, joint: Floats) -> Floats:
        """The joint, in which a row so far away that every density is 0 stands for one nearer in the same direction."""
        far = np.flatnonzero(~(joint.max(axis=1) > -np.inf))
        if len(far):
            joint = joint.copy()
            moved = nearer.moved_rows(self.parts, self.parameters, block.take(far))
            joint[far] = self._joint(moved, nearer.widened(self.parts, self.parameters))
        return joint

    def _shares(self, block: Rows) -> tuple[Floats, Floats]:
        joint = self._joint(block)
        shares, log_p = normalized(joint.T)
        if not np.isfinite(log_p).all():
            shares, _ = normalized(self._comparable(block, joint).T)
        return shares.T, log_p

    # -- the two steps of EM

    def expected_statistics(self, data: Any) -> tuple[Bundle, float]:
        """What is expected of rows whose components are hidden, and their log likelihood."""
        found = self.rows(data)
        part = self.parts[0]
        if len(self.parts) == 1 and part.is_joint and len(found) * self.k * part.distribution.dim >= gaussians.WORTH:
            return self._compiled(found)
        return self._by_blocks(found)

    def _by_blocks(self, found: Rows) -> tuple[Bundle, float]:
        blocks = found.blocks(self._block())
        shown = kernels.parallel(self._expected, blocks, worth=len(blocks) > 1)
        counts, parts, values = zip(*shown, strict=True)
        return Bundle({SHARES: Counts(np.sum(counts, axis=0)), **in_total(self.parts, parts, self.k)}), sum(values)

    def _expected(self, block: Rows) -> tuple[Floats, list[Any], float]:
        """What is expected of a block: the shares of the components, what each part shows, and the log likelihood."""
        shares, log_p = self._shares(block)
        if block.weights is not None:
            shares *= block.weights[:, None]
        return shares.sum(axis=0), self._shown(block, shares), total_log_likelihood(log_p, block.weights)

    def _shown(self, block: Rows, shares: Floats) -> list[Any]:
        return collect_shares(self.parts, block.cells, np.ascontiguousarray(shares.T), self.parameters)

    def collected(self, data: Rows, shares: Floats) -> Bundle:
        """The statistics of rows that belong to the components by shares, (n, k)."""
        parts = in_total(self.parts, [self._shown(data, shares)], self.k)
        return Bundle({SHARES: Counts(shares.sum(axis=0)), **parts})

    def _compiled(self, found: Rows) -> tuple[Bundle, float]:
        part, x = self.parts[0], found.cells[0]
        if part.distribution.covariance in {"full", "tied"} and np.isnan(x.sum()):
            whole = ~np.isnan(x).any(axis=1)
            if whole.any() and not whole.all():
                there, rest = self._compiled(found.take(whole)), self._by_blocks(found.take(~whole))
                return there[0] + rest[0], there[1] + rest[1]
            if not whole.any():
                return self._by_blocks(found)
        shares, moments, value = gaussians.expected(
            part.distribution, self.log_weights, self.parameters[0], x, found.weights
        )
        return Bundle({SHARES: shares, part.name: moments}), value

    def estimate(self, prior: MixturePrior | None, statistics: Bundle) -> Mixture:
        """Posterior means, of the shares and of every part."""
        prior = self.prior if prior is None else prior
        shares = statistics[SHARES].n + prior.shares.alpha
        weights = self.weights if self.equal else shares / shares.sum()
        parts = zip(self.parts, prior.parts, self.parameters, strict=True)
        found = tuple(part.estimate(p, statistics[part.name], θ) for part, p, θ in parts)
        return replace(self, weights=weights, parameters=found, statistics=statistics, prior=prior, lineage=None)

    def log_prior(self, prior: MixturePrior | None) -> float:
        """The log likelihood of the cases that the prior stands for."""
        prior = self.prior if prior is None else prior
        shares = 0.0 if self.equal else float(prior.shares.log_cases(self.weights))
        parts = zip(self.parts, prior.parts, self.parameters, strict=True)
        return shares + sum(part.distribution.log_prior(p, θ) for part, p, θ in parts)

    # -- evidence adds

    def updated(self, data: Any, *, weights: Any = None, keep: float = 1.0) -> Mixture:
        """One step of online EM: `keep` of what is known (1: all of it) and what is expected of more rows."""
        more, _ = self.expected_statistics(self.rows(data, weights))
        if self.statistics is None:
            return self.estimate(self.prior, more)
        found = self.estimate(self.prior, self.statistics * keep + more)
        return replace(found, lineage=after_update(self.lineage, self.statistics, more, keep))

    def __add__(self, other: Mixture) -> Mixture:
        """Both together, component by component: for models that grew from one start, or are :meth:`aligned`.

        Rows of a model that both were updated from count once.
        """
        if not isinstance(other, Mixture):
            return NotImplemented
        return joining.added(self, other)

    def aligned(self, to: Mixture) -> Mixture:
        """The components in the order in which they are most alike those of another mixture."""
        return joining.aligned(self, to)

    def reordered(self, order: Any) -> Mixture:
        """The same mixture with its components in another order."""
        return joining.reordered(self, order)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; arrays have a row for each component.

        {"equal", "weights", "shares": {"prior", "statistics"},
         "parts": [{"columns", "family", "covariance", "variance", "prior", "parameters", "statistics"}, ...],
         "lineage": {"shares", "bases", "parts"}}                                     only where it was updated
        """
        known = self.statistics
        shares = {"prior": plain(self.prior.shares), "statistics": None if known is None else plain(known[SHARES])}
        entries = [
            {
                "columns": [column.to_dict() for column in part.columns],
                "family": part.distribution.name,
                "covariance": getattr(part.distribution, "covariance", None),
                "variance": getattr(part.distribution, "variance", None),
                "prior": plain(prior),
                "parameters": [np.asarray(p) for p in (θ if isinstance(θ, tuple) else (θ,))],
                "statistics": None if known is None else plain(known[part.name]),
            }
            for part, prior, θ in zip(self.parts, self.prior.parts, self.parameters, strict=True)
        ]
        lineage = plain_lineage(self.lineage)
        return {"equal": self.equal, "weights": self.weights, "shares": shares, "parts": entries, **lineage}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Mixture:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {"equal": bool, "weights": ARRAY, "shares": dict, "parts": [dict]}
        equal, weights, shares, entries = reader.model(document, keys)
        w = reader.numbers(weights, "weights")
        if w.ndim != 1 or not w.size or (w < 0).any() or abs(w.sum() - 1) > 1e-6:
            reader.wrong("the weights do not sum to 1")
        if not entries:
            reader.wrong("it has no parts")
        prior, statistics = reader.entries(shares, {"prior": dict, "statistics": (dict, type(None))}, "the shares")
        whole = statistics is not None
        read = [read_part(reader, entry, len(w), whole=whole) for entry in entries]
        known = {SHARES: reader.statistics(statistics, Counts.zero(w.shape))} if whole else {}
        known |= {part.name: found for part, _, _, found in read}
        if whole and len(known) != len(read) + 1:
            reader.wrong("two parts have the same columns")
        before = reader.statistics(prior, Dirichlet(np.zeros(w.shape)))
        bundle = Bundle(known) if whole else None
        priors = MixturePrior(before, tuple(p for _, p, _, _ in read))
        return cls(
            tuple(part for part, _, _, _ in read), w, tuple(θ for _, _, θ, _ in read), priors, bundle, equal,
            reader.lineage(document, bundle),
        )  # fmt: skip

    # -- scores

    def bic(self, data: Any, weights: Any = None) -> float:
        """−2 ln P(D|θ) + free parameters · ln n: the lower the better."""
        found = self.rows(data, weights)
        return -2 * self.log_likelihood(found) + self.free_parameters * float(np.log(found.total))

    def aic(self, data: Any, weights: Any = None) -> float:
        """−2 ln P(D|θ) + 2 · free parameters: the lower the better."""
        return -2 * self.log_likelihood(data, weights) + 2 * self.free_parameters

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """ln P(D), parameters integrated out, as Cheeseman and Stutz bound it; see :mod:`.scoring`."""
        return scoring.log_evidence(self, self.rows(data, weights))


def total_log_likelihood(log_p: Floats, weights: Floats | None) -> float:
    """Σ w ln p, which must be a number where every ln p is one."""
    with in_range():
        total = float(log_p.sum() if weights is None else weights @ log_p)
    if not math.isfinite(total) and np.isfinite(log_p).all():
        require_range(np.array(total))
    return total


def densities_of(parts: tuple[Component, ...], parameters: tuple[Any, ...]) -> list[Density]:
    """What each part adds to ln P(component, row)."""
    return [part.density(θ) for part, θ in zip(parts, parameters, strict=True)]


def drawn(distribution: Any, parameters: Any, labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
    """A case of the component that each label names."""
    return distribution.draw(parameters, len(labels), rng)[np.arange(len(labels)), labels]


def priors_of(
    parts: tuple[Component, ...], priors: Mapping[str, Any] | tuple[Any, ...], shares: Any, k: int
) -> MixturePrior:
    """Priors with a row for every component."""
    own = tuple(priors[part.name] for part in parts) if not isinstance(priors, tuple) else priors
    return MixturePrior(
        shares.of((k,)), tuple(part.distribution.shaped(p, k) for part, p in zip(parts, own, strict=True))
    )


### files


def read_part(reader: Reader, entry: Any, k: int, *, whole: bool) -> tuple[Component, Any, Any, Any]:
    """One part of a document, its prior, its parameters and its statistics; of any distribution that is registered."""
    keys: dict[str, Any] = {
        "columns": [dict], "family": str, "covariance": (str, type(None)), "variance": (*NUMBER, type(None)),
        "prior": dict, "parameters": list, "statistics": (dict, type(None)),
    }  # fmt: skip
    columns, family, covariance, variance, prior, parameters, statistics = reader.entries(entry, keys, "a part")
    variables: Any = tuple(reader.variable(column) for column in columns)
    options = {name: v for name, v in (("covariance", covariance), ("variance", variance)) if v is not None}
    kind = by_name(family)
    if (statistics is None) is whole or not set(options) <= set(field_names(kind)):
        reader.wrong(f"{entry!r:.80} is no part")
    if not kind.accepts(variables):
        reader.wrong(f"the columns of a {family} part are {columns!r:.80}")
    part = Component(variables, replace(kind.over(variables), **options))
    prior_type = type(part.distribution.none())
    names = field_names(prior_type)
    values = reader.entries(prior, dict.fromkeys(names, ARRAY), "a prior")
    read = prior_type(*(reader.numbers(v, name) for v, name in zip(values, names, strict=True)))
    part.distribution.shaped(read, k)  # the prior fits
    found = reader.statistics(statistics, part.distribution.zero((k,))) if whole else None
    return part, read, reader.parameters(parameters, part.distribution, part.columns, k), found
