"""Naive Bayes from sources: files, relations and batches give the model of the same rows in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from bayeslearn import as_table, scan
from bayeslearn.errors import DataError, ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.naive_bayes import (
    AODEClassifier,
    NaiveBayesClassifier,
    NaiveBayesModel,
    calibrate,
    cross_validate,
    fit_naive_bayes,
)
from bayeslearn.naive_bayes.tabular.label_statistics import Hard, Hidden
from bayeslearn.naive_bayes.tabular.row_blocks import Collect

if TYPE_CHECKING:
    from pathlib import Path

N = 240


def made(*, unlabeled: float = 0.0, seed: int = 0) -> dict[str, list[Any]]:
    """Rows with words, numbers, counts, holes and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    x = np.round(rng.normal(2.0 * y, 1.0), 3)
    sky = rng.choice(["sun", "rain", "snow"], N)
    sky[y == 1] = np.where(rng.random((y == 1).sum()) < 0.7, "sun", sky[y == 1])
    rows: dict[str, Any] = {
        "x": [None if hole else v for v, hole in zip(x.tolist(), rng.random(N) < 0.1, strict=True)],
        "sky": [None if hole else v for v, hole in zip(sky.tolist(), rng.random(N) < 0.1, strict=True)],
        "calls": rng.poisson(1 + 3 * y).tolist(),
        "same": [7.5] * N,
        "w": rng.integers(1, 4, N).tolist(),
    }
    gone = rng.random(N) < unlabeled
    return rows | {"y": [None if hide else ("no", "yes")[k] for k, hide in zip(y, gone, strict=True)]}


def written(rows: dict[str, list[Any]], folder: Path, kind: str = "parquet") -> str:
    """The rows in three files of several row groups, of which each has its own order of words."""
    for i, (a, b) in enumerate([(0, 100), (100, 110), (110, N)]):
        part = pa.table({name: column[a:b] for name, column in rows.items()})
        if kind == "parquet":
            words = part["sky"].dictionary_encode()
            part = part.set_column(part.column_names.index("sky"), "sky", words)
            parquet.write_table(part, folder / f"part-{i}.parquet", row_group_size=37)
        else:
            csv.write_csv(part, folder / f"part-{i}.csv")
    return str(folder / f"part-*.{kind}")


def batches(rows: dict[str, list[Any]], n: int = 33) -> list[dict[str, list[Any]]]:
    """The rows in short batches."""
    return [{name: column[a : a + n] for name, column in rows.items()} for a in range(0, N, n)]


def same(one: NaiveBayesModel, two: NaiveBayesModel) -> bool:
    """Whether both rest on the same numbers, and say the same."""
    return one.isclose(two, rtol=1e-10, atol=1e-10) and one.classes == two.classes


FAMILIES = {"calls": "poisson"}
CASES: dict[str, dict[str, Any]] = {
    "labeled": {},
    "gaussian": {"distributions": FAMILIES | {"x": "gaussian"}},
    "kernel density": {"distributions": FAMILIES | {"x": "kernel_density"}},
    "weights": {"sample_weight": "w"},
    "evidence": {"prior": "evidence", "sample_weight": "w"},
    "em": {"unlabeled": "em"},
    "drop": {"unlabeled": "drop"},
}


@pytest.mark.parametrize("case", CASES)
def test_a_source_gives_the_model_of_memory(case: str, tmp_path: Path) -> None:
    options = CASES[case]
    rows = made(unlabeled=0.3 if "unlabeled" in options else 0.0)
    if "sample_weight" not in options:
        del rows["w"]
    options = {"distributions": FAMILIES} | options
    wanted = fit_naive_bayes(rows, "y", **options)
    for data in (written(rows, tmp_path), scan(batches(rows))):
        found = fit_naive_bayes(data, "y", **options)
        assert same(found, wanted), data
        assert found.predict_proba(data) == pytest.approx(wanted.predict_proba(rows), rel=1e-10)


def test_numbers_are_cut_at_the_same_places(tmp_path: Path) -> None:
    rows = made(seed=3)
    wanted = fit_naive_bayes(rows, "y", distributions={"x": "binned:4"}, columns=["x", "sky"])
    found = fit_naive_bayes(written(rows, tmp_path, "csv"), "y", distributions={"x": "binned:4"}, columns=["x", "sky"])
    assert same(found, wanted)


def test_a_model_goes_on_with_a_source() -> None:
    rows, more = made(), made(unlabeled=0.2, seed=1) | {"sky": ["hail"] * N}
    model = fit_naive_bayes(rows, "y", distributions=FAMILIES)
    assert same(model.update(scan(batches(more), allow_constant=True)), model.update(more))
    assert same(fit_naive_bayes(scan(batches(rows)), like=model), model)


def test_what_travels_can_be_sent() -> None:
    rows = made(unlabeled=0.3)
    model = fit_naive_bayes(rows, "y", unlabeled="drop")
    table = as_table(rows, allow_constant=True)
    for collect in (Hard(model), Hidden(model, model.statistics).expected_statistics):
        sent = cloudpickle.loads(cloudpickle.dumps(Collect(model.columns, "y", collect)))
        assert sent(table) is not None


def test_shares_need_the_rows_in_memory() -> None:
    with pytest.raises(ParameterError, match="soft labels of each row need the rows in memory"):
        fit_naive_bayes(scan(batches(made())), "class", shares={"a": [1.0] * N})


