"""Classifiers by name, untuned: ours, and those of scikit-learn with the usual encoding of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def ours() -> dict[str, Callable[[], Any]]:
    """Our estimators with the options that they have when none is given."""
    import bayeslearn as bl

    optional = {"forest": "BayesianForestClassifier", "bayes-optimal": "BayesOptimalClassifier"}
    found: dict[str, Callable[[], Any]] = {
        "naive-bayes": bl.NaiveBayesClassifier,
        "aode": bl.AODEClassifier,
        "tan": lambda: bl.BayesianNetworkClassifier("tan"),
        "logistic": bl.LogisticClassifier,
        "k-nn": bl.NeighborsClassifier,
        "k-nn auto": lambda: bl.NeighborsClassifier("auto", weights="inverse_square"),
    }
    for name, kind in optional.items():
        try:
            getattr(bl, kind)()
        except (AttributeError, TypeError):  # not there, or not without arguments
            continue
        found[name] = getattr(bl, kind)
    return found


def peers() -> dict[str, Callable[[], Any]]:
    """The classifiers of scikit-learn, in the form in which they take mixed columns and missing values."""
    return {
        "GaussianNB": gaussian_nb,
        "CategoricalNB": categorical_nb,
        "LogisticRegression": logistic,
        "KNeighbors": neighbors,
        "HistGradientBoosting": boosting,
    }


def slow() -> dict[str, Callable[[], Any]]:
    """Our estimators that take minutes on tables of many columns."""
    import bayeslearn as bl

    return {"rbf": bl.RBFClassifier}


### peers


def kinds(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The names of the columns of numbers, and of those of other values."""
    numeric = [name for name in frame.columns if frame[name].dtype.kind in "iuf"]
    return numeric, [name for name in frame.columns if name not in numeric]


class Encoded:
    """A classifier of scikit-learn behind the encoding of the columns of the frame that it is fitted to."""

    def __init__(self, encode: Callable[[pd.DataFrame], Any], make: Callable[[pd.DataFrame], Any]) -> None:
        self.encode, self.make = encode, make

    def fit(self, X: pd.DataFrame, y: Any) -> Encoded:
        from sklearn.pipeline import make_pipeline

        self.pipeline = make_pipeline(self.encode(X), self.make(X)).fit(X, y)
        self.classes_ = self.pipeline.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.pipeline.predict_proba(X)


def points(frame: pd.DataFrame) -> Any:
    """Numbers scaled, the mean where they are missing; indicators of the values of the other columns."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric, others = kinds(frame)
    scaled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((scaled, numeric), (one_hot, others))


def states(frame: pd.DataFrame) -> Any:
    """Codes from 0: five quantile bins of each column of numbers, the values of others; missing is a value."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OrdinalEncoder

    numeric, others = kinds(frame)
    bins = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        KBinsDiscretizer(5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"),
    )
    codes = make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1),
        FunctionTransformer(lambda codes: codes + 1),
    )
    return make_column_transformer((bins, numeric), (codes, others))


def categories(frame: pd.DataFrame) -> Any:
    """The frame, its columns of values as categories, missing values as they are."""
    from sklearn.preprocessing import FunctionTransformer

    _, others = kinds(frame)
    known = {name: sorted(frame[name].dropna().unique()) for name in others}

    def encode(part: Any) -> Any:
        import pandas as pd

        return part.assign(**{name: pd.Categorical(part[name], categories=known[name]) for name in others})

    return FunctionTransformer(encode)


def gaussian_nb() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return Encoded(points, lambda _: GaussianNB())


def categorical_nb() -> Any:
    from sklearn.naive_bayes import CategoricalNB

    def make(frame: pd.DataFrame) -> Any:
        numeric, others = kinds(frame)
        return CategoricalNB(min_categories=[5] * len(numeric) + [frame[name].nunique() + 1 for name in others])

    return Encoded(states, make)


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return Encoded(points, lambda _: LogisticRegression(max_iter=1000))


def neighbors() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return Encoded(points, lambda _: KNeighborsClassifier())


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return Encoded(
        categories, lambda _: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    )
