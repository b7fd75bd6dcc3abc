"""Experts that give probabilities, mixed by Bayes: weights with log loss are the posterior.

    w_i ∝ p_i exp(−loss_i) = p_i Π_t P_i(y_t)        loss of the mixture ≤ loss_i + ln(1/p_i), for every expert i

Statistics are the log likelihoods of a finite space, so mixtures over the same experts add. Weighted-Majority is this
with experts that are right with probability 1/(1+β), whichever of two labels they predict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logsumexp

from bayeslearn import lazy_imports
from bayeslearn.codec import Saved
from bayeslearn.distributions import FiniteHypotheses, FinitePrior, LogLikelihoods
from bayeslearn.errors import (
    ImpossibleDataError,
    MismatchError,
    ParameterError,
    ProbabilityError,
    ShapeError,
    listed,
)
from bayeslearn.model_values import ARRAY, NAME, NUMBER, plain
from bayeslearn.online.experts import Predictors, Stream, objects, panel_of, prior_of
from bayeslearn.online.voting import Labels
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows
from bayeslearn.validation import SUM_TOLERANCE

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


class BayesMixture(Saved, Reported, kind="expert mixture"):
    """Bayes mixture: experts that predict probabilities, weighted by their posterior.

    Parameters
    ----------
    experts
        A number or names: x is then a list of the prediction of each. Or functions of x, and classifiers with
        `predict_proba`. A function returns a probability for each label, in order or by label.
    classes
        All labels.
    prior
        Weights before the first round, in order or by name; ``"uniform"`` by default.

    Examples
    --------
    >>> mixture = BayesMixture({"fair": lambda x: [0.5, 0.5], "loaded": lambda x: [0.1, 0.9]}, classes=["head", "tail"])
    >>> for side in ["tail", "tail", "tail"]:
    ...     mixture = mixture.learn_one(None, side)
    >>> {name: round(w, 3) for name, w in mixture.weights.items()}
    {'fair': 0.146, 'loaded': 0.854}
    >>> round(mixture.log_loss, 3), mixture.regret <= mixture.bound
    (0.851, True)
    """

    def __init__(self, experts: Any, *, classes: Iterable[Hashable], prior: Any = "uniform") -> None:
        panel = panel_of(experts)
        if not isinstance(panel, Predictors | Stream):
            raise ParameterError("experts of a mixture are names, functions or classifiers, not a table of labels")
        self.panel: Predictors | Stream = panel
        self.prior = prior_of(prior, panel.names)
        self._labels = Labels(list(classes))
        self.family = FiniteHypotheses(len(panel.names))
        self.statistics = self.family.zero()
        self.log_loss = 0.0
        self.rounds = 0
        self._starts = 1

    # -- one at a time

    def predict_one(self, x: Any) -> Any:
        """The most probable label, the first of those that tie."""
        return self.predict([x])[0]

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each label: Σ_i w_i P_i(label)."""
        return dict(zip(self.classes, self.predict_proba([x])[0].tolist(), strict=True))

    def learn_one(self, x: Any, y: Any) -> Self:
        """One round with the label y."""
        return self.partial_fit([x], [y])

    # -- many at a time

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each x."""
        return objects(list(self.classes))[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label, a column each."""
        return np.einsum("i,til->tl", self.posterior.mean(), self._given(X))

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Many rounds, as if one after the other."""
        if len(X) != len(y):
            raise ShapeError(f"expected a label for each of {len(X)} rounds, got {len(y)}")
        given = self._given(X)
        _, truth = self._labels.rounds(np.empty((0, 1), object), objects(list(y)))
        with np.errstate(divide="ignore"):
            logs = np.log(given[np.arange(len(truth)), :, truth])
        found = self.statistics + self.family.collect(logs)
        before, after = (self._evidence(s) for s in (self.statistics, found))
        if not np.isfinite(after):
            raise ImpossibleDataError("these labels have probability zero under every expert that is left")
        self.statistics, self.rounds = found, self.rounds + len(truth)
        self.log_loss += before - after  # Σ −ln P(y_t | before) is −ln P(all), whatever the order
        return self

    # -- weights and loss

    @property
    def experts(self) -> tuple[Any, ...]:
        """The names of the experts."""
        return self.panel.names

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels."""
        return tuple(self._labels.names)

    @property
    def posterior(self) -> FinitePrior:
        """The weights as a distribution of experts."""
        return self.family.update(self.prior, self.statistics)

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by expert; they sum to one."""
        return dict(zip(self.experts, self.posterior.mean().tolist(), strict=True))

    @property
    def best(self) -> Any:
        """The expert with the smallest log loss, the first of equal ones."""
        return self.experts[int(np.argmax(self.statistics.total))]

    @property
    def regret(self) -> float:
        """The log loss, in nats, minus that of the best expert."""
        return self.log_loss + float(self.statistics.total.max())

    @property
    def bound(self) -> float:
        """The upper bound on regret: ln(1/p) of the best expert."""
        return -self._starts * float(self.prior.log_p[int(np.argmax(self.statistics.total))])

    def __add__(self, other: Self) -> Self:
        """A mixture with the rounds of both."""
        if (self.experts, self.classes) != (other.experts, other.classes):
            raise MismatchError("two mixtures add over the same experts and labels")
        if not np.array_equal(self.prior.log_p, other.prior.log_p):
            raise MismatchError("two mixtures add from the same prior, so that it counts once", differs=["prior"])
        merged: Self = object.__new__(type(self))
        merged.__dict__ |= self.__dict__ | {
            "statistics": self.statistics + other.statistics, "rounds": self.rounds + other.rounds,
            "log_loss": self.log_loss + other.log_loss, "_starts": self._starts + other._starts,
        }  # fmt: skip
        return merged

    # -- reports

    def report(self) -> Report:
        """Return log loss, regret, bound, and the experts with the largest weights."""
        numbers = {
            "Rounds": self.rounds, "Log loss": self.log_loss, "Best expert": self.best, "Regret": self.regret,
            "Bound on regret": self.bound,
        }  # fmt: skip
        rows = sorted((tuple(e.values()) for e in self._experts()), key=lambda row: -row[2])
        return Report(repr(self), Pairs(numbers), Grid(["Expert", "Log loss", "Weight"], rows, "Experts"))

    def to_dict(self) -> dict[str, Any]:
        """Return log loss, regret and bound, and each expert with its weight, as plain values."""
        return {
            "rounds": self.rounds, "log_loss": self.log_loss, "best": self.best, "regret": self.regret,
            "bound": self.bound, "experts": self._experts(),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each expert: log loss and weight."""
        rows = (list(e.values()) for e in self._experts())
        return frame_of_rows(["expert", "log_loss", "weight"], rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the weights of the experts (:func:`bayeslearn.plots.plot_expert_weights`)."""
        return plots.plot_expert_weights(self, ax=ax)

    def _experts(self) -> list[dict[str, Any]]:
        losses = (0.0 - self.statistics.total).tolist()
        each = zip(self.weights.items(), losses, strict=True)
        return [{"expert": name, "log_loss": loss, "weight": weight} for (name, weight), loss in each]

    # -- files

    @classmethod
    def load(cls, path: str | os.PathLike[str], experts: Any = None) -> Self:
        """Read a mixture from a file, and check all of it; without `experts`, what they give comes as x."""
        mixture = super().load(path)
        if experts is None:
            return mixture
        panel = panel_of(experts)
        if not isinstance(panel, Predictors | Stream) or panel.names != mixture.experts:
            raise MismatchError(f"the file has the experts {listed(mixture.experts)}, given are {listed(panel.names)}")
        mixture.panel = panel
        return mixture

    def to_document(self) -> dict[str, Any]:
        """Return what was learned as plain values; of the experts only their names.

        {"experts", "labels", "log_prior": null where impossible, "statistics": {"finite", "impossible"}, "log_loss",
         "rounds", "starts"}
        """
        odd = [name for name in (*self.experts, *self.classes) if not isinstance(name, NAME)]
        if odd:
            raise ParameterError(f"names in a file are words and numbers, not {odd[0]!r:.60}")
        return {
            "experts": list(self.experts),
            "labels": list(self.classes),
            "log_prior": np.ma.masked_invalid(self.prior.log_p),
            "statistics": plain(self.statistics),
            "log_loss": self.log_loss,
            "rounds": self.rounds,
            "starts": self._starts,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Self:
        """Return the mixture of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "experts": [NAME], "labels": [NAME], "log_prior": ARRAY, "statistics": dict, "log_loss": NUMBER,
            "rounds": int, "starts": int,
        }  # fmt: skip
        names, labels, log_prior, statistics, log_loss, rounds, starts = reader.entries(document, keys, "a mixture")
        if not names or len(set(names)) < len(names) or log_loss < 0 or rounds < 0 or starts < 1:
            reader.wrong("its experts have no names, or the same, or its loss, rounds or starts cannot be")
        prior = reader.finite_prior(log_prior, "log_prior", len(names))
        mixture = cls(names, classes=labels, prior=prior)
        mixture.prior = prior
        mixture.statistics = reader.statistics(statistics, mixture.statistics)
        if np.isneginf(mixture.prior.log_p + mixture.statistics.total).all():
            reader.wrong("none of its experts is possible")
        mixture.log_loss, mixture.rounds, mixture._starts = float(log_loss), rounds, starts
        return mixture

    def __repr__(self) -> str:
        return f"BayesMixture({len(self.experts)} experts, log loss {self.log_loss:.4g} in {self.rounds} rounds)"

    # -- inside

    def _evidence(self, statistics: LogLikelihoods) -> float:
        return float(logsumexp(self.prior.log_p + statistics.total))

    def _given(self, xs: Any) -> Floats:
        """What each expert gives to each label: rounds × experts × labels, checked."""
        if isinstance(self.panel, Stream):
            rows = [self.panel.row(t, row) for t, row in enumerate(xs)]
            given = [[self._row(name, p) for name, p in zip(self.experts, row, strict=True)] for row in rows]
        else:
            columns = [self._asked(m, name, xs) for name, m in zip(self.experts, self.panel.members, strict=True)]
            given = [list(row) for row in zip(*columns, strict=True)]
        p = np.array(given, np.float64).reshape(len(xs), len(self.experts), len(self.classes))
        off = ~(np.isfinite(p).all(axis=2) & (p >= 0).all(axis=2) & (np.abs(p.sum(axis=2) - 1) <= SUM_TOLERANCE))
        if off.any():
            t, i = np.argwhere(off)[0]
            raise ProbabilityError(
                f"expert {self.experts[i]!r} gives {p[t, i].tolist()!r:.60} in round {t}, which are no probabilities"
            )
        return p

    def _asked(self, member: Any, name: Any, xs: Any) -> list[Any]:
        if not hasattr(member, "predict_proba"):
            return [self._row(name, member(x)) for x in xs]
        places = self._labels.codes(np.asarray(member.classes_), f"expert {name!r} has the label {{0!r}}")
        p = np.zeros((len(xs), len(self.classes)))
        p[:, places] = member.predict_proba(xs)
        return list(p)

    def _row(self, name: Any, given: Any) -> list[float]:
        """A probability for each label."""
        row = [given.get(label, 0.0) for label in self.classes] if isinstance(given, Mapping) else given
        if not hasattr(row, "__len__") or isinstance(row, str) or len(row) != len(self.classes):
            raise ShapeError(f"expert {name!r} gives {given!r:.60}, not a probability for each of {self.classes!r:.60}")
        return list(row)
