"""What the classifier does with data that stay where they are: it learns and is judged batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, UnknownColumnError, listed
from bayeslearn.naive_bayes.judging import share
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.calibrating import best_sharpness
from bayeslearn.naive_bayes.tables.cases import Cases, SourceCases
from bayeslearn.naive_bayes.tables.inputs import Input, finite
from bayeslearn.naive_bayes.tables.labels import known_classes
from bayeslearn.naive_bayes.tables.learning import more_cases, read_columns
from bayeslearn.naive_bayes.tables.out_of_fold import labels_seen, out_of_fold, out_of_folds
from bayeslearn.naive_bayes.tables.tallying import added, labelled
from bayeslearn.sources import as_source
from bayeslearn.tables import Discrete, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.tables import Table

#: A column of a frame with more states than this is taken for a mistake.
MAX_STATES = 255


class TakesSources:
    """The part of the classifier that learns from sources."""

    model_: NaiveBayes
    classes_: NDArray[Any]
    _families: Any
    _frame: Any
    _climb: Any
    calibrate: bool
    families: Any
    random_state: Any

    def _fit_source(self, X: Any, y: Any, weights: Any) -> None:
        """Learn anew."""
        cases = self._source_cases(X, y, None, weights)
        frame = self.model_
        self.model_ = finite(Input(frame.names, None), lambda: labelled(frame, cases, **self._climb()))
        if self.calibrate:
            self._sharpen(cases)

    def _partial_fit_source(self, X: Any, y: Any, classes: Any, weights: Any) -> None:
        """Learn more."""
        require_column(y)
        if hasattr(self, "model_"):
            model, cases = more_cases(self.model_, X, y, weights)
        else:
            cases = self._source_cases(X, y, classes, weights)
            model = self.model_
        unknown = [label for label in model.classes if label not in self.classes_.tolist()]
        if unknown:
            raise ParameterError(
                f"labels {listed(unknown)} are not among the classes {listed(self.classes_.tolist())}",
                hint="tell all `classes` in the first call of partial_fit",
            )
        self.model_ = finite(Input(model.names, None), lambda: added(model, cases))

    def _sharpen(self, cases: Cases | SourceCases) -> None:
        folds = min(10, int(cases.fold(labels_seen)))
        if folds < 2 or len(self.classes_) < 2:
            return
        ask = out_of_fold if isinstance(cases, Cases) else out_of_folds
        rng = validation.generator(self.random_state)
        found = ask(self.model_, cases, folds=folds, rng=rng, apart=True)  # type: ignore[arg-type]
        self.model_ = replace(self.model_, sharpness=best_sharpness(found))

    def _source_cases(self, X: Any, y: Any, classes: Any, weights: Any) -> SourceCases:
        """The cases of a source; the model that waits for them has seen nothing."""
        told = {} if isinstance(self.families, str) else self.families
        source = labelled_source(X, y, told, weights)
        variables = [v for v in source.schema if v.name != y]
        self._families([v.name for v in variables])
        self.n_features_in_ = len(variables)
        self.feature_names_in_ = np.array([v.name for v in variables], dtype=object)
        self.classes_ = classes_of(source.schema[y]) if classes is None else np.unique(np.asarray(classes))
        self.model_ = self._frame(variables)
        schema = Schema([Discrete(y, self.model_.classes), *variables])
        return SourceCases(source.with_schema(schema), self.model_.columns, y)


def require_column(y: Any) -> None:
    """The labels of a source are a column of it."""
    if not isinstance(y, str):
        raise ParameterError(
            f"the labels of a source are a column of it, got {type(y).__name__}",
            hint='name the column: fit(source, "y")',
        )


def labelled_source(X: Any, y: Any, families: Any, weights: Any) -> Any:
    """A source that has the column of labels."""
    require_column(y)
    source = read_columns(X, families, also_discrete=[y], weights=weights, max_states=MAX_STATES)
    if y not in source.schema:
        raise UnknownColumnError(f"there is no column {y!r}", hint=f"the columns are {listed(source.schema.names)}")
    return source


def classes_of(target: Any) -> NDArray[Any]:
    """The states of a column in the order of classes."""
    return known_classes(np.array([*target.states, None], dtype=object))


def share_right(model: NaiveBayes, data: Any, target: str, weights: Any = None) -> float:
    """The share of rows with a label whose class is predicted."""
    variables = [Discrete(target, model.classes), *(c.variable for c in model.columns)]
    schema = Schema(blocks.with_other(v) for v in variables)
    return share(*as_source(data, schema=schema, unseen="last", weights=weights).fold(Right(model, target)))


@dataclass(frozen=True)
class Right:
    """Weighs the rows that are predicted right, and all."""

    model: NaiveBayes
    target: str

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """Both of one batch."""
        labels = table.code(self.target)
        w = (np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights)) * (labels >= 0)
        found = self.model.predict_codes(blocks.of_table(table, self.model.columns))
        return np.array([w @ (found == labels), w.sum()])
