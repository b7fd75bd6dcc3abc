"""Contests: the same folds for all, the same answer however the table is sorted, and learners that fail alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bayeslearn import NeighborsClassifier, as_table
from bayeslearn.errors import BayeslearnError, DataError, EmptyTableError, MissingValuesError, ParameterError
from bayeslearn.model_comparison import Learner, ModelComparison, compare_models, default_learners

RNG = np.random.default_rng(0)
N = 60
HEIGHT = RNG.normal(size=N).round(3)
HUE = RNG.choice(["red", "green", "blue"], N)
KIND = np.where((HEIGHT + (HUE == "red") + 0.3 * RNG.normal(size=N)) > 0.3, "yes", "no")
ROWS = {
    "height": [None if i % 9 == 4 else float(x) for i, x in enumerate(HEIGHT)],
    "hue": ["?" if i % 11 == 3 else str(h) for i, h in enumerate(HUE)],
    "kind": [str(k) for k in KIND],
}
COST = {"height": HEIGHT, "hue": HUE, "cost": (2 * HEIGHT + (HUE == "red") + 0.1 * RNG.normal(size=N)).round(6)}
QUICK = ["k-nn", "naive-bayes"]


@pytest.fixture(autouse=True)
def few_queries(monkeypatch):
    monkeypatch.setattr("bayeslearn.model_comparison.compare.MIN_QUERIES", 1)  # enough where nothing is timed


def shuffled(rows, order, names):
    return {name: [rows[name][i] for i in order] for name in names}


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was shown."""

    seen: list = []  # noqa: RUF012 - shared by clones on purpose

    def __init__(self, name="spy"):
        self.name = name

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.seen.append((self.name, "fit", X.copy()))
        return self

    def predict(self, X):
        Spy.seen.append((self.name, "ask", X.copy()))
        return np.zeros(len(X), int)


class Broken(BaseEstimator):
    def __init__(self, how="fit"):
        self.how = how

    def fit(self, X, y):
        if self.how == "fit":
            raise RuntimeError("out of luck\nand more")
        return self

    def predict(self, X):
        warnings.warn("a doubt", UserWarning, stacklevel=2)
        return np.full(len(X), {"class": 7.0, "nan": np.nan, "fine": 0.0}[self.how])


### the same folds


def test_everyone_sees_the_same_folds_and_no_row_that_it_is_asked_about():
    Spy.seen.clear()
    table = {"x": np.arange(25.0) + 0.5, "y": ["a", "b", "b", "a", "b"] * 5}
    found = compare_models(table, "y", learners={"one": Spy("one"), "two": Spy("two")}, cv=4)
    one, two = ([(what, X) for who, what, X in Spy.seen if who == name] for name in ("one", "two"))
    assert len(one) == len(two) == 2 * 5  # a fold to warm, and four
    for (a, x), (b, z) in zip(one, two, strict=True):
        assert a == b
        assert np.array_equal(x, z)
    asked = [X[:, 0] for what, X in one if what == "ask"][1:]
    learned = [X[:, 0] for what, X in one if what == "fit"][1:]
    assert sorted(np.concatenate(asked)) == table["x"].tolist()
    for new, old in zip(asked, learned, strict=True):
        assert sorted([*new, *old]) == table["x"].tolist()
    for fold, new in enumerate(asked):
        assert sorted(np.flatnonzero(found.fold_ids == fold) + 0.5) == sorted(new)


def test_an_oracle_is_never_wrong_and_the_best():
    table = {**ROWS, "answer": [float(k == "yes") for k in ROWS["kind"]]}
    found = compare_models(table, "kind", learners={"oracle": DecisionTreeClassifier(), "k-nn": "k-nn"}, cv=5)
    assert found.best.name == "oracle"
    assert (found.best.error, found.best.standard_error, found.best.verdict) == (0, 0, "best")
    assert not found.best.losses.any()
    cost = {**COST, "answer": COST["cost"]}
    numbers = compare_models(cost, "cost", learners={"oracle": LinearRegression(), "k-nn": "k-nn"}, cv=5)
    assert numbers.best.name == "oracle"
    assert numbers.best.error == pytest.approx(0, abs=1e-12)
    assert numbers["k-nn"].verdict == "worse"


