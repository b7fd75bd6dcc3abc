"""What the fit of a naive Bayes model found out: class counts, missing values, EM, cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports
from bayeslearn.errors import BayeslearnError, option
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.naive_bayes.tabular.calibration import best_exponents
from bayeslearn.naive_bayes.tabular.cross_validation import CrossValidation, judged
from bayeslearn.naive_bayes.tabular.indicators import ClassIndicator, class_indicators
from bayeslearn.naive_bayes.tabular.out_of_fold import most_rows, out_of_fold, out_of_folds
from bayeslearn.naive_bayes.tabular.reporting import (
    MAX_INDICATORS,
    classes_grid,
    distributions_of,
    exponents_of,
    in_numbers,
    shown_exponents,
)
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.naive_bayes.tabular.label_statistics import Labeled
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.progress import Reporter

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The calibration error, and the number of rows, above which a note recommends calibration.
LARGE_ERROR, ENOUGH_ROWS = 0.05, 100


@dataclass(frozen=True, kw_only=True, repr=False)
class NaiveBayesFitInfo(FitInfo):
    """What the fit of a naive Bayes model found out.

    Attributes
    ----------
    target
        The class variable.
    class_counts, class_probabilities
        The weight of the rows of each class, and P(class).
    n_unlabeled
        The number of rows without a label.
    n_missing
        The number of missing values of each column.
    distributions
        The distribution of each column.
    prior, class_prior
        The priors as they were given.
    column_exponents
        The exponent of each column; 1 without calibration.
    cross_validation
        Accuracy, log loss and calibration out of fold; None where it was not computed.
    """

    target: str = ""
    class_counts: Mapping[Any, float] = field(default_factory=dict)
    class_probabilities: Mapping[Any, float] = field(default_factory=dict)
    n_unlabeled: int = 0
    n_missing: Mapping[str, int] = field(default_factory=dict)
    distributions: Mapping[str, str] = field(default_factory=dict)
    prior: Any = None
    class_prior: Any = None
    column_exponents: Mapping[str, float] = field(default_factory=dict)
    cross_validation: CrossValidation | None = None
    _model: NaiveBayesModel | None = None

    @property
    def class_indicators(self) -> dict[Any, list[ClassIndicator]]:
        """The values that indicate each class most."""
        assert self._model is not None
        return class_indicators(self._model, max_results=MAX_INDICATORS)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return super().to_dict() | {"class_indicators": plain(self.class_indicators)}

    def _title(self) -> str:
        return f"Naive Bayes: {self.target!r} from {len(self.distributions)} columns, {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found: dict[str, Any] = {"Columns": in_numbers(self.distributions)}
        missing = sum(self.n_missing.get(name, 0) for name in self.distributions)
        if missing:
            cells = self.n_rows * len(self.distributions)
            found["Missing values"] = f"{missing:,} of {cells:,} ({missing / cells:.2g})"
        if self.n_unlabeled:
            found["Unlabeled rows"] = self.n_unlabeled
        found |= {"Prior": shown_prior(self.prior), "Class prior": shown_prior(self.class_prior)}
        check = self.cross_validation
        if check is not None:
            found[f"Accuracy, {check.cv}-fold"] = f"{check.accuracy:.4g} (majority class {check.majority_accuracy:.4g})"
            found["Log loss"] = f"{check.log_loss:.4g} (class probabilities {check.majority_log_loss:.4g})"
            found["Calibration error"] = check.calibration.error
        exponents = shown_exponents(self.column_exponents)
        found |= {} if exponents is None else {"Column exponents": exponents}
        return found | {name: value for name, value in super()._pairs().items() if name != "Seconds"}

    def _blocks(self) -> tuple[Any, ...]:
        return () if self._model is None else (classes_grid(self._model),)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw observed frequencies by predicted probability out of fold; the fit needs `cv`."""
        from bayeslearn.errors import DataError  # noqa: PLC0415

        if self.cross_validation is None:
            raise DataError("there are no out-of-fold predictions to draw", hint=f"fit with {option('cv', 10)}")
        return plots.plot_calibration(self.cross_validation.calibration, ax=ax)


def shown_prior(prior: Any) -> str:
    """A prior as text."""
    if hasattr(prior, "items"):
        return ", ".join(f"{name}: {shown_prior(of)}" for name, of in prior.items())
    return "none" if prior is None else str(prior)


def info_of(
    model: NaiveBayesModel,
    cases: Cases | SourceCases,
    fitted: Labeled | None = None,
    *,
    priors: tuple[Any, Any] = (None, None),
    missing: Mapping[str, int] | None = None,
    dropped: Mapping[str, str] | None = None,
    checked: CrossValidation | None = None,
    notes: tuple[str, ...] = (),
    seconds: float,
) -> NaiveBayesFitInfo:
    """The fit info of a model."""
    em = None if fitted is None else fitted.em
    n_rows = cases.rows.n if isinstance(cases, Cases) else cases.source.n_rows
    return NaiveBayesFitInfo(
        n_rows=n_rows,
        history=() if em is None else em.history,
        converged=em is None or em.converged,
        log_likelihood=None if em is None else em.log_likelihood,
        dropped_columns=dict(dropped or {}),
        notes=notes,
        seconds=seconds,
        target=model.target.name,
        class_counts=dict(zip(model.classes, model.class_counts.tolist(), strict=True)),
        class_probabilities={
            c: float(p) for c, p in zip(model.classes, model.posterior(model.target.name).mean(), strict=True)
        },
        n_unlabeled=0 if fitted is None else fitted.n_unlabeled,
        n_missing=dict(missing or {}),
        distributions=distributions_of(model),
        prior=priors[0],
        class_prior=priors[1],
        column_exponents=exponents_of(model),
        cross_validation=checked,
        _model=model,
    )


@dataclass(frozen=True)
class Checks:
    """Cross-validation and calibration of a model on the rows that it was fitted to."""

    cv: int
    calibrate: bool
    random_state: Any
    progress: Reporter | None

    def of(
        self, model: NaiveBayesModel, cases: Cases | SourceCases, n_labeled: int
    ) -> tuple[NaiveBayesModel, CrossValidation | None, tuple[str, ...]]:
        """The model, calibrated where this is asked for; the cross-validation; and notes."""
        if not self.cv and not self.calibrate:
            return model, None, ()
        folds = max(self.cv or 10, 2)
        if self.calibrate:
            folds = min(folds, n_labeled)
        checked, notes = None, list[str]()
        try:
            ask: Any = out_of_fold if isinstance(cases, Cases) else out_of_folds
            found = ask(
                model, cases, folds=folds, random_state=self.random_state, progress=self.progress, apart=self.calibrate
            )
        except BayeslearnError as error:  # a fold may lack what an estimate without a prior needs
            return model, None, (f"no cross-validation: {error.message}",)
        if self.cv:
            checked = judged(found, calibrate=self.calibrate)
        if self.calibrate and len(model.classes) > 1:
            model = replace(model, column_exponents=best_exponents(found))
        elif checked is not None and checked.calibration.error > LARGE_ERROR and model.total_weight >= ENOUGH_ROWS:
            notes.append(f"{option('calibrate', True)} corrects the calibration error")
        every = -(-n_labeled // most_rows(model, folds, apart=self.calibrate))
        if checked is not None and isinstance(cases, SourceCases) and every > 1:
            notes.append(f"cross-validation predicts one row in {every:,}")
        return model, checked, tuple(notes)
