"""Sampled inference: posteriors given evidence from random rows, each with its standard error.

    P(x = k | e) ≈ Σ w·[x = k] / Σ w

    rejection   a row in ancestral order                         w = 1 if it agrees with e, else 0
    weighting   from a proposal Q that has seen the evidence     w = Π_{v in e} P(e_v | parents) · Π_{v drawn} P / Q
    gibbs       one variable after the other, given all others   w = 1, but a draw depends on the last

Weighted counts add: batches and threads are summed in the order of their numbers, so that an answer depends on the seed
and not on the number of threads.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, ConvergenceWarning, ParameterError, listed, outside
from bayeslearn.network.dag import as_network
from bayeslearn.network.inference.evidence import as_evidence, as_names
from bayeslearn.network.inference.forward_sampling import BLOCK, Flat, Question, draw, draws
from bayeslearn.network.inference.gibbs_sampling import CHAINS, DISAGREE, GibbsRun, tables_with_zeros
from bayeslearn.network.inference.likelihood_weighting import WeightedRun
from bayeslearn.network.inference.results import QueryResult
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.reports import Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.forward_sampling import Rng
    from bayeslearn.progress import ProgressCallback, Reporter

__all__ = ["METHODS", "SampledInference", "SampledPosterior", "SamplingStep", "draw", "draws", "query"]

METHODS: tuple[Literal["likelihood_weighting", "rejection", "gibbs"], ...] = (
    "likelihood_weighting", "rejection", "gibbs"
)  # fmt: skip

#: Draws between two looks at the precision: this many at first, then a quarter of those there are.
ROUND = 4 * BLOCK

#: What a question stops at when the caller names no limit: this standard error, or this many draws.
PRECISION, MOST = 0.005, 1_000_000

#: A draw is warned of that holds this share of all weights, and this many times the share of an average draw.
LONE, HEAVY = 0.1, 100


### the answer


@dataclass(frozen=True, repr=False)
class SampledPosterior(QueryResult):
    """Beliefs by name and state, and how far they may be off.

    ``effective_size`` is the number of independent cases that the answer is worth. ``log_evidence``, its error and
    ``largest_share`` are None for Gibbs sampling, which does not see P(e); ``rhat`` is for Gibbs sampling alone.
    """

    evidence: dict[str, Any]
    method: str
    beliefs: dict[str, dict[Any, float]]
    #: The standard error of each belief.
    errors: dict[str, dict[Any, float]]
    draws: int
    effective_size: float
    log_evidence: float | None = None
    log_evidence_error: float | None = None
    #: The share of the heaviest draw in all weights.
    largest_share: float | None = None
    #: The largest split R̂ of the chains: 1 when they agree.
    rhat: float | None = None

    @property
    def precision(self) -> float:
        """The largest standard error."""
        return max((error for of in self.errors.values() for error in of.values()), default=0.0)

    def _block(self, name: str) -> Grid:
        rows = [[state, p, self.errors[name][state]] for state, p in self.beliefs[name].items()]
        return Grid(["state", "probability", "standard error"], rows, name)

    def _facts(self) -> dict[str, Any]:
        found = {"ln P(evidence)": self.log_evidence, "Its standard error": self.log_evidence_error, "R-hat": self.rhat}
        return {name: value for name, value in found.items() if value is not None} | {
            "Method": self.method,
            "Draws": self.draws,
            "Effective size": self.effective_size,
        }

    def _columns(self) -> dict[str, dict[str, dict[Any, float]]]:
        return {"standard_error": self.errors}


@dataclass(frozen=True)
class SamplingStep:
    """Where sampling stands: the number of draws, and the largest standard error."""

    draws: int
    error: float

    def __str__(self) -> str:
        return f"{self.draws:,} draws, standard error {self.error:.2g}"


class Run(Protocol):
    """Draws that grow until they are enough; beliefs are arrays over all states of all variables."""

    draws: int

    def more(self, n: int) -> None:
        """About n more draws."""

    def p(self) -> NDArray[np.float64]:
        """The probability of each state."""

    def errors(self) -> NDArray[np.float64]:
        """The standard error of each state; infinite where nothing is known yet."""

    def facts(self) -> dict[str, Any]:
        """What else the answer holds."""


def named(
    network: BayesianNetwork, question: Question, p: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[dict[str, dict[Any, float]], dict[str, dict[Any, float]]]:
    """Beliefs and errors by name and state; what was observed is certain."""
    starts = network.inference.compiled.belief_start
    beliefs, off = {}, {}
    for v in question.asked:
        variable, code = network.cpts[v].variable, question.seen[v]
        mine, error = p[starts[v] : starts[v + 1]].tolist(), errors[starts[v] : starts[v + 1]].tolist()
        if code >= 0:
            mine = [float(k == code) for k in range(variable.n_states)]
        if code >= 0 or variable.n_states == 1:
            error = [0.0] * variable.n_states
        beliefs[variable.name] = dict(zip(variable.states, mine, strict=True))
        off[variable.name] = dict(zip(variable.states, error, strict=True))
    return beliefs, off


### asking


@dataclass(frozen=True)
class Limits:
    """When to stop: whichever comes first."""

    n: int | None
    precision: float | None
    seconds: float | None
    started: float

    @classmethod
    def of(cls, n: int | None, precision: float | None, seconds: float | None) -> Limits:
        """Checked, with the defaults of :meth:`SampledInference.query`."""
        if n is not None:
            n = validation.integer("n_samples", n, min_value=1)
        if precision is not None:
            precision = validation.number("precision", precision, above=0)
        if seconds is not None:
            seconds = validation.number("time_limit", seconds, above=0)
        if n is None and seconds is None:
            n, precision = MOST, precision or PRECISION
        return cls(n, precision, seconds, time.perf_counter())

    def next(self, draws: int) -> int:
        """How many draws to make before the next look."""
        if self.n is not None and self.precision is None and self.seconds is None:
            return min(self.n - draws, 16 * ROUND)
        wanted = max(ROUND, draws // 4 // BLOCK * BLOCK)
        return wanted if self.n is None else min(wanted, self.n - draws)

    def share(self, draws: int, error: float) -> float:
        """The share that is done, by the nearest limit: errors decrease with √draws."""
        return max(
            draws / self.n if self.n else 0.0,
            (self.precision / error) ** 2 if self.precision and error else 0.0,
            (time.perf_counter() - self.started) / self.seconds if self.seconds else 0.0,
        )

    def reached(self, draws: int, error: float) -> bool:
        """Whether to stop now."""
        return (
            (self.precision is not None and error <= self.precision)
            or (self.n is not None and draws >= self.n)
            or (self.seconds is not None and time.perf_counter() - self.started >= self.seconds)
        )


def query(
    network: BayesianNetwork, evidence: Any, variables: Any, virtual_evidence: Any, soft_evidence: Any, method: Any,
    sampling: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Answer a query by any method; `sampling` has the options of those that sample, None where not given."""
    method = validation.choice("method", method, ["exact", *METHODS, "loopy_propagation"])
    given = [name for name, value in sampling.items() if value is not None]
    if given and method not in METHODS:
        raise ParameterError(
            f"`{given[0]}` cannot be used with {method!r} inference, which does not sample",
            hint=f"choose a method of {listed(METHODS)}",
        )
    if soft_evidence and method != "exact":
        raise ParameterError(f"soft evidence cannot be used with {method!r} inference", hint='method="exact"')
    if method == "exact":
        return network.inference.query(
            evidence, variables, virtual_evidence=virtual_evidence, soft_evidence=soft_evidence
        )
    variables = None if variables is None else as_names(variables)
    if method == "loopy_propagation":
        from bayeslearn.network.inference.loopy_propagation import LoopyPropagation  # noqa: PLC0415 - rarely asked for

        return LoopyPropagation(network).query(evidence, variables=variables, virtual_evidence=virtual_evidence)
    return SampledInference(network).query(
        evidence, variables=variables, virtual_evidence=virtual_evidence, method=method, **sampling
    )