def test_weights_of_a_source_are_a_column() -> None:
    with pytest.raises(ParameterError, match="weights of a source are a column"):
        fit_naive_bayes(scan(batches(made())), "y", sample_weight=[1.0] * N)


### the classifier


@pytest.mark.parametrize("unlabeled", [0.0, 0.3])
def test_the_classifier_fits_patterns_lists_folders_and_sources(unlabeled: float, tmp_path: Path) -> None:
    rows = made(unlabeled=unlabeled)
    wanted = NaiveBayesClassifier().fit(as_table(rows, allow_constant=True), "y")
    pattern = written(rows, tmp_path)
    paths = sorted(str(path) for path in tmp_path.iterdir())
    for data in (pattern, paths, tmp_path, scan(pattern, allow_constant=True)):
        found = NaiveBayesClassifier().fit(data, "y")
        assert same(found.model_, wanted.model_)
        assert found.classes_.tolist() == wanted.classes_.tolist() == ["no", "yes"]
        assert found.n_iter_ == wanted.n_iter_
        assert found.feature_names_in_.tolist() == ["x", "sky", "calls", "same", "w"]
        assert (found.predict(data) == wanted.predict(as_table(rows, allow_constant=True))).all()


def test_the_classifier_weighs_scores_and_learns_more(tmp_path: Path) -> None:
    rows = made()
    pattern, w = written(rows, tmp_path), np.array(rows["w"], dtype=float)
    frame = as_table({name: column for name, column in rows.items() if name not in {"w", "y"}}, allow_constant=True)
    wanted = NaiveBayesClassifier(distributions=FAMILIES).fit(frame, rows["y"], sample_weight=w)
    found = NaiveBayesClassifier(distributions=FAMILIES).fit(pattern, "y", sample_weight="w")
    assert same(found.model_, wanted.model_)
    right = float(wanted.score(frame, rows["y"], sample_weight=w))
    assert found.score(pattern, "y", sample_weight="w") == pytest.approx(right, rel=1e-12)
    found.partial_fit(pattern, "y", sample_weight="w")
    assert same(found.model_, wanted.model_ * 2)
    first = NaiveBayesClassifier(distributions=FAMILIES).partial_fit(pattern, "y", sample_weight="w")
    assert same(first.model_, wanted.model_)


def test_labels_of_a_source_are_a_column() -> None:
    source = scan(batches(made()), allow_constant=True)
    with pytest.raises(ParameterError, match="labels of a source are a column of it, got list"):
        NaiveBayesClassifier().fit(source, ["no"] * N)
    with pytest.raises(UnknownColumnError, match="z"):
        NaiveBayesClassifier().fit(source, "z")
    model = NaiveBayesClassifier().fit(source, "y")
    nobody = scan(batches(made() | {"y": [None] * N}), states={"y": model.classes_.tolist()})
    with pytest.raises(DataError, match="no row that counts has a known class"):
        model.score(nobody, "y")
    odd = scan(batches(made() | {"y": ["maybe"] * N}), allow_constant=True)
    with pytest.raises(UnknownStateError, match="labels 'maybe' are not among the classes"):
        model.partial_fit(odd, "y")


def test_calibration_by_two_passes() -> None:
    """Columns that are copies of each other count as one, about as they do in memory."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    x = rng.normal(y, 1.0)
    rows: dict[str, Any] = {"a": x, "b": x, "c": x, "y": np.where(y > 0, "yes", "no")}
    parts = [{name: column[a : a + 250] for name, column in rows.items()} for a in range(0, 3000, 250)]
    source = scan(parts)
    wanted = NaiveBayesClassifier(calibrate=True, random_state=0).fit(as_table(rows), "y").model_
    found = NaiveBayesClassifier(calibrate=True, random_state=0).fit(source, "y").model_
    assert same(found, wanted)
    assert found.column_exponents == pytest.approx(wanted.column_exponents, abs=0.03)
    model = fit_naive_bayes(source, "y")
    assert calibrate(model, source).column_exponents == pytest.approx(wanted.column_exponents, abs=0.03)
    one, two = cross_validate(model, source, cv=5), cross_validate(model, as_table(rows), cv=5)
    assert one.accuracy == pytest.approx(two.accuracy, abs=0.01)
    assert one.log_loss == pytest.approx(two.log_loss, abs=0.02)
    assert cross_validate(model, source, cv=5).log_loss == one.log_loss


### averaged one-dependence


def test_pairs_are_counted_in_sources(tmp_path: Path) -> None:
    rows = made()
    frame = as_table({name: column for name, column in rows.items() if name in {"x", "sky", "calls"}})
    data = {name: column for name, column in rows.items() if name != "same"}
    wanted = AODEClassifier(n_bins=3).fit(frame, rows["y"], sample_weight=np.array(rows["w"], float))
    pattern = written(data, tmp_path)
    found = AODEClassifier(n_bins=3).fit(pattern, "y", sample_weight="w")
    assert found.predict_proba(pattern) == pytest.approx(wanted.predict_proba(frame), rel=1e-10)
    assert (found.model_.counts.n == wanted.model_.counts.n).all()
    with pytest.raises(DataError, match="some rows of the source have none"):
        AODEClassifier().fit(scan(batches(data | {"y": [None, "a", "b"] * (N // 3)})), "y")
