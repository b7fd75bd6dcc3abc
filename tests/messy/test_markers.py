"""Markers of missing values in everything that reads: a marked cell is a missing one, in fitting and in asking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayeslearn as b
from bayeslearn.errors import ParameterError, UnknownColumnError
from bayeslearn.hmm import HMMEstimator
from bayeslearn.mixture import GaussianMixture, MixedTypeClusterer
from bayeslearn.naive_bayes import AODEClassifier, NaiveBayesClassifier
from bayeslearn.neighbors import NeighborsClassifier, NeighborsRegressor
from bayeslearn.network import BayesianNetworkClassifier
from bayeslearn.network.parameters.online_em import OnlineEM, fit_parameters_online
from bayeslearn.regression import (
    BayesianLinearRegressor,
    LocalRegressor,
    LogisticClassifier,
    RBFClassifier,
    RBFRegressor,
)

ROWS = 60
MARKERS = {None: ["-"], "seats": [999]}

CLASSIFIERS = [
    BayesianNetworkClassifier(),
    NaiveBayesClassifier(),
    AODEClassifier(),
    NeighborsClassifier(3),
    LogisticClassifier(),
    RBFClassifier(3, random_state=0),
]
REGRESSORS = [
    NeighborsRegressor(3),
    BayesianLinearRegressor(),
    RBFRegressor(3, random_state=0),
    LocalRegressor(n_neighbors=20),
]


def frames(*, words=True):
    """The same rows with NaN and None, and with markers in their place; and a class and a number of each."""
    rng = np.random.default_rng(0)
    carrier, seats = rng.choice(["AA", "UA", "DL"], ROWS), rng.integers(20, 400, ROWS).astype(float)
    label = np.where(seats + rng.normal(0, 80, ROWS) > 200, "late", "early")
    gone, unknown = rng.random(ROWS) < 0.2, rng.random(ROWS) < 0.2
    hours = rng.normal(5, 2, ROWS).round(2)
    plain = pd.DataFrame({"seats": np.where(gone, np.nan, seats), "hours": hours})
    marked = pd.DataFrame({"seats": np.where(gone, 999.0, seats), "hours": hours})
    if words:
        plain["carrier"], marked["carrier"] = np.where(unknown, None, carrier), np.where(unknown, "-", carrier)
    return plain, marked, label, seats / 100 + rng.normal(0, 1, ROWS)


def with_markers(estimator, markers=MARKERS):
    return type(estimator)(**{**estimator.get_params(), "na_values": markers})


def name_of(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_classifiers_of_frames(estimator):
    plain, marked, y, _ = frames()
    expected, found = estimator.fit(plain, y), with_markers(estimator).fit(marked, y)
    np.testing.assert_allclose(found.predict_proba(marked), expected.predict_proba(plain), rtol=1e-12)
    np.testing.assert_allclose(found.predict_proba(plain), expected.predict_proba(plain), rtol=1e-12)
    unmarked = with_markers(estimator, ()).fit(marked, y).predict_proba(marked)
    assert not np.allclose(unmarked, expected.predict_proba(plain), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
def test_regressors_of_frames(estimator):
    plain, marked, _, y = frames()
    expected, found = estimator.fit(plain, y), with_markers(estimator).fit(marked, y)
    np.testing.assert_allclose(found.predict(marked), expected.predict(plain), rtol=1e-12)
    assert not np.allclose(with_markers(estimator, ()).fit(marked, y).predict(marked), expected.predict(plain))


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS], ids=name_of)
@pytest.mark.parametrize("markers", [[999], {"x0": ["999"]}], ids=["all", "one"])
def test_arrays_of_numbers(estimator, markers):
    plain, marked, label, number = frames(words=False)
    y = label if estimator in CLASSIFIERS else number
    ask = "predict_proba" if estimator in CLASSIFIERS else "predict"
    expected = getattr(estimator.fit(plain.to_numpy(), y), ask)(plain.to_numpy())
    found = getattr(with_markers(estimator, markers).fit(marked.to_numpy(), y), ask)(marked.to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("estimator", CLASSIFIERS[:3], ids=name_of)
def test_arrays_of_whole_numbers(estimator):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 4, (ROWS, 2)), rng.choice(["a", "b"], ROWS)
    marked, plain = x.copy(), x.astype(object)
    gone = rng.random(x.shape) < 0.2
    marked[gone], plain[gone] = 9, None
    expected = estimator.fit(plain, y).predict_proba(plain)
    found = with_markers(estimator, [9]).fit(marked, y)
    np.testing.assert_allclose(found.predict_proba(marked), expected, rtol=1e-12)
    weights = np.where(np.arange(ROWS) % 3 == 0, 0.0, 1.0)
    expected = estimator.fit(plain, y, sample_weight=weights).predict_proba(plain)
    found = with_markers(estimator, [9]).fit(marked, y, sample_weight=weights)
    np.testing.assert_allclose(found.predict_proba(marked), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "files"),
    [(CLASSIFIERS[0], "*"), (CLASSIFIERS[0], "1"), (CLASSIFIERS[1], "*"), (CLASSIFIERS[1], "1"), (CLASSIFIERS[4], "1")],
)
def test_files(estimator, files, tmp_path):
    plain, marked, y, _ = frames()
    for name, rows in (("plain", plain), ("marked", marked)):
        rows.assign(late=y).to_csv(tmp_path / f"{name}-1.csv", index=False)
    paths = [str(tmp_path / f"{name}-{files}.csv") for name in ("plain", "marked")]
    markers = {**MARKERS, "late": ["unknown"]}
    expected, found = estimator.fit(paths[0], "late"), with_markers(estimator, markers).fit(paths[1], "late")
    marked.to_csv(tmp_path / "new.csv", index=False)
    plain.to_csv(tmp_path / "clean.csv", index=False)
    answers = found.predict_proba(str(tmp_path / "new.csv"))  # it has no column 'late'
    np.testing.assert_allclose(answers, expected.predict_proba(str(tmp_path / "clean.csv")), rtol=1e-12)


def test_classes_of_a_table():
    plain, marked, _, _ = frames()
    expected = MixedTypeClusterer(2, random_state=0).fit(plain)
    found = MixedTypeClusterer(2, random_state=0, na_values=MARKERS).fit(marked)
    np.testing.assert_allclose(found.predict_proba(marked), expected.predict_proba(plain), rtol=1e-12)


@pytest.mark.parametrize("word", [999.0, "-"])
def test_mixtures_of_gaussians(word, tmp_path):
    plain, _, _, _ = frames(words=False)
    marked = plain.astype(object).where(plain.notna(), word)
    expected = GaussianMixture(2, random_state=0).fit(plain)
    found = GaussianMixture(2, random_state=0, na_values=[word]).fit(marked)
    np.testing.assert_allclose(found.predict_proba(marked), expected.predict_proba(plain), rtol=1e-12)
    assert found.feature_names_in_.tolist() == ["seats", "hours"]
    marked.to_csv(tmp_path / "a.csv", index=False)
    found = GaussianMixture(2, random_state=0, na_values=[word]).fit(str(tmp_path / "a.csv"))
    np.testing.assert_allclose(found.predict_proba(str(tmp_path / "a.csv")), expected.predict_proba(plain), rtol=1e-6)


def test_hidden_markov_models():
    plain, marked, _, _ = frames(words=False)
    expected = HMMEstimator(2).fit(plain, lengths=[40, 20])
    found = HMMEstimator(2, na_values={"seats": [999]}).fit(marked, lengths=[40, 20])
    lengths = {"lengths": [40, 20]}
    np.testing.assert_allclose(
        found.predict_proba(marked, **lengths), expected.predict_proba(plain, **lengths), rtol=1e-12
    )


def test_hidden_markov_models_of_words():
    plain, marked, _, _ = frames()
    words = [plain[["carrier"]].to_numpy(), marked[["carrier"]].to_numpy()]
    expected, found = HMMEstimator(2).fit(words[0]), HMMEstimator(2, na_values=["-"]).fit(words[1])
    np.testing.assert_allclose(found.score(words[1]), expected.score(words[0]), rtol=1e-12)


def test_default_markers_may_be_values():
    X = pd.DataFrame({"country": ["NA", "DE", "NA", "DE"] * 6})
    y = ["yes", "no", "yes", "no"] * 6
    found = NaiveBayesClassifier(keep_default_na=False).fit(X, y)
    assert found.model_["country"].variable.states == ("DE", "NA")
    assert found.score(X, y) == 1


@pytest.mark.parametrize("estimator", CLASSIFIERS[:4], ids=name_of)
def test_markers_of_an_unknown_column_are_an_error(estimator):
    _, marked, y, _ = frames()
    with pytest.raises(UnknownColumnError, match="'seat'"):
        with_markers(estimator, {"seat": [999]}).fit(marked, y)


### online learners

STATES = {"rain": ["no", "yes"], "wet": ["no", "yes"]}


def test_online_tables():
    plain, marked = {"rain": ["no", None, "yes"], "wet": ["no", "yes", None]}, {"rain": ["no", "-", "yes"]}
    marked["wet"] = ["no", "yes", "n.a."]
    expected = OnlineEM("[rain][wet|rain]", states=STATES).update(plain)
    found = OnlineEM("[rain][wet|rain]", states=STATES, na_values={None: ["-"], "wet": ["n.a."]}).update(marked)
    np.testing.assert_allclose(found.network["wet"].counts.n, expected.network["wet"].counts.n, rtol=1e-12)
    with pytest.raises(ParameterError, match="`na_values` must be a list of markers"):
        OnlineEM("[rain]", states=STATES, na_values=True)


@pytest.mark.parametrize("several", [False, True])
def test_streams(several, tmp_path):
    for i in range(2):
        (tmp_path / f"plain{i}.csv").write_text("rain,wet\nno,no\n,yes\nyes,yes\nno,\n")
        (tmp_path / f"marked{i}.csv").write_text("rain,wet\nno,no\n-,yes\nyes,yes\nno,-\n")
    plain, marked = ([str(tmp_path / f"{name}{i}.csv") for i in range(2)] for name in ("plain", "marked"))
    settings = {} if several else {"states": STATES}
    batches = [plain, marked] if several else [[b.as_table(p) for p in plain], iter([pd.read_csv(p) for p in marked])]
    expected = fit_parameters_online("[rain][wet|rain]", batches[0], **settings)
    found = fit_parameters_online("[rain][wet|rain]", batches[1], na_values=["-"], **settings)
    np.testing.assert_allclose(found.network["wet"].counts.n, expected.network["wet"].counts.n, rtol=1e-12)
