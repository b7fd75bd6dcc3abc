"""What is learned out of memory is asked out of memory: answers about a source are those about its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeslearn import as_table, fit_naive_bayes, scan
from bayeslearn.mixture import fit_mixture
from bayeslearn.naive_bayes import fit_text
from bayeslearn.network import fit_parameters
from bayeslearn.sources.file_source import FileSource

N = 120


def made() -> dict[str, list[Any]]:
    """Rows of words, numbers and texts, some of them missing."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, N)
    b, x = (a + (rng.random(N) < 0.2)) % 2, rng.normal(3 * a, 1)
    texts = [" ".join(rng.choice(["aa", "bb", "cc", "dd"][k : k + 3], 4)) for k in a.tolist()]
    rows = {"a": np.where(a, "y", "n").tolist(), "b": np.where(b, "p", "q").tolist(), "x": x.tolist(), "text": texts}
    rows["b"][5] = rows["x"][7] = None
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The rows in three files."""
    place, rows = tmp_path_factory.mktemp("asked"), made()
    for i in range(3):
        part = {name: cells[40 * i : 40 * (i + 1)] for name, cells in rows.items()}
        pq.write_table(pa.table(part), place / f"{i}.parquet", row_group_size=15)
    return str(place)


@pytest.fixture(autouse=True)
def no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may read a source into memory."""

    def refuse(self: Any) -> Any:
        raise AssertionError("read into memory")

    monkeypatch.setattr(FileSource, "table", refuse)


def test_a_network(folder: str) -> None:
    table, source = as_table(made(), columns=["a", "b"]), scan(f"{folder}/*.parquet", columns=["a", "b"])
    network = fit_parameters("[a][b|a]", source, prior="laplace")
    assert network.predict(source, "a").tolist() == network.predict(table, "a").tolist()
    assert network.log_likelihood(source) == pytest.approx(network.log_likelihood(table), rel=1e-12)
    assert network.score(source).log_likelihood == pytest.approx(network.score(table).log_likelihood, rel=1e-12)
    assert as_table([row for part in source.map(network.impute).batches() for row in part.rows()]) == as_table(
        list(network.impute(table).rows())
    )


def test_naive_bayes(folder: str) -> None:
    columns = ["a", "b", "x"]
    table, source = as_table(made(), columns=columns), scan(f"{folder}/*.parquet", columns=columns)
    model = fit_naive_bayes(source, "a")
    assert model.predict_proba(source) == pytest.approx(model.predict_proba(table), rel=1e-12)
    parts = list(source.map(model.predict).batches())
    assert len(parts) > 1
    assert np.concatenate(parts).tolist() == model.predict(table).tolist()


def test_a_mixture(folder: str) -> None:
    columns = ["a", "b", "x"]
    table, source = as_table(made(), columns=columns), scan(f"{folder}/*.parquet", columns=columns)
    model = fit_mixture(source, 2, random_state=0)
    shares = np.concatenate(list(source.map(model.predict_proba).batches()))
    assert shares == pytest.approx(model.predict_proba(table), rel=1e-12)
    assert source.map(model.log_likelihood).fold(np.sum) == pytest.approx(model.log_likelihood(table).sum(), rel=1e-12)


def test_texts(folder: str) -> None:
    rows, source = made(), scan(f"{folder}/*.parquet", columns=["a"])
    documents = source.documents("text", "a")
    model = fit_text(documents)
    assert model.predict(documents) == model.predict(rows["text"])
    assert model.predict_proba(documents) == pytest.approx(model.predict_proba(rows["text"]), rel=1e-12)
    parts = documents.map(lambda batch: model.predict(batch.texts)).batches()
    assert [label for part in parts for label in part] == model.predict(rows["text"])
