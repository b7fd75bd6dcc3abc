"""Naive Bayes as a scikit-learn classifier: any columns, missing cells and labels, weights, batches, sources."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayeslearn import validation
from bayeslearn.errors import MissingValuesError, ParameterError, UnknownColumnError, listed
from bayeslearn.estimators import AnswersInBatches, ReadsLabels, has_named_columns
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.column_choices import choices_in, choices_of, choosable
from bayeslearn.naive_bayes.tabular.inputs import (
    MOST_STATES,
    Input,
    column_of,
    distribution_names,
    every_column,
    finite,
    framed,
    new_states,
    options_of,
    read_columns,
    require_columns,
)
from bayeslearn.naive_bayes.tabular.label_statistics import added, labeled
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.markers import distinct_labels, label_codes, unknown_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.components.distribution_choice import Choice
    from bayeslearn.evaluation import Calibration
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import Rows
    from bayeslearn.progress import Progress
    from bayeslearn.tables.markers import Markers


class NaiveBayesClassifier(AnswersInBatches, ReadsLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) with words, numbers and counts in one model; cells may be missing (NaN, None, "?") everywhere.

    Parameters
    ----------
    distributions
        ``"auto"``: text, truth values, categories and few whole numbers are categorical, and the distribution of every
        other column of numbers is chosen by held-out evidence, as by :func:`fit_naive_bayes`; whole numbers of an
        array are categorical up to 255. A name, such as ``"gaussian"``, is that of all numeric columns, and a dict
        declares it for some columns: ``"categorical"``, ``"poisson"``, or ``"binned:5"`` for bins at the quantiles. A
        plain array has the columns x0, x1, and so on. :meth:`partial_fit` chooses nothing in its first batch.
    prior, class_prior, estimate
        As in :meth:`NaiveBayesModel.learn`: every class starts with one case that looks like all rows, the class shares
        with one case each, and posterior means are plugged in.
    calibrate
        Learn out of fold how much the evidence of each column counts; ``"auto"`` does so with at least 20 rows that
        have a label. The reliability is :meth:`calibration`.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a label (None, NaN): learn from them by ``"em"``, ``"drop"`` them, or raise an
        ``"error"``.
    max_iter, tol
        Of EM, where labels are missing.
    random_state
        Of the folds.

    Attributes
    ----------
    model_
        The :class:`NaiveBayesModel` learned, to be added, explained, faded and saved.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_
        Iterations of EM, one where every row has a label.

    Examples
    --------
    >>> X = [["sunny", 25.0], ["rain", None], ["sunny", 28.5], ["rain", 14.0]]
    >>> model = NaiveBayesClassifier().fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["rain", 12.0], [None, 27.0], ["snow", 26.0]])
    array(['yes', 'no', 'no'], dtype='<U3')

    Rows without a label help too:

    >>> more = NaiveBayesClassifier().fit([*X, ["rain", 11.0]], ["no", "yes", "no", "yes", None])
    >>> more.model_.total_weight
    5.0
    """

    model_: NaiveBayesModel
    n_iter_: int

    _unlabeled_choices: ClassVar[tuple[str, ...]] = ("em", "drop", "error")

    def __init__(
        self,
        *,
        distributions: str | Mapping[str, str] = "auto",
        prior: Any = "pooled:1",
        class_prior: Any = "laplace",
        estimate: Literal["mean", "integrated"] = "mean",
        calibrate: bool | Literal["auto"] = "auto",
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["em", "drop", "error"] = "em",
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = 0,
    ) -> None:
        self.distributions = distributions
        self.prior = prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows with labels; where X has named columns, `y` and `sample_weight` may be names of columns.

        Patterns, directories and lists of paths are read batch by batch, as is a source (:func:`~bayeslearn.scan`):
        `y` is then the name of a column.
        """
        self.n_iter_ = 1
        cases: Cases | SourceCases
        if is_source(X):
            frame, cases = self._source_cases(self._marked(X, reset=True), y, None, sample_weight)
            given = Input(frame.feature_names, None)
        else:
            given, labels, weights = self._cases(X, y, sample_weight, reset=True)
            codes = self._code_labels(labels, reset=True)
            frame, rows = self._chosen(given, codes, weights)
            cases = Cases(rows, codes, weights)
        self.model_ = finite(given, lambda: labeled(frame, cases, **self._em_options()))
        self._calibrate(cases)
        return self

    def _em_options(self) -> dict[str, Any]:
        unlabeled = "em" if self.unlabeled == "em" else "drop"
        return {"tol": self.tol, "max_iter": self.max_iter, "progress": self._count, "unlabeled": unlabeled}

    def _count(self, now: Progress) -> None:
        self.n_iter_ = max(now.detail.iteration, 1)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows, with states that are new or not; the first call may name all `classes`.

        Batches of rows with labels add up exactly to the whole; a row without adds what is expected of it by then.
        """
        first = not hasattr(self, "model_")
        if is_source(X):
            return self._add_source(self._marked(X, reset=True), y, classes, sample_weight, first=first)
        given, labels, weights = self._cases(X, y, sample_weight, reset=first)
        codes = self._code_labels(labels, classes, reset=first)
        if first:
            model, rows = self._framed(given)
            self.n_iter_ = 1
        else:
            fresh = given.states(self.model_.columns).items()
            model = self.model_.add_states({n: new_states(self.model_[n].variable, found) for n, found in fresh})
            rows = given.rows(model.columns)
        self.model_ = finite(given, lambda: added(model, Cases(rows, codes, weights)))
        return self

    def _add_source(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool) -> Self:
        cases: Cases | SourceCases
        if first:
            model, cases = self._source_cases(X, y, classes, sample_weight)
        else:
            require_column(y)
            from bayeslearn.naive_bayes.tabular.fit import more_cases  # noqa: PLC0415 - only here

            model, cases = more_cases(self.model_, X, y, sample_weight)
        unknown = [label for label in model.classes if label not in self.classes_.tolist()]
        if unknown:
            raise unknown_labels(unknown, self.classes_.tolist())
        self.model_ = finite(Input(model.feature_names, None), lambda: added(model, cases))
        return self

    def _calibrate(self, cases: Cases | SourceCases) -> None:
        if not self.calibrate:
            return
        from bayeslearn.naive_bayes.tabular.out_of_fold import labels_seen  # noqa: PLC0415
        from bayeslearn.naive_bayes.tabular.reporting import Checks  # noqa: PLC0415

        checks = Checks(0, self.calibrate, validation.generator(self.random_state), None)
        self.model_ = checks.of(self.model_, cases, int(cases.fold(labels_seen)))[0]

    # -- models that have seen nothing yet

    def _chosen(self, given: Input, codes: NDArray[np.int32], sample_weight: Any) -> tuple[NaiveBayesModel, Rows]:
        """A model with the columns of the data, whose distributions are chosen where they are open, and the rows."""
        variables, found, options = self._variables(given, as_numbers=False)
        candidates = choosable(variables, options_of(options))
        numbers = {v.name: v for v in variables if v.name in candidates}

        def values(name: str, rows: Any) -> NDArray[np.float64]:
            if isinstance(found, Table):
                return found.values_of(name)[rows]
            assert given.plain is not None
            return np.asarray(given.plain[rows, given.names.index(name)], dtype=np.float64)

        choices = choices_of(numbers, candidates, values, codes, sample_weight, len(self.classes_))
        frame = self._frame([choices[v.name].variable if v.name in choices else v for v in variables], options, choices)
        if isinstance(found, Table):
            cut = {n: c.variable for n, c in choices.items() if isinstance(c.variable, DiscreteVariable)}
            return frame, blocks.of_table(found.with_intervals(cut) if cut else found, frame.columns)
        if given.plain is None or given.plain.dtype.kind != "f":
            return frame, found
        return frame, blocks.of_numbers(given.plain, frame.columns)

    def _framed(self, given: Input) -> tuple[NaiveBayesModel, Rows]:
        """A model with the columns of the data, numeric ones Gaussian, and the rows."""
        variables, found, options = self._variables(given, as_numbers=True)
        frame = self._frame(variables, options)
        return frame, blocks.of_table(found, frame.columns) if isinstance(found, Table) else found

    def _variables(self, given: Input, *, as_numbers: bool) -> tuple[list[Any], Rows | Table, Mapping[str, str]]:
        """The variables of the columns, the rows or the table, and the options of the columns."""
        options = self._options(())
        if isinstance(self.distributions, str):
            variables, found = given.variables({}, MOST_STATES, as_numbers=as_numbers)
            options = self._options(variables)
            if not distribution_names(options).keys() & {v.name for v in variables if isinstance(v, NumericVariable)}:
                return variables, found, options
        self._require_columns(options, given.names)
        return *given.variables(options, MOST_STATES, as_numbers=as_numbers), options

    def _options(self, variables: Iterable[Any]) -> Mapping[str, str]:
        """The given distribution of each column; one name is that of all numeric columns."""
        return every_column(self.distributions, variables)

    def _require_columns(self, options: Mapping[str, str], names: Iterable[str]) -> None:
        for what, given in (("distributions", options), ("prior", self.prior)):
            require_columns(what, given, list(names))

    def _frame(
        self, variables: list[Any], options: Mapping[str, str], choices: Mapping[str, Choice] | None = None
    ) -> NaiveBayesModel:
        names = [v.name for v in variables]
        self._require_columns(options, names)
        kinds = distribution_names(options) | {name: c.distribution for name, c in (choices or {}).items()}
        columns = [column_of(v, kinds.get(v.name), self.prior) for v in variables]
        target = DiscreteVariable("class" if "class" not in names else "class_label", tuple(self.classes_.tolist()))
        return framed(target, columns, self.class_prior, self.estimate)

    def _source_cases(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[NaiveBayesModel, SourceCases]:
        """A model with the columns of a source, and the cases of the source."""
        source = labeled_source(X, y, self._options(()), sample_weight)
        options = self._options([v for v in source.schema if v.name != y])
        if isinstance(self.distributions, str) and options:
            source = labeled_source(X, y, options, sample_weight)
        if self.unlabeled == "error" and source.missing()[y]:
            raise MissingValuesError(f"some rows have no {y!r}", hint='leave these rows out: unlabeled="drop"')
        self._note_columns(source.schema.names, y)
        self.classes_ = classes_of(source.schema[y]) if classes is None else np.unique(np.asarray(classes))
        choices = choices_in(source, y, options_of(options), len(self.classes_)) if classes is None else {}
        variables = [choices[v.name].variable if v.name in choices else v for v in source.schema if v.name != y]
        frame = self._frame(variables, options, choices)
        schema = Schema([DiscreteVariable(y, frame.classes), *variables])
        return frame, SourceCases(source.with_schema(schema), frame.columns, y)

    # -- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row, the first in sorted order when tied."""
        best = self._answer(X, "predict_codes")
        return self.classes_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(label | row), a column for each of `classes_`; missing cells are marginalized out."""
        return self._answer(X, "predict_proba")

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(label, row)."""
        return self._answer(X, "log_joint")

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(label | row), exact also where the probability is too small for a float."""
        joint = self._answer(X, "log_joint")
        top = joint.max(axis=1, keepdims=True)
        return joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))

    def explain(self, X: Any, *, of: Any = None, against: Any = None) -> CellContributions:
        """Return how much each cell supports a label, against another or all others, in log odds that add up."""
        check_is_fitted(self)
        return self.model_.explain(self._input(self._read_rows(X, reset=False)).data, of=of, against=against)

    def calibration(self, X: Any, y: Any, *, n_bins: int = 10, sample_weight: Any = None) -> Calibration:
        """Return how reliable the probabilities are on rows with labels, which should not be those of training."""
        proba = self.predict_proba(X)
        codes = label_codes(column_or_1d(y), self.classes_)
        from bayeslearn.evaluation import Calibration  # noqa: PLC0415 - fits do without it

        return Calibration.of(proba, codes, sample_weight=sample_weight, n_bins=n_bins)

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        given = self._input(rows)
        return finite(given, lambda: super(NaiveBayesClassifier, self)._ask(
            question, given.rows(self.model_.columns), *arguments
        ))  # fmt: skip

    def _columns_in(self) -> Schema:
        return Schema(c.variable for c in self.model_.columns)

    def _source_of(self, rows: Any, target: str | None = None, sample_weight: Any = None) -> Any:
        """Data as a source whose states that the model does not know have the code behind the last."""
        if not self.model_.columns and target is None:
            return as_source(rows)
        variables = [] if target is None else [DiscreteVariable(target, self.model_.classes)]
        schema = Schema(blocks.with_other(v) for v in [*variables, *self._columns_in()])
        return as_source(rows, schema=schema, handle_unknown="last", sample_weight=sample_weight)

    # -- data in

    def _cases(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Input, NDArray[Any], Any]:
        """Checked columns, labels and weights; a table and a file determine the kinds of their columns."""
        if isinstance(X, Table | str | os.PathLike):
            X, y, sample_weight = read_table(super()._marked(X, reset=reset), y, sample_weight)
        rows, y, w = self._read_cases(X, y, sample_weight, reset=reset)
        return self._input(rows, marked=not has_named_columns(X)), y, w

    def _input(self, rows: Any, *, marked: bool = False) -> Input:
        names = self._array_names(rows.shape[1], reset=False) if isinstance(rows, np.ndarray) else ()
        return Input.of(rows, names, marked=marked)

    def _marked(self, X: Any, *, reset: bool, names: Iterable[str] | None = None) -> Any:
        return (
            X if isinstance(X, Table) else super()._marked(X, reset=reset, names=names)
        )  # its missing cells are known


def read_table(X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, Any, Any]:
    """The table of a file, and the labels and the weights if these are names of columns of it."""
    column = sample_weight if isinstance(sample_weight, str) else None
    table = as_table(X, discrete=[y] if isinstance(y, str) else [], allow_constant=True, sample_weight=column)
    sample_weight = sample_weight if column is None else table.sample_weight
    return (table.drop([y]), table.column(y), sample_weight) if isinstance(y, str) else (table, y, sample_weight)


def require_column(y: Any) -> None:
    """The labels of a source are a column of it."""
    if not isinstance(y, str):
        raise ParameterError(
            f"the labels of a source are a column of it, got {type(y).__name__}",
            hint='name the column: fit(source, "y")',
        )


def labeled_source(X: Any, y: Any, distributions: Any, sample_weight: Any) -> Any:
    """A source that has the column of labels."""
    require_column(y)
    source = read_columns(X, distributions, also_discrete=[y], sample_weight=sample_weight, max_states=MOST_STATES)
    if y not in source.schema:
        raise UnknownColumnError(f"there is no column {y!r}", hint=f"the columns are {listed(source.schema.names)}")
    return source


def classes_of(target: Any) -> NDArray[Any]:
    """The states of a column in the order of classes."""
    return distinct_labels(np.array([*target.states, None], dtype=object))