def test_folds_show_the_classes_as_the_table_does():
    found = compare_models(ROWS, "kind", learners=["naive-bayes"], cv=4)
    for label in ("yes", "no"):
        counts = np.bincount(found.fold_ids[np.array(ROWS["kind"]) == label], minlength=4)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(found.fold_ids, minlength=4)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows_and_columns_changes_nothing(seed):
    order = np.random.default_rng(seed).permutation(N)
    rows = {**ROWS, "age": np.arange(N) ** 2 / 3}  # no two rows alike: these could change places
    one = compare_models(rows, "kind", learners=QUICK, cv=4)
    other = compare_models(shuffled(rows, order, ["kind", "age", "hue", "height"]), "kind", learners=QUICK, cv=4)
    assert np.array_equal(one.fold_ids[order], other.fold_ids)
    for name in (*QUICK, "baseline"):
        assert np.array_equal(one[name].losses[order], other[name].losses)
        assert one[name].log_loss == other[name].log_loss


def test_a_seed_decides():
    trees = {"trees": RandomForestRegressor(5)}
    one, same, other = (compare_models(COST, "cost", learners=trees, cv=3, random_state=rng) for rng in (3, 3, 4))
    assert np.array_equal(one.fold_ids, same.fold_ids)
    assert not np.array_equal(one.fold_ids, other.fold_ids)
    assert one.best.error == same.best.error != other.best.error


### errors


def test_errors_are_those_of_the_rows_held_out():
    found = compare_models(COST, "cost", learners=["least-squares"], cv=5)
    X = np.column_stack([HEIGHT, HUE == "green", HUE == "red", np.ones(N)])
    y, said = COST["cost"], np.empty(N)
    for fold in range(5):
        new = found.fold_ids == fold
        said[new] = X[new] @ np.linalg.lstsq(X[~new], y[~new])[0]
    losses = (said - y) ** 2
    assert found["least-squares"].losses == pytest.approx(losses, rel=1e-8)
    assert found["least-squares"].error == pytest.approx(losses.mean() ** 0.5, rel=1e-10)
    spread = losses.std(ddof=1) / N**0.5
    assert found["least-squares"].standard_error == pytest.approx(spread / (2 * losses.mean() ** 0.5), rel=1e-9)


def test_the_baseline_says_the_mean_or_the_class_seen_most():
    found = compare_models(COST, "cost", learners=["least-squares"], cv=3)
    y = COST["cost"]
    mean = np.array([y[found.fold_ids != fold].mean() for fold in found.fold_ids])
    assert found["baseline"].losses == pytest.approx((y - mean) ** 2, rel=1e-12)
    assert found["baseline"].verdict == "worse"
    classes = compare_models(ROWS, "kind", learners=["k-nn"], cv=3)
    most = max(ROWS["kind"].count("yes"), ROWS["kind"].count("no"))
    assert classes["baseline"].error == pytest.approx(1 - most / N, rel=1e-12)
    assert 0.5 < classes["baseline"].log_loss < 0.8


def test_weights_count_rows_and_none_is_as_good_as_absent():
    weights = np.r_[np.zeros(10), np.full(50, 2.0)]
    part = {name: column[10:] for name, column in ROWS.items()}
    found = compare_models(ROWS, "kind", learners=["naive-bayes"], cv=4, sample_weight=weights)
    assert (found.n_rows, found.n_dropped_rows) == (50, 10)
    assert (found.fold_ids[:10] == -1).all()
    assert np.isnan(found.best.losses[:10]).all()
    by_name = compare_models({**ROWS, "cases": weights}, "kind", learners=["naive-bayes"], cv=4, sample_weight="cases")
    assert by_name["naive-bayes"].error == found["naive-bayes"].error
    assert (
        compare_models({**part, "one": np.arange(50.0)}, "kind", learners=["k-nn"], drop_columns=["one"]).n_columns == 2
    )
    refused = compare_models(ROWS, "kind", learners=[KNeighborsClassifier()], cv=4, sample_weight=weights)
    assert refused.failures[0].reason == "it takes no sample weights"


def test_rows_without_a_target_take_no_part():
    table = {**ROWS, "kind": [None, "?", *ROWS["kind"][2:]]}
    found = compare_models(table, "kind", learners=["naive-bayes"], cv=4)
    assert (found.n_rows, found.n_dropped_rows) == (N - 2, 2)
    assert found.fold_ids[:2].tolist() == [-1, -1]
    assert "Dropped rows  2 without a target or weight" in str(found)


### learners


