"""What naive Bayes models and their fits show: reports, plain values, frames and plots.

The fit has class counts, missing values, EM and cross-validation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import BayeslearnError, option, short
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.naive_bayes.tabular.label_statistics import ClassIndicator, class_indicators
from bayeslearn.naive_bayes.tabular.out_of_fold import (
    FOLDS,
    CrossValidation,
    best_exponents,
    is_calibrated,
    judged,
    out_of_fold,
    out_of_folds,
)
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases, kept
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.components.distribution_choice import Choice
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions
    from bayeslearn.naive_bayes.tabular.label_statistics import Labeled
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.progress import Reporter
    from bayeslearn.tables.frames import Backend


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
    chosen_distributions
        The chosen option of each numeric column without a given distribution: ``"gaussian"``, ``"binned:5"``, ...
    distribution_scores
        The mean held-out ln P(class | column) of every candidate of these columns.
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
    chosen_distributions: Mapping[str, str] = field(default_factory=dict)
    distribution_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
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
        found: dict[str, Any] = {"Columns": in_numbers(dict(self.distributions) | dict(self.chosen_distributions))}
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
    choices: Mapping[str, Choice] | None = None,
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
        chosen_distributions={name: choice.option for name, choice in (choices or {}).items()},
        distribution_scores={name: dict(choice.scores) for name, choice in (choices or {}).items() if choice.scores},
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
    calibrate: bool | Literal["auto"]
    random_state: Any
    progress: Reporter | None

    def of(
        self, model: NaiveBayesModel, cases: Cases | SourceCases, n_labeled: int
    ) -> tuple[NaiveBayesModel, CrossValidation | None, tuple[str, ...]]:
        """The model, calibrated where this is asked for; the cross-validation; and notes."""
        calibrate = is_calibrated(n_labeled, len(model.classes), calibrate=self.calibrate)
        if not self.cv and not calibrate:
            return model, None, ()
        folds = max(self.cv or FOLDS, 2)
        if calibrate:
            folds = min(folds, n_labeled)
        checked, notes, cases = None, list[str](), kept(cases)
        try:
            ask: Any = out_of_fold if isinstance(cases, Cases) else out_of_folds
            found = ask(
                model, cases, folds=folds, random_state=self.random_state, progress=self.progress, apart=calibrate
            )
        except BayeslearnError as error:  # a fold may lack what an estimate without a prior needs
            return model, None, (f"no {'cross-validation' if self.cv else 'calibration'}: {error.message}",)
        if self.cv:
            checked = judged(found, calibrate=calibrate)
        if calibrate:
            model = replace(model, column_exponents=best_exponents(found))
        elif checked is not None and checked.calibration.error > LARGE_ERROR and model.total_weight >= ENOUGH_ROWS:
            notes.append(f"{option('calibrate', True)} corrects the calibration error")
        every = round(n_labeled / len(found.labels))
        if checked is not None and every > 1:
            notes.append(f"cross-validation predicts one row in {every:,}")
        return model, checked, tuple(notes)


#: Indicators of a class that a report names.
MAX_INDICATORS = 3


def distributions_of(model: NaiveBayesModel) -> dict[str, str]:
    """The distribution of each column as options name it."""
    return {c.name: c.distribution.name for c in model.columns}


def in_numbers(distributions: Mapping[str, str]) -> str:
    """How many columns have each distribution: "2 categorical, 1 gaussian"."""
    return ", ".join(f"{n} {name}" for name, n in Counter(distributions.values()).items()) or "none"


def exponents_of(model: NaiveBayesModel) -> dict[str, float]:
    """The exponent of each column."""
    return dict(zip(model.feature_names, model.column_exponents, strict=True))  # type: ignore[arg-type]


def shown_exponents(exponents: Mapping[str, float]) -> str | None:
    """Exponents, the largest first; None where all are 1."""
    if all(τ == 1 for τ in exponents.values()):
        return None
    return ", ".join(f"{name} {τ:.2g}" for name, τ in sorted(exponents.items(), key=lambda entry: -entry[1]))


def classes_grid(model: NaiveBayesModel) -> Grid:
    """The classes: rows, probability, and the values that indicate them most."""
    found, p = class_indicators(model, max_results=MAX_INDICATORS), np.exp(model.class_log_prior)
    rows = [
        [name, round(float(n), 6), q, "; ".join(map(str, found[name]))]
        for name, n, q in zip(model.classes, model.class_counts, p, strict=True)
    ]
    return Grid([model.target.name, "rows", "probability", "indicators"], rows, "Classes", max_rows=100)


def model_report(model: NaiveBayesModel) -> Report:
    """The columns with their distributions, and the classes."""
    pairs = {"Columns": in_numbers(distributions_of(model)), "Exponents": shown_exponents(exponents_of(model))}
    return Report(
        f"Naive Bayes: {model.target.name!r} from {len(model.columns)} columns, {model.total_weight:,.10g} rows",
        Pairs({name: value for name, value in pairs.items() if value is not None}),
        classes_grid(model),
    )


def model_dict(model: NaiveBayesModel) -> dict[str, Any]:
    """Classes, and the parameters of each column."""
    return {
        "target": model.target.name,
        "classes": list(model.classes),
        "class_counts": model.class_counts.tolist(),
        "class_probabilities": np.exp(model.class_log_prior).tolist(),
        "estimate": model.estimate,
        "columns": [
            {
                "name": c.name,
                "distribution": c.distribution.name,
                "exponent": exponents_of(model)[c.name],
                "states": list(c.variable.states) if isinstance(c.variable, DiscreteVariable) else None,
                "parameters": plain_parameters(model, c),
            }
            for c in model.columns
        ],
    }


def plain_parameters(model: NaiveBayesModel, column: Any) -> Any:
    """Parameters of a column, a row for each class; None where all values were equal."""
    posterior = model.posterior(column.name)
    if posterior is None:
        return None
    found = column.distribution.estimate(posterior)
    if hasattr(found, "_fields"):
        return {name: np.asarray(part).tolist() for name, part in zip(found._fields, found, strict=True)}
    return np.asarray(found).tolist()


def model_frame(model: NaiveBayesModel, backend: Backend) -> Any:
    """A row for each class, column and state; for a number one for each class, with its parameters in words."""
    rows: list[tuple[str, str, str | None, float | None, str | None]] = []
    for column in model.columns:
        posterior = model.posterior(column.name)
        parameters = None if posterior is None else column.distribution.estimate(posterior)
        for c, name in enumerate(map(str, model.classes)):
            if parameters is None:
                rows.append((name, column.name, None, None, "constant"))
            elif isinstance(column.variable, DiscreteVariable):
                states = map(str, column.variable.states)
                rows += [(name, column.name, s, float(p), None) for s, p in zip(states, parameters[c], strict=True)]
            else:
                shown = column.distribution.describe(parameters, c, variable=column.variable)
                rows.append((name, column.name, None, None, shown))
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[]] * 5
    return frame_of(
        dict(zip([model.target.name, "column", "state", "probability", "parameters"], columns, strict=True)), backend
    )


#: Bars that are drawn, and characters of a label.
MAX_BARS, MAX_LABEL = 40, 40


def label(text: str) -> str:
    """A label without mathematics, and not longer than there is room for."""
    return short(text, MAX_LABEL).replace("$", r"\$")


def bars(axes: Any, names: list[str], values: list[float], colors: Any = "#56b4e9") -> None:
    """Horizontal bars, the first at the top."""
    axes.barh(range(len(names)), values, color=colors)
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.invert_yaxis()


def paint_indicators(axes: Any, model: NaiveBayesModel, max_results: int, colors: Any) -> None:
    """A bar for each indicator, in the color of its class."""
    found = [
        (f"{name}: {one}", one.strength, colors(c))
        for c, (name, of) in enumerate(class_indicators(model, max_results=max_results).items())
        for one in of
    ][:MAX_BARS]
    bars(axes, [name for name, _, _ in found], [s for _, s, _ in found], [color for _, _, color in found])
    axes.set(xlabel="Mean gain in log odds (nats)")
    axes.set_title(label(f"Indicators of {model.target.name}"), fontsize="medium")


def paint_contributions(axes: Any, found: CellContributions, row: int) -> None:
    """A bar for the start and for each cell, the strongest first."""
    cells = [
        ("start", float(found.start[row])),
        *((found.cell_name(row, name), add) for name, _, add in found.row(row)),
    ]
    bars(
        axes,
        [name for name, _ in cells],
        [add for _, add in cells],
        ["#56b4e9" if add >= 0 else "#e69f00" for _, add in cells],
    )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel=f"Log odds (sum {found.log_odds[row]:.4g})")
    axes.set_title(label(f"Row {row}: {found.classes[row]}"), fontsize="medium")
