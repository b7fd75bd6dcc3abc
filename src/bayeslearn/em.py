"""The EM loop: expected statistics are used as statistics.

    E   statistics, ln P(D|θ) = expected_statistics(D)        with the hidden parts inferred under θ
    M   θ' = estimate(prior, statistics)                       as if nothing had been hidden

    ln P(D|θ) + ln P(θ) never falls.

A result pairs a model with the statistics that its parameters were estimated from, whether it converged or not:
θ = estimate(prior, statistics).

Any model with these two steps learns here: networks with missing values, mixtures, hidden Markov models. The data are
any source that folds, and the same loop runs in memory, over files and over a cluster.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from bayeslearn import progress as reporting
from bayeslearn import validation
from bayeslearn.errors import (
    BayeslearnWarning,
    ConvergenceWarning,
    EvidenceError,
    ImpossibleDataError,
    ParameterError,
    outside,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from bayeslearn.progress import ProgressCallback, Reporter

__all__ = [
    "CheckpointEvery",
    "EMResult",
    "EMStep",
    "Foldable",
    "Model",
    "run",
    "run_best_of",
]


def __dir__() -> list[str]:
    return __all__


#: A fall of the objective that rounding explains, relative to its size.
ROUNDING = 1e-11


class Model(Protocol):
    """What the loop asks of a model: a frozen value with the two steps of EM."""

    def expected_statistics(self, batch: Any) -> tuple[Any, float]:
        """E step: additive statistics of a batch, and its log likelihood under the present parameters."""

    def estimate(self, prior: Any, statistics: Any) -> Self:
        """M step: a new model from a prior and statistics."""

    def log_prior(self, prior: Any) -> float:
        """Log density of the present parameters under the prior (0 for maximum likelihood)."""


class Foldable(Protocol):
    """What the loop asks of the data."""

    def fold(self, collect: Callable[[Any], Any]) -> Any:
        """Apply `collect` to each batch and add the results."""


M = TypeVar("M", bound=Model)


### what is remembered


@dataclass(frozen=True)
class EMStep:
    """One iteration: its log-likelihood, the log prior, and the gain in their sum."""

    iteration: int
    log_likelihood: float
    log_prior: float
    gain: float
    #: Whether this is the last step, which a checkpoint always writes.
    last: bool = False

    @property
    def objective(self) -> float:
        """The penalized log-likelihood, which EM maximizes."""
        return self.log_likelihood + self.log_prior

    def to_dict(self) -> dict[str, Any]:
        """Return the iteration with its log-likelihood and log prior."""
        return {"iteration": self.iteration, "log_likelihood": self.log_likelihood, "log_prior": self.log_prior}


@dataclass(frozen=True)
class EMResult(Generic[M]):
    """The best model, the expected statistics that it was estimated from, and the history of its iterations."""

    model: M
    statistics: Any
    history: tuple[EMStep, ...]
    converged: bool
    #: The final objective of each initialization, in the given order.
    starts: tuple[float, ...] = ()
    #: What the model expects of the data: the statistics of one more E step, which its log likelihood came with.
    expected: Any = None

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the data, ln P(D|θ)."""
        return self.history[-1].log_likelihood

    @property
    def objective(self) -> float:
        """The penalized log-likelihood, ln P(D|θ) + ln P(θ)."""
        return self.history[-1].objective

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return self.history[-1].iteration


@dataclass(frozen=True)
class Expected:
    """What one E step brings: statistics and log likelihood, which add like any statistic."""

    statistics: Any
    log_likelihood: float

    def __add__(self, other: Expected) -> Expected:
        return Expected(self.statistics + other.statistics, self.log_likelihood + other.log_likelihood)


### checkpoints