@pytest.mark.parametrize(("table", "target", "task"), [(ROWS, "kind", "classification"), (COST, "cost", "regression")])
def test_all_of_ours_take_part(table, target, task):
    found = compare_models(table, target, cv=2)
    assert {line.name for line in found.results} == {*default_learners(task), "baseline"}
    assert found.failures == ()
    assert found.task == task
    assert {line.name for line in found.results if line.is_lazy} == {"k-nn", "k-nn-loo", "local"} & set(
        default_learners(task)
    )
    assert all((line.log_loss is not None) == (task == "classification") for line in found.results)
    assert found["baseline"].verdict == "worse"


def test_learners_of_others_are_named_given_or_imported():
    found = compare_models(
        ROWS, "kind", cv=2,
        learners=["logistic", NeighborsClassifier(3), "sklearn.neighbors.KNeighborsClassifier", "GaussianNB"],
    )  # fmt: skip
    assert {line.name: line.is_lazy for line in found.results} == {
        "logistic": False, "NeighborsClassifier": True, "KNeighborsClassifier": True, "GaussianNB": False,
        "baseline": False,
    }  # fmt: skip
    named = compare_models(ROWS, "kind", learners={"trees": RandomForestClassifier(5), "near": "k-nn"}, cv=2)
    assert {line.name for line in named.results} == {"trees", "near", "baseline"}
    assert compare_models(ROWS, "kind", learners="k-nn", cv=2).best.name in {"k-nn", "baseline"}
    own = Learner("tree", DecisionTreeRegressor(), is_lazy=False, form="points")
    assert compare_models(COST, "cost", learners=[own], cv=2)["tree"].error < 1


def test_a_learner_that_fails_is_told_and_the_others_go_on():
    found = compare_models(
        ROWS, "kind", cv=3, learners={"bad": Broken(), "odd": Broken("class"), "k-nn": "k-nn", "ok": Broken("fine")}
    )
    assert {f.name: f.reason for f in found.failures} == {
        "bad": "RuntimeError: out of luck",
        "odd": "it predicts 7.0, which is no class",
    }
    assert {line.name for line in found.results} == {"k-nn", "ok", "baseline"}
    assert found["ok"].warnings == ("a doubt",)
    assert "bad failed: RuntimeError: out of luck" in str(found)
    assert "ok: warning: a doubt" in str(found)
    with pytest.raises(KeyError, match="bad failed: RuntimeError"):
        found["bad"]
    with pytest.raises(KeyError, match="'nobody' is not among the learners"):
        found["nobody"]
    numbers = compare_models(COST, "cost", cv=2, learners={"nan": Broken("nan")})
    assert numbers.failures[0].reason == "it predicts nan, which is no finite number"


def test_a_class_that_training_does_not_show_counts_as_wrong():
    table = {"x": [1.0, 2, 3, 4, 5, 6, 7], "y": ["a", "a", "a", "b", "b", "b", "c"]}
    found = compare_models(table, "y", learners=["k-nn", "naive-bayes"], cv=3)
    assert found["naive-bayes"].losses[6] == 1
    assert found["naive-bayes"].log_loss > -np.log(1e-12) / 7  # said to be impossible
    assert found.failures[0].reason == "`n_neighbors` is 5, but there are only 4 training rows"


### time


def test_time_and_wishes_end_it():
    late = compare_models(ROWS, "kind", learners=QUICK, cv=3, time_limit=1e-9)
    assert [f.reason for f in late.failures] == ["more than 1e-09 s for 0 of 3 folds"] * 2
    steps = []

    def stop(step):
        steps.append(step)
        if step.fraction > 0.3:
            raise StopIteration

    found = compare_models(ROWS, "kind", learners=QUICK, cv=3, progress=stop)
    assert [f.reason for f in found.failures] == [
        "the comparison was ended after 2 of its 3 folds",
        "the comparison was ended before it",
    ]
    assert [line.name for line in found.results] == ["baseline"]
    assert [step.detail.fold for step in steps] == [0, 0, 1]
    shares = []
    compare_models(ROWS, "kind", learners=QUICK, cv=3, progress=lambda step: shares.append(step.fraction))
    assert shares == pytest.approx(np.arange(1, 9) / 8)


