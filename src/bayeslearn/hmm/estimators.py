"""Hidden Markov models with the face of scikit-learn: rows one after the other, and the lengths of the sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.estimators import ReadsRows
from bayeslearn.hmm.baum_welch import learn, warn_of_dead
from bayeslearn.hmm.inputs import is_folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.em import EMStep
    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.tables.markers import Markers


class HMMEstimator(ReadsRows, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """States that nobody sees, learned from sequences by EM; cells may be missing (NaN, None) everywhere.

    Rows of all sequences stand one after the other, and `lengths` says how many belong to each; one sequence when it
    is not given. ``fit(X, lengths)`` may be written as elsewhere: a second argument that is not as long as X is taken
    for the lengths.

    Parameters
    ----------
    n_states
        How many states, or their names.
    emissions, mixture, structure, prior, restarts, tol, max_iter
        As in :func:`bayeslearn.hmm.learn`.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    random_state
        Of the starts.

    Attributes
    ----------
    model_
        The :class:`HiddenMarkovModel` learned, to be asked, updated, added and saved.
    states_
        The names of the states, in the order of the columns of `predict_proba`.
    n_iter_, converged_, history_
        The way EM went: iterations, whether it arrived, and every step.

    Examples
    --------
    >>> X = np.array([0.1, -0.2, 0.1, 5.2, 4.9, 5.1, 0.0, 5.0, 5.3]).reshape(-1, 1)
    >>> found = HMMEstimator(2).fit(X, lengths=[6, 3])
    >>> found.predict(X, lengths=[6, 3])
    array([0, 0, 0, 1, 1, 1, 0, 1, 1])
    """

    _form = "array"

    model_: HiddenMarkovModel
    states_: NDArray[Any]
    n_iter_: int
    converged_: bool
    history_: tuple[EMStep, ...]

    def __init__(
        self,
        n_states: int | Iterable[Any] = 2,
        *,
        emissions: str | Mapping[str, str] = "auto",
        mixture: int = 1,
        structure: Any = "any",
        prior: Any = "auto",
        na_values: Markers = (),
        keep_default_na: bool = True,
        restarts: int = 1,
        tol: float = 1e-4,
        max_iter: int = 500,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.emissions = emissions
        self.mixture = mixture
        self.structure = structure
        self.prior = prior
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.restarts = restarts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    # -- learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        known: Any = None,
        sequence_weight: Any = None,
        id: str | None = None,  # noqa: A002 - the name of the column
    ) -> Self:
        """Learn from sequences; `known` tells the states of some rows, `sequence_weight` how often sequences count.

        The sequences of a source, or of the pattern of files, are told apart by a column of it, `id`.
        """
        folded = is_folded(X, id)
        if folded:
            X = self._marked(X, reset=True)
        else:
            X, lengths = self._rows(X, y, lengths, reset=True)
        found = learn(
            X, self.n_states, emissions=self.emissions, mixture=self.mixture, lengths=lengths, known=known, id=id,
            sample_weight=sequence_weight, structure=self.structure, prior=self.prior, restarts=self.restarts,
            random_state=validation.generator(self.random_state), tol=self.tol, max_iter=self.max_iter,
        )  # fmt: skip
        if folded:
            self._note_columns(found.model.emissions.names)
        self.history_, self.converged_, self.n_iter_ = found.history, found.converged, max(found.n_iter, 1)
        return self._keep(found.model)

    def partial_fit(self, X: Any, y: Any = None, *, lengths: Any = None, known: Any = None) -> Self:
        """Learn from more sequences: the first are climbed on, what is expected of later ones is added."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, lengths=lengths, known=known)
        X, lengths = self._rows(X, y, lengths)
        self._keep(self.model_.update(X, lengths=lengths, known=known))
        warn_of_dead(self.model_)
        return self

    def _keep(self, model: HiddenMarkovModel) -> Self:
        self.model_ = model
        self.states_ = np.array(model.states)
        return self

    # -- questions

    def predict(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[Any]:
        """The most probable states of each sequence together (Viterbi)."""
        return self.decode(X, y, lengths=lengths)[1]

    def decode(self, X: Any, y: Any = None, *, lengths: Any = None) -> tuple[float, NDArray[Any]]:
        """ln P(states, x) of all sequences, and the most probable states."""
        X, lengths = self._asked(X, y, lengths)
        path = self.model_.decode(X, lengths=lengths)
        return float(path.log_p.sum()), self.states_[path.codes]

    def predict_proba(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[np.float64]:
        """P(state | whole sequence) of every row, a column for each of `states_`."""
        X, lengths = self._asked(X, y, lengths)
        return self.model_.posterior(X, lengths=lengths).probabilities

    def predict_log_proba(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[np.float64]:
        """Return the logarithm of :meth:`predict_proba`; −inf where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, y, lengths=lengths))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """ln P of all sequences."""
        X, lengths = self._asked(X, y, lengths)
        return float(self.model_.log_likelihood(X, lengths=lengths).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """One sequence drawn at random: its rows and its states."""
        check_is_fitted(self)
        rng = validation.generator(self.random_state if random_state is None else random_state)
        x, states = self.model_.sample(validation.integer("n_samples", n_samples, min_value=1), rng)
        return x.reshape(len(x), -1), np.array(states.tolist())

    # -- data in

    def _asked(self, X: Any, y: Any, lengths: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        return self._rows(X, y, lengths)

    def _rows(self, X: Any, y: Any, lengths: Any, *, reset: bool = False) -> tuple[Any, Any]:
        """Checked rows with the markers of missing values, and the lengths of the sequences."""
        X = self._read_rows(X, reset=reset)
        n, X = len(X), self._marked(X, reset=reset, names=self._array_names(X.shape[1], reset=False))
        if y is None:
            return X, lengths
        if lengths is not None:
            return X, lengths
        y = np.asarray(y)
        meant = y.ndim == 1 and (len(y) != n or bool((y == 1).all()))
        if meant and not np.issubdtype(y.dtype, np.integer):
            raise ParameterError(f"the second argument is neither lengths nor one label for each row: {y!r:.60}")
        return X, y if meant else None
