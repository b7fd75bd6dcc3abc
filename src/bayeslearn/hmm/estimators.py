"""Hidden Markov models as a scikit-learn estimator: rows of all sequences in order, and their lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.estimators import ReadsRows
from bayeslearn.hmm.fit import fit_hmm, warn_without_data
from bayeslearn.hmm.inputs import is_folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.em import EMStep
    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.tables.markers import Markers


class HMMEstimator(ReadsRows, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A hidden Markov model, fitted to sequences by EM; values may be missing (NaN, None) everywhere.

    The rows of all sequences follow each other, and `lengths` has the number of rows of each; default: one sequence.
    ``fit(X, lengths)`` works as in hmmlearn: a second argument that is not as long as X holds the lengths.

    Parameters
    ----------
    n_states
        The number of states, or their names.
    emissions, covariance_type, n_mixtures, topology, prior, n_init, tol, max_iter
        As in :func:`bayeslearn.hmm.fit_hmm`.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    random_state
        Seed or generator for initial values.

    Attributes
    ----------
    model_
        The fitted :class:`HiddenMarkovModel`.
    states_
        The names of the states, in the order of the columns of `predict_proba`.
    startprob_, transmat_
        Start and transition probabilities.
    n_iter_, converged_, history_
        The number of iterations, whether EM converged, and the :class:`~bayeslearn.em.EMStep` of each iteration.

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
        covariance_type: Literal["diag", "full"] = "diag",
        n_mixtures: int = 1,
        topology: Any = "ergodic",
        prior: Any = "auto",
        na_values: Markers = (),
        keep_default_na: bool = True,
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = 500,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.emissions = emissions
        self.covariance_type = covariance_type
        self.n_mixtures = n_mixtures
        self.topology = topology
        self.prior = prior
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def startprob_(self) -> NDArray[np.float64]:
        """The probability of each state at the first step."""
        check_is_fitted(self)
        return self.model_.startprob

    @property
    def transmat_(self) -> NDArray[np.float64]:
        """The probability of each state at the next step, given the present state."""
        check_is_fitted(self)
        return self.model_.transmat

    # -- learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        known_states: Any = None,
        sequence_weight: Any = None,
        id: str | None = None,  # noqa: A002 - the name of the column
    ) -> Self:
        """Fit the model to sequences.

        Parameters
        ----------
        X, lengths
            Rows of all sequences, and the number of rows of each; or a source with `id`.
        y
            Ignored, unless it holds the lengths.
        known_states
            The state of each row, None for unknown ones.
        sequence_weight
            The weight of each sequence.
        id
            The column of a source with the sequence of each row.
        """
        folded = is_folded(X, id)
        if folded:
            X = self._marked(X, reset=True)
        else:
            X, lengths = self._rows(X, y, lengths, reset=True)
        names = None if folded or isinstance(self.emissions, dict) else getattr(self, "feature_names_in_", None)
        model = fit_hmm(
            X, self.n_states, columns=names, emissions=self.emissions, covariance_type=self.covariance_type,
            n_mixtures=self.n_mixtures, topology=self.topology, lengths=lengths, known_states=known_states, id=id,
            sample_weight=sequence_weight, prior=self.prior, n_init=self.n_init,
            random_state=validation.generator(self.random_state), tol=self.tol, max_iter=self.max_iter,
        )  # fmt: skip
        if folded:
            self._note_columns(model.feature_names)
        info = model.fit_info
        self.history_, self.converged_, self.n_iter_ = info.history, info.converged, max(info.n_iter, 1)
        return self._keep(model)

    def partial_fit(self, X: Any, y: Any = None, *, lengths: Any = None, known_states: Any = None) -> Self:
        """Fit the first sequences by EM, and add the expected statistics of later ones."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, lengths=lengths, known_states=known_states)
        X, lengths = self._rows(X, y, lengths)
        self._keep(self.model_.update(X, lengths=lengths, known_states=known_states))
        warn_without_data(self.model_)
        return self

    def _keep(self, model: HiddenMarkovModel) -> Self:
        self.model_ = model
        self.states_ = np.array(model.states)
        return self

    # -- answers

    def predict(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[Any]:
        """Return the states of the most probable path of each sequence (Viterbi)."""
        return self.decode(X, y, lengths=lengths)[1]

    def decode(self, X: Any, y: Any = None, *, lengths: Any = None) -> tuple[float, NDArray[Any]]:
        """Return ln P(states, x) of all sequences, and the most probable states."""
        X, lengths = self._asked(X, y, lengths)
        path = self.model_.decode(X, lengths=lengths)
        return float(path.log_probability.sum()), self.states_[path.codes]

    def predict_proba(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[np.float64]:
        """Return P(state | whole sequence) of every row, a column for each of `states_`."""
        X, lengths = self._asked(X, y, lengths)
        return self.model_.predict_proba(X, lengths=lengths)

    def predict_log_proba(self, X: Any, y: Any = None, *, lengths: Any = None) -> NDArray[np.float64]:
        """Return the logarithm of :meth:`predict_proba`; −inf where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, y, lengths=lengths))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return ln P of all sequences."""
        X, lengths = self._asked(X, y, lengths)
        return self.model_.score(X, lengths=lengths)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the rows and the states of one random sequence."""
        check_is_fitted(self)
        rng = validation.generator(self.random_state if random_state is None else random_state)
        x, states = self.model_.draw(validation.integer("n_samples", n_samples, min_value=1), rng)
        return x.reshape(len(x), -1), np.array(states.tolist())

    # -- data in

    def _asked(self, X: Any, y: Any, lengths: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        return self._rows(X, y, lengths)

    def _rows(self, X: Any, y: Any, lengths: Any, *, reset: bool = False) -> tuple[Any, Any]:
        """Checked rows with the markers of missing values, and the lengths of the sequences."""
        X = self._read_rows(X, reset=reset)
        n, X = len(X), self._marked(X, reset=reset, names=self._array_names(X.shape[1], reset=False))
        if y is None or lengths is not None:
            return X, lengths
        y = np.asarray(y)
        meant = y.ndim == 1 and (len(y) != n or bool((y == 1).all()))
        if meant and not np.issubdtype(y.dtype, np.integer):
            raise ParameterError(f"the second argument is neither lengths nor one label for each row: {y!r:.60}")
        return X, y if meant else None