class CheckpointEvery(Generic[M]):
    """A checkpoint: the model is written at every n-th iteration and at the end, but never twice.

    Parameters are all that EM carries from one iteration to the next: a run that starts from the last written model
    continues as if it had not been interrupted.

    >>> run(model, source, checkpoint=CheckpointEvery(5, partial(save, path=path)))  # doctest: +SKIP
    """

    def __init__(self, n: int, write: Callable[[M], object]) -> None:
        self.n = validation.integer("checkpoint_every", n, min_value=1)
        self.write = write
        self.written: M | None = None

    def __call__(self, model: M, step: EMStep) -> None:
        """Write the model, if it is time."""
        if (step.last or step.iteration % self.n == 0) and model is not self.written:
            self.write(model)
            self.written = model


### the loop


@reporting.reports_progress("Running EM")
def run(
    model: M,
    source: Foldable,
    *,
    prior: Any = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    progress: Reporter | ProgressCallback | bool | None = None,
    checkpoint: Callable[[M, EMStep], object] | None = None,
) -> EMResult[M]:
    """Run EM from `model` until an iteration gains no more than `tol`.

    Parameters
    ----------
    model
        The initial values.
    source
        Anything with `fold`, for instance a Table.
    prior
        Passed to the model's `estimate` and `log_prior`; None for maximum likelihood.
    tol
        The gain in penalized log-likelihood, in nats, at which EM has converged.
    max_iter
        The maximum number of iterations; EM that ends there warns with the numbers.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress` whose `detail` is the
        :class:`EMStep`. StopIteration raised in it ends EM with the best model so far, after one iteration at least.
    checkpoint
        Called with the model and the :class:`EMStep` after every iteration, and once more at the end with a step whose
        `last` is true: for instance :class:`CheckpointEvery`.

    Returns
    -------
    EMResult
        The model, its statistics, the history, and whether EM converged.
    """
    validation.number("tol", tol, min_value=0)
    validation.integer("max_iter", max_iter, min_value=1)
    expected = expect(model, source, 0)
    used = expected.statistics
    history = [EMStep(0, expected.log_likelihood, model.log_prior(prior), math.inf)]
    converged, stopped = False, has_to_stop(progress, history, tol, max_iter)
    while len(history) == 1 or (not (converged or stopped) and history[-1].iteration < max_iter):
        candidate = model.estimate(prior, expected.statistics)
        found = expect(candidate, source, history[-1].iteration + 1)
        step = next_step(history[-1], found.log_likelihood, candidate.log_prior(prior))
        if step.gain < -slack(step):
            _warn_of_fall(step)
            stopped = True
            break
        model, used, expected = candidate, expected.statistics, found
        history.append(step)
        if checkpoint is not None:
            checkpoint(model, step)
        converged = step.gain <= max(tol, slack(step))
        stopped = has_to_stop(progress, history, tol, max_iter) or stopped
    if checkpoint is not None:
        checkpoint(model, replace(history[-1], last=True))
    if not (converged or stopped):
        _warn_not_converged(history[-1], tol)
    return EMResult(model, used, tuple(history), converged, expected=expected.statistics)


@reporting.reports_progress("Running EM")
def run_best_of(
    starts: Collection[M] | Iterable[M],
    source: Foldable,
    *,
    n_init: int = 1,
    prior: Any = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    progress: Reporter | ProgressCallback | bool | None = None,
    checkpoint: Callable[[M, EMStep], object] | None = None,
    climb: Callable[..., EMResult[M]] = run,
) -> EMResult[M]:
    """Run EM from each start and keep the best result, the first of equal ones.

    Parameters
    ----------
    starts
        The initial models; they may be made one after the other.
    n_init
        The number of starts, of which progress reports the share.
    source, prior, tol, max_iter, progress, checkpoint
        As in :func:`run`. A checkpoint receives only models that are better than the results of all starts before, so
        the last written model is the best so far.
    climb
        The optimizer, called as :func:`run` is.

    Returns
    -------
    EMResult
        The best result; `starts` has the final objective of each start.
    """
    best: EMResult[M] | None = None
    reached: list[float] = []
    for number, start in enumerate(starts):
        seen = above(checkpoint, best)
        words = f"start {number + 1} of {n_init}" if n_init > 1 else ""
        inner = reporting.part(progress, min(number / n_init, 1), min((number + 1) / n_init, 1), words)  # type: ignore[arg-type]
        result = climb(start, source, prior=prior, tol=tol, max_iter=max_iter, progress=inner, checkpoint=seen)
        reached.append(result.objective)
        if best is None or result.objective > best.objective:
            best = result
    if best is None:
        raise ParameterError("EM needs at least one model to start from, got none")
    return replace(best, starts=tuple(reached))