class SampledInference:
    """Questions to one network, answered from random cases.

    >>> from bayeslearn.network.bayesian_network import BayesianNetwork
    >>> net = BayesianNetwork.from_tables(
    ...     "[Rain][Wet|Rain]", {"Rain": [0.2, 0.8], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ...     states={"Rain": ["yes", "no"], "Wet": ["yes", "no"]},
    ... )
    >>> answer = SampledInference(net).query({"Wet": "yes"}, n_samples=10_000, random_state=0)
    >>> abs(answer["Rain"]["yes"] - 0.18 / 0.34) < 4 * answer.errors["Rain"]["yes"] < 0.04
    True
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network = as_network(network)
        self.flat = Flat(network)

    @reports_progress("Sampling")
    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        variables: Iterable[str] | None = None,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
        method: Literal["likelihood_weighting", "rejection", "gibbs"] = "likelihood_weighting",
        n_samples: int | None = None,
        precision: float | None = None,
        time_limit: float | None = None,
        random_state: Rng = None,
        progress: Reporter | ProgressCallback | bool | None = None,
    ) -> SampledPosterior:
        """Posterior distributions given evidence, with their standard errors.

        Sampling stops at the first of these that is reached. Without any, it stops at a precision of 0.005, or after
        1,000,000 draws; a precision that was not reached is warned of. When no draw agrees with the evidence by then,
        ImpossibleEvidenceError is raised: the evidence may be impossible or only rare.

        Parameters
        ----------
        evidence, variables, virtual_evidence
            As for :meth:`ExactInference.query`.
        method
            ``"likelihood_weighting"`` (the default) is the best for most queries; ``"rejection"`` draws independent
            rows and discards those that disagree with the evidence; ``"gibbs"`` suits evidence that is rare given its
            causes, and CPTs without zeros.
        n_samples
            The maximum number of draws: rows, or for Gibbs sweeps over all chains, rounded up to complete batches.
        precision
            The standard error of the posteriors at which sampling stops.
        time_limit
            Seconds after which sampling stops, checked between rounds. The number of draws then depends on the machine.
        random_state
            Seed or generator: the same seed gives the same answer on any number of threads.
        progress
            True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress` after every
            round; its `detail` has the draws and the largest standard error. Raising StopIteration ends the run.
        """
        method = validation.choice("method", method, METHODS)
        limits, generator = Limits.of(n_samples, precision, time_limit), validation.generator(random_state)
        evidence = as_evidence(self.network, evidence)
        question = Question.read(
            self.network, evidence, variables, virtual_evidence or {}, reject=method == "rejection"
        )
        run = self._run(method, question, generator, evidence)
        told = False
        while not told:
            run.more(limits.next(run.draws))
            error = self._largest(question, run.errors())
            now = SamplingStep(run.draws, error)
            told = should_stop(progress, limits.share(run.draws, error), str(now), now)  # type: ignore[arg-type] # opened
            if limits.reached(run.draws, error):
                break
        beliefs, errors = named(self.network, question, run.p(), run.errors())
        answer = SampledPosterior(evidence, method, beliefs, errors, run.draws, **run.facts())
        if answer.rhat is not None and answer.rhat > DISAGREE:
            warn_disagree(answer.draws, answer.rhat)
        if isinstance(run, GibbsRun) and run.disagreement() > 0:
            warn_missed(answer.draws, run.disagreement())
        if answer.largest_share is not None and LONE < answer.largest_share > HEAVY / answer.draws:
            warn_few(answer.draws, answer.largest_share, method)
        if limits.precision is not None and error > limits.precision and not told:
            warn_not_precise(run.draws, error, limits.precision)
        return answer

    def _run(self, method: str, question: Question, random_state: np.random.Generator, evidence: dict[str, Any]) -> Run:
        if method != "gibbs":
            return WeightedRun(self.network, self.flat, question, random_state, evidence)
        stuck = tables_with_zeros(self.network, question)
        if stuck:
            warnings.warn(
                f"the tables of {listed(stuck)} hold zeros, so a Gibbs chain may never leave a part of the states\n\n"
                "hint: use method='likelihood_weighting' or exact inference",
                BayeslearnWarning,
                stacklevel=outside(),
            )
        return GibbsRun(self.network, self.flat, question, random_state, evidence)

    def _largest(self, question: Question, errors: NDArray[np.float64]) -> float:
        starts = self.flat.compiled.belief_start
        open_ = [v for v in question.asked if question.seen[v] < 0 and starts[v + 1] - starts[v] > 1]
        return max((float(errors[starts[v] : starts[v + 1]].max()) for v in open_), default=0.0)


def warn_not_precise(draws: int, error: float, precision: float) -> None:
    """Warn that the limit was reached before the precision."""
    warnings.warn(
        f"sampling stopped after {draws} draws at a standard error of {error:.2g}, asked for {precision:.2g}\n\n"
        "hint: raise `n_samples` or `time_limit`, loosen `precision`, or try another `method`",
        ConvergenceWarning,
        stacklevel=outside(),
    )


def warn_missed(draws: int, off: float) -> None:
    """Warn that the chains have not reached states of the weighted draws."""
    warnings.warn(
        f"the Gibbs chains may have missed a part of the states: after {draws} sweeps, posteriors differ by {off:.2g} "
        "from those of the weighted draws that they start from\n\n"
        "hint: raise `n_samples`, or use method='likelihood_weighting' or exact inference",
        BayeslearnWarning,
        stacklevel=outside(),
    )


def warn_few(draws: int, share: float, method: str) -> None:
    """Warn that a result is based on few draws."""
    what = (
        f"only {1 / share:.0f} of {draws} draws agree with the evidence"
        if method == "rejection"
        else f"one of {draws} draws holds {100 * share:.0f} % of the weight of all"
    )
    hint = "method='likelihood_weighting'" if method == "rejection" else "method='gibbs'"
    warnings.warn(
        f"the standard errors are rough: {what}\n\nhint: raise `n_samples`, or use {hint} or exact inference",
        BayeslearnWarning,
        stacklevel=outside(),
    )


def warn_disagree(draws: int, rhat: float) -> None:
    """Warn that the chains of a Gibbs run have different results."""
    warnings.warn(
        f"the {CHAINS} Gibbs chains disagree after {draws} sweeps: split R̂ is {rhat:.3g}, more than {DISAGREE}\n\n"
        "hint: raise `n_samples`, or use method='likelihood_weighting' or exact inference",
        BayeslearnWarning,
        stacklevel=outside(),
    )
