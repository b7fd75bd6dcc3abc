"""What the estimators of mixtures share: answers about rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.sources.scanning import is_source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.em import Result
    from bayeslearn.mixture.model import Mixture

    Floats = NDArray[np.float64]


class Answers(TakesCells, ABC):
    """What both share: answers about rows, once `model_` is there."""

    model_: Mixture

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """Checked rows, as the model takes them."""

    @staticmethod
    def _require_rows(X: Any) -> Any:
        """Rows in memory: answers are one for each row."""
        if is_source(X):
            raise ParameterError(
                "an answer for each row takes the rows in memory, and this is a source",
                hint="ask batch by batch: for batch in source.batches(): model.model_.assign(batch)",
            )
        return X

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable component of each row."""
        rows = self._rows(X)
        return self.model_.assign(rows)

    def predict_proba(self, X: Any) -> Floats:
        """P(component | row): the responsibilities."""
        rows = self._rows(X)
        return self.model_.responsibilities(rows)

    def score_samples(self, X: Any) -> Floats:
        """ln p(row)."""
        rows = self._rows(X)
        return self.model_.log_density(rows)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn hands it over
        """The mean of ln p(row)."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """−2 ln P(D|θ) + free parameters · ln n: the lower the better."""
        rows = self._rows(X)
        return self.model_.bic(rows)

    def aic(self, X: Any) -> float:
        """−2 ln P(D|θ) + 2 · free parameters: the lower the better."""
        rows = self._rows(X)
        return self.model_.aic(rows)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Learn, and tell the component of each row."""
        self._require_rows(X)
        return self.fit(X, y, sample_weight).labels_  # type: ignore[attr-defined]

    def _learned(self, found: Result[Mixture]) -> None:
        self.model_ = found.model
        self.history_ = found.history
        self.converged_ = found.converged
        self.n_iter_ = found.iterations