def above(
    checkpoint: Callable[[M, EMStep], object] | None, best: EMResult[M] | None
) -> Callable[[M, EMStep], object] | None:
    """The checkpoint for models that are higher than the best so far."""
    if checkpoint is None or best is None:
        return checkpoint
    return lambda model, step: checkpoint(model, step) if step.objective > best.objective else None


### its parts


def expect(model: Model, source: Foldable, iteration: int) -> Expected:
    """What a model expects of all batches; data it cannot explain are an error that names the iteration."""
    found: Expected = source.fold(lambda batch: Expected(*model.expected_statistics(batch)))
    value = float(found.log_likelihood)
    if value == -math.inf:
        raise ImpossibleDataError(
            f"the data have probability zero under the model of iteration {iteration}",
            hint="start from parameters without zeros, or give a prior",
        )
    if not math.isfinite(value):
        raise EvidenceError(f"the log likelihood of iteration {iteration} is {value}: the model cannot be trusted")
    return Expected(found.statistics, value)


def next_step(before: EMStep, log_likelihood: float, log_prior: float) -> EMStep:
    """The step that leads from one objective to another."""
    return EMStep(before.iteration + 1, log_likelihood, log_prior, log_likelihood + log_prior - before.objective)


def slack(step: EMStep) -> float:
    """How far apart two objectives may be and still be the same, up to rounding."""
    return ROUNDING * (1 + abs(step.objective))


def should_stop(progress: Callable[[Any], object] | None, step: Any) -> bool:
    """Call the callback with a step; return whether it asks to stop, which it does by raising StopIteration."""
    if progress is None:
        return False
    try:
        progress(step)
    except StopIteration:
        return True
    return False


def has_to_stop(progress: Any, history: list[EMStep], tol: float, max_iter: int) -> bool:
    """Report the last step; return whether the callback asks to stop."""
    if progress is None:
        return False
    step = history[-1]
    words = f"iteration {step.iteration}, log-likelihood {step.log_likelihood:.8g}"
    return reporting.should_stop(progress, share_done(history, tol, max_iter), words, step)


def share_done(history: list[EMStep], tol: float, max_iter: int) -> float:
    """An estimate of the share of iterations that is done: gains fall geometrically from the first to `tol`."""
    step, share = history[-1], history[-1].iteration / max_iter
    gains = [s.gain for s in (history[1:2] + history[-1:])]
    if len(history) > 2 and gains[0] > gains[1] > 0:
        goal = max(tol, slack(step))
        share = max(share, math.log(gains[0] / gains[1]) / math.log(gains[0] / goal)) if gains[0] > goal else 1.0
    return min(share, 1.0)


def _warn_of_fall(step: EMStep) -> None:
    warnings.warn(
        f"EM stopped before iteration {step.iteration}, whose objective would fall by {-step.gain:.3g}\n\n"
        "hint: an M step must maximize what log_prior measures; estimate by the mode, not the mean",
        BayeslearnWarning,
        stacklevel=outside(),
    )


def _warn_not_converged(step: EMStep, tol: float) -> None:
    warnings.warn(
        f"EM stopped after {step.iteration} iterations, last gain {step.gain:.1e}, asked for {tol:.0e}\n\n"
        "hint: raise `max_iter`, or loosen `tol`",
        ConvergenceWarning,
        stacklevel=outside(),
    )
