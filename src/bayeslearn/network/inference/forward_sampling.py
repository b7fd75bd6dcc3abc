"""Forward sampling: whole cases in ancestral order, each variable given its parents.

P(x) = Π_v P(x_v | parents of v)        a case depends on the seed and on its number alone
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_room
from bayeslearn.errors import ImpossibleEvidenceError
from bayeslearn.network.dag import as_network
from bayeslearn.network.inference.evidence import as_names
from bayeslearn.tables import Table
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.network.inference.likelihood_weighting import Proposal

    Rng = np.random.Generator | np.random.RandomState | int | None

#: Rows that one task of a thread draws.
BLOCK = 4096

### cases

#: What to do where cases do not fit into memory.
IN_PARTS = "draw them in parts: net.sample_batches(n, batch_size=...)"


def draw(network: BayesianNetwork, n: int, *, random_state: Rng = None) -> Table:
    """n independent cases of a network.

    >>> from bayeslearn.network.formats import read_network
    >>> draw(read_network("asia"), 3, random_state=0).row(0)["smoke"] in {"yes", "no"}
    True
    """
    n = validation.integer("n_samples", n, min_value=0)
    return Sampler(network, random_state=random_state).rows(0, n)


def draws(network: BayesianNetwork, n: int, *, random_state: Rng = None, batch: int = 1 << 17) -> Iterator[Table]:
    """The rows of :func:`draw`, `batch` at a time: what is too large for memory is drawn in parts."""
    n, batch = validation.integer("n_samples", n, min_value=0), validation.integer("batch", batch, min_value=1)
    sampler = Sampler(network, random_state=random_state)
    for start in range(0, n, batch):
        yield sampler.rows(start, min(batch, n - start))


class Sampler:
    """An endless table of cases: row i is the same whichever rows are asked for with it."""

    def __init__(self, network: BayesianNetwork, *, random_state: Rng = None) -> None:
        self.network = network = as_network(network)
        self.flat = Flat(network)
        self.keys = keys(validation.generator(random_state), len(network))

    def rows(self, first: int, n: int) -> Table:
        """The rows first … first + n."""
        size = np.dtype(code_type(self.network.schema)).itemsize
        require_room(f"{n:,} cases of {len(self.network):,} variables", size * len(self.network) * n, hint=IN_PARTS)
        codes = np.empty((len(self.network), n), code_type(self.network.schema))
        nothing = Question.nothing(self.flat.compiled)

        def task(lo: int) -> None:
            hi = min(lo + BLOCK, n)
            self.flat.sample(nothing, self.keys, first + lo, lo, hi, codes)

        kernels.parallel(task, range(0, n, BLOCK))
        return Table(self.network.schema, validation.lock(codes), np.empty((0, n)))


def keys(random_state: np.random.Generator, n: int) -> NDArray[np.uint64]:
    """Keys of n streams."""
    return random_state.integers(0, 2**64, n, dtype=np.uint64)


class Flat:
    """What the kernels need of a network: tables, their logs and their cumulative sums, in ancestral order."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.compiled = compiled = network.inference.compiled
        place = {name: i for i, name in enumerate(network.variables)}
        self.order = np.array([place[name] for name in network.dag.order], np.int64)
        self.cdf = np.concatenate([cumulative(cpt.probabilities).reshape(-1) for cpt in network])
        with np.errstate(divide="ignore"):
            self.log_cpt = np.log(compiled.cpt)
        self.untilted = np.zeros(len(self.order), np.bool_)
        self.arrays = (
            compiled.scope_start, compiled.scope, compiled.scope_stride, compiled.cpt_start, compiled.cpt,
            compiled.belief_start, compiled.all,
        )  # fmt: skip

    def sample(
        self,
        question: Question,
        stream: NDArray[np.uint64],
        first: int,
        lo: int,
        hi: int,
        codes: NDArray[Any],
        proposal: Proposal | None = None,
    ) -> NDArray[np.float64]:
        """Fill the columns lo … hi of `codes` with rows first … of the stream; returns their log weights."""
        log_weight = np.zeros(hi - lo)
        cdfs, tilted, log_ratios = self.cdf[None], self.untilted, self.log_cpt[None]
        if proposal is not None:
            cdfs, tilted, log_ratios = proposal.cdfs, proposal.tilted, proposal.log_ratios
        kernels.sample_rows(
            self.arrays, self.order[question.kept[self.order]], cdfs, self.log_cpt, question.seen,
            question.log_likelihood, question.weighed, question.reject, tilted, log_ratios, stream, first, lo, hi,
            codes, log_weight,
        )  # fmt: skip
        return log_weight


def cumulative(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_{j≤k} p_j along the last axis, 1 from the last possible state on: rounding never picks an impossible one."""
    cdf, possible = np.cumsum(p, axis=-1), p > 0
    reached = np.flip(np.cumsum(np.flip(possible, -1), axis=-1), -1)  # possible states from this one on
    cdf[reached <= possible] = 1.0
    return cdf


### the question


@dataclass(frozen=True)
class Question:
    """What was seen, what is asked, and which variables matter for it, by position."""

    seen: NDArray[np.int64]
    asked: NDArray[np.int64]
    kept: NDArray[np.bool_]
    likelihood: NDArray[np.float64]
    weighed: NDArray[np.bool_]
    reject: bool = False

    @property
    def log_likelihood(self) -> NDArray[np.float64]:
        """The logs of the likelihoods, −∞ of nothing."""
        with np.errstate(divide="ignore"):
            return np.log(self.likelihood)

    @classmethod
    def nothing(cls, compiled: Compiled) -> Question:
        """Nothing seen, everything drawn."""
        n = len(compiled.names)
        none = np.zeros(n, np.bool_)
        return cls(np.full(n, -1), np.arange(n), compiled.all, np.ones(int(compiled.belief_start[-1])), none)

    @classmethod
    def read(
        cls,
        network: BayesianNetwork,
        evidence: Mapping[str, Any],
        variables: Iterable[str] | None,
        virtual_evidence: Mapping[str, ArrayLike],
        *,
        reject: bool = False,
    ) -> Question:
        """Names to positions, checked as exact inference checks them."""
        exact = network.inference
        seen, given, weighed = exact.read(evidence, virtual_evidence)
        likelihood = given if weighed.any() else np.ones(int(exact.compiled.belief_start[-1]))
        place = {name: i for i, name in enumerate(network.variables)}
        if variables is None:
            return cls(seen, np.flatnonzero(seen < 0), exact.compiled.all, likelihood, weighed, reject)
        asked = [place[network[name].name] for name in as_names(variables)]
        kept = exact.compiled.relevant(asked, (seen >= 0) | weighed)
        return cls(seen, np.array(asked, np.int64), kept, likelihood, weighed, reject)


def no_weight(evidence: Mapping[str, Any], n: int) -> ImpossibleEvidenceError:
    """The error when no draw agrees with the evidence."""
    pieces = ", ".join(f"{name}={state}" for name, state in evidence.items()) or "the likelihoods"
    return ImpossibleEvidenceError(
        f"none of {n} draws agrees with the evidence: {pieces}",
        hint="it is impossible or very rare: exact inference (`network.query`) finds out; or raise `n`",
        conflict=list(evidence),
        draws=n,
    )