def test_few_rows_are_asked_over_and_over(monkeypatch):
    monkeypatch.setattr("bayeslearn.model_comparison.compare.MIN_QUERIES", 100)
    Spy.seen.clear()
    one, many = (
        compare_models(ROWS, "kind", learners=QUICK, cv=3, random_state=1),
        compare_models(ROWS, "kind", learners=Spy(), cv=3),
    )
    assert {len(X) for _, what, X in Spy.seen if what == "ask"} == {100}
    monkeypatch.setattr("bayeslearn.model_comparison.compare.MIN_QUERIES", 1)
    for name in QUICK:
        again = compare_models(ROWS, "kind", learners=QUICK, cv=3, random_state=1)
        assert one[name].error == again[name].error
    assert many["Spy"].log_loss is None


### as a value


def test_it_is_a_value_that_prints():
    found = compare_models(as_table(ROWS), "kind", learners=QUICK, cv=3)
    assert isinstance(found, ModelComparison)
    text = str(found)
    assert text.startswith(
        f"kind: {found.best.name} is best of 3 learners\n\nTarget  kind, classification by 2 columns\n"
    )
    assert "Error   Error rate, out of fold\n" in text
    assert "Learner      Kind   Train time  Query time" in text
    assert repr(found) == f"ModelComparison(kind: {found.best.name} is best of 3 learners)"
    assert f"Significantly worse than {found.best.name}: baseline." in text
    entry = found.to_dict()
    assert entry["learners"][0]["learner"] == found.best.name
    assert entry["learners"][-1]["verdict"] == "worse"
    assert entry["failures"] == {}


### bad input


@pytest.mark.parametrize(
    ("table", "how", "error", "match"),
    [
        (ROWS, {"target": "kindd"}, ParameterError, "there is no column 'kindd'"),
        (ROWS, {"target": "kind", "drop_columns": ["size"]}, ParameterError, "there is no column 'size'"),
        (ROWS, {"target": "kind", "drop_columns": "kind"}, ParameterError, "both the target and dropped"),
        (ROWS, {"target": "kind", "drop_columns": ["hue", "height"]}, EmptyTableError, "no column other than 'kind'"),
        (ROWS, {"target": "kind", "cv": 1}, ParameterError, "`cv` must be at least 2, got 1"),
        (ROWS, {"target": "kind", "cv": 61}, DataError, "60 rows with a known target cannot make 61 folds"),
        (ROWS, {"target": "kind", "task": "words"}, ParameterError, "unexpected value for `task`: 'words'"),
        (ROWS, {"target": "kind", "task": "regression"}, BayeslearnError, "kind"),
        (ROWS, {"target": "kind", "time_limit": 0}, ParameterError, "`time_limit` must be above 0, got 0"),
        (ROWS, {"target": "kind", "learners": []}, ParameterError, "there is no learner to compare"),
        (ROWS, {"target": "kind", "learners": ["local"]}, ParameterError, "no learner 'local' for classification"),
        (ROWS, {"target": "kind", "learners": ["a.b"]}, ParameterError, "there is no learner 'a.b': No module"),
        (ROWS, {"target": "kind", "learners": ["math.pi"]}, ParameterError, "math.pi"),
        (ROWS, {"target": "kind", "learners": [3]}, ParameterError, "an estimator with fit and predict, got 3"),
        (ROWS, {"target": "kind", "learners": ["k-nn", "k-nn"]}, ParameterError, "learners share a name: 'k-nn'"),
        (ROWS, {"target": "kind", "learners": {"baseline": "k-nn"}}, ParameterError, "share a name: 'baseline'"),
        ({"x": [1.5, 2.5], "y": ["a", "a"]}, {"target": "y"}, DataError, "'y' shows one class only, 'a'"),
        (
            {"x": [1.5, 2.5], "y": [None, None]},
            {"target": "y", "task": "regression"},
            DataError,
            "every cell of column 'y' is",
        ),
        (ROWS, {"target": "kind", "sample_weight": np.zeros(N)}, MissingValuesError, "no row that counts has a 'kind'"),
    ],
    ids=range(19),
)
def test_bad_input(table, how, error, match):
    target = how["target"]
    with pytest.raises(error, match=match):
        compare_models(table, target, **{name: value for name, value in how.items() if name != "target"})


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_learners_of_many_models_by_name(task):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    target = np.where(x > 0, "p", "q") if task == "classification" else 2 * x
    names = ["forest", "bayes-optimal"]
    found = compare_models({"x": x, "z": rng.normal(size=60), "y": target}, "y", learners=names, cv=2)
    assert found.failures == ()
    assert {line.name for line in found.results} == {*names, "baseline"}
