"""Texts from sources: files, relations and batches give the model of the same documents in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from bayeslearn.errors import CapacityError, DataError, MissingValuesError, ParameterError, UnknownColumnError
from bayeslearn.naive_bayes import TextClassifier, fit_text
from bayeslearn.naive_bayes.text import (
    HashedVocabulary,
    TextModel,
    Tokenizer,
    out_of_core,
    scan_texts,
)
from bayeslearn.naive_bayes.text.out_of_core import CollectLabeled, FindWords

if TYPE_CHECKING:
    from pathlib import Path

N = 90


def made(*, unlabeled: float = 0.0) -> dict[str, list[Any]]:
    """Documents of two kinds, some of them empty, some without a label."""
    rng = np.random.default_rng(0)
    words = np.array([*"abcdefgh", "Große", "été", "x1"])
    kind = rng.integers(0, 2, N)
    share = np.array([np.r_[np.full(5, 3.0), np.ones(6)], np.r_[np.ones(6), np.full(5, 3.0)]])
    texts = [
        " ".join(rng.choice(words, rng.integers(0, 12), p=share[k] / share[k].sum()).tolist()) for k in kind.tolist()
    ]
    gone = rng.random(N) < unlabeled
    labels = [None if hide else ("ham", "spam")[k] for k, hide in zip(kind.tolist(), gone, strict=True)]
    return {"body": texts, "kind": labels, "n": rng.integers(1, 4, N).tolist()}


def written(rows: dict[str, list[Any]], folder: Path, kind: str = "parquet") -> str:
    """The documents in three files, one of which stores labels as a dictionary."""
    for i, (a, b) in enumerate([(0, 40), (40, 45), (45, N)]):
        part = pa.table({name: column[a:b] for name, column in rows.items()})
        if kind == "parquet":
            part = part.set_column(1, "kind", part["kind"].dictionary_encode()) if i == 1 else part
            parquet.write_table(part, folder / f"part-{i}.parquet", row_group_size=7)
        else:
            csv.write_csv(part, folder / f"part-{i}.csv")
    return str(folder / f"part-*.{kind}")


def batches(rows: dict[str, list[Any]], n: int = 13, *, weighed: bool = False) -> list[tuple[Any, ...]]:
    """The documents in short batches."""
    columns = [rows["body"], rows["kind"], *([rows["n"]] if weighed else [])]
    return [tuple(column[a : a + n] for column in columns) for a in range(0, N, n)]


def same(one: TextModel, two: TextModel) -> bool:
    """Whether both have the same words, in the same order, with the same numbers."""
    words = isinstance(one.vocabulary, HashedVocabulary) or one.vocabulary.words == two.vocabulary.words
    return words and one.classes == two.classes and one.statistics.isclose(two.statistics, rtol=1e-10)


SINGLE = Tokenizer(min_token_length=1)
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "bernoulli": {"likelihood": "bernoulli", "tokenizer": Tokenizer(min_token_length=1, ngram_range=(1, 2))},
    "chosen": {"min_count": 20, "drop_top_words": 1, "max_features": 6},
    "n_hash_features": {"vocabulary": HashedVocabulary(64)},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighed", [False, True])
def test_a_source_gives_the_model_of_memory(case: str, weighed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    rows, options = made(), {"tokenizer": SINGLE, **CASES[case]}
    wanted = fit_text(rows["body"], rows["kind"], sample_weight=rows["n"] if weighed else None, **options)
    column = "n" if weighed else None
    for kind in ("parquet", "csv"):
        found = fit_text(written(rows, tmp_path, kind), text="body", target="kind", sample_weight=column, **options)
        assert same(found, wanted)
    assert same(fit_text(scan_texts(batches(rows, weighed=weighed)), **options), wanted)


@pytest.mark.parametrize(("unlabeled", "likelihood"), [(1.0, "multinomial"), (0.25, "bernoulli"), (0.0, "multinomial")])
def test_em_by_passes(unlabeled: float, likelihood: Any, tmp_path: Path) -> None:
    rows = made(unlabeled=0.6)
    options: dict[str, Any] = {"tokenizer": SINGLE, "likelihood": likelihood, "max_features": 9}
    options["unlabeled_weight"] = unlabeled
    wanted = fit_text(rows["body"], rows["kind"], **options)
    assert_learned(fit_text(scan_texts(written(rows, tmp_path), "body", "kind"), **options), wanted)
    assert_learned(fit_text(scan_texts(lambda: iter(batches(rows))), **options), wanted)
    weighed = fit_text(rows["body"], rows["kind"], sample_weight=rows["n"], **options)
    assert_learned(fit_text(scan_texts(batches(rows, weighed=True)), **options), weighed)


def assert_learned(found: TextModel, wanted: TextModel) -> None:
    """Both came by the same way to the same model."""
    assert same(found, wanted)
    a, b = found.fit_info, wanted.fit_info
    assert (a.n_labeled, a.n_unlabeled, a.n_iter) == (b.n_labeled, b.n_unlabeled, b.n_iter)
    if a.history:
        assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-10)


def test_a_relation_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = made(unlabeled=0.2) | {"text": ["a b"] * N}
    asked = duckdb.sql(f"select * from read_parquet('{written(rows, tmp_path)}')")
    wanted = fit_text(rows["body"], rows["kind"], tokenizer=SINGLE)
    assert_learned(fit_text(scan_texts(asked, "body", "kind"), tokenizer=SINGLE), wanted)


@pytest.mark.parametrize("unlabeled", [0.0, 0.3])
def test_the_classifier(unlabeled: float, tmp_path: Path) -> None:
    rows = made(unlabeled=unlabeled)
    source = scan_texts(written(rows, tmp_path), "body", "kind")
    wanted = TextClassifier(min_token_length=1, min_count=5).fit(rows["body"], rows["kind"])
    found = TextClassifier(min_token_length=1, min_count=5).fit(source)
    assert same(found.model_, wanted.model_)
    assert found.statistics_.isclose(wanted.statistics_)
    if not unlabeled:
        again = TextClassifier(min_token_length=1).partial_fit(source).partial_fit(source)
        assert again.statistics_.isclose(wanted.statistics_ * 2)
    assert found.classes_.tolist() == ["ham", "spam"]
    assert found.predict_proba(source) == pytest.approx(wanted.predict_proba(rows["body"]), rel=1e-10)
    known = [i for i, label in enumerate(rows["kind"]) if label is not None]
    labels = [rows["kind"][i] for i in known]
    assert found.score(source) == pytest.approx(wanted.score([rows["body"][i] for i in known], labels), rel=1e-12)


def test_missing_cells_and_what_travels(tmp_path: Path) -> None:
    rows = {"text": ["a b", None, "b"], "label": ["x", "y", "?"]}
    parquet.write_table(pa.table(rows), tmp_path / "few.parquet")
    source = scan_texts(tmp_path / "few.parquet")
    learned = fit_text(source, tokenizer=SINGLE)
    assert (learned.fit_info.n_labeled, learned.fit_info.n_unlabeled) == (2, 1)
    for collect in (FindWords(SINGLE, None), CollectLabeled(SINGLE, None, None, {"present": True})):
        sent = cloudpickle.loads(cloudpickle.dumps(collect))
        assert sent(next(source.batches())).unlabeled == 1


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made(unlabeled=0.2)
    pattern = written(rows, tmp_path)
    with pytest.raises(UnknownColumnError, match="mail"):
        scan_texts(pattern, "mail")
    with pytest.raises(DataError, match="column 'n' holds int64, which is no text"):
        fit_text(pattern, text="n", target="kind", prior=1.0)
    with pytest.raises(MissingValuesError, match="documents have no label"):
        fit_text(pattern, text="body", target="kind", unlabeled="error")
    with pytest.raises(MissingValuesError, match="none of the 90 documents has a label"):
        fit_text(scan_texts(pattern, "body"))
    with pytest.raises(ParameterError, match="the labels of a source are a column"):
        fit_text(scan_texts(pattern, "body", "kind"), rows["kind"])
    with pytest.raises(ParameterError, match="no columns to name"):
        scan_texts(batches(rows), "body")
    with pytest.raises(ParameterError, match="gives its batches only once"):
        scan_texts(iter(batches(rows)))
    monkeypatch.setattr(out_of_core, "MOST_WORDS", 5)
    with pytest.raises(CapacityError, match="too many different words"):
        fit_text(scan_texts(pattern, "body", "kind"), tokenizer=SINGLE)
