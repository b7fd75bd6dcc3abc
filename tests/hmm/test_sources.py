"""Hidden Markov models learn from sources what they learn from the same sequences in memory."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bayeslearn import scan
from bayeslearn.errors import (
    ConvergenceWarning,
    DataError,
    InconsistentDataError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.hmm import HiddenMarkovModel, HMMEstimator, fit_hmm
from bayeslearn.hmm.emissions import SAMPLE
from bayeslearn.hmm.sequence_sources import Look, Reader, looked, opened
from bayeslearn.sources.shards import joined_shards

LENGTHS = (30, 7, 1, 52, 18, 3, 40, 9)
#: Files end after these rows, between two sequences; row groups of 11 rows cut them anywhere.
EDGES = (38, 111)


def drawn(lengths=LENGTHS, seed=0):
    """Sequences that change between two states, and what these show: a word, numbers, a count, some of it missing."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    state = np.cumsum(rng.random(n) < 0.15) % 2
    word = np.where(rng.random(n) < 0.8, np.array(["calm", "wild"])[state], "odd").astype(object)
    heat, depth = 1000 + rng.normal(4.0 * state, 1.0), rng.normal(-state, 0.5)
    known = np.where(rng.random(n) < 0.1, np.array(["low", "high"])[state], None)
    for column, hole in ((word, None), (heat, np.nan), (depth, np.nan)):
        column[rng.random(n) < 0.05] = hole
    names = np.repeat([f"p{i}" for i in range(len(lengths))], lengths)
    return {
        "who": names,
        "word": word,
        "heat": heat,
        "depth": depth,
        "calls": rng.poisson(1 + 7 * state),
        "told": known,
    }


def pieces(rows, edges):
    return [
        {name: column[a:b] for name, column in rows.items()} for a, b in zip((0, *edges), (*edges, None), strict=True)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for number, piece in enumerate(pieces(drawn(), EDGES)):
        table = pa.table({name: pa.array(column, from_pandas=True) for name, column in piece.items()})
        pa.parquet.write_table(table, folder / f"{number}.parquet", row_group_size=11)
        pa.csv.write_csv(table, folder / f"{number}.csv")
    return str(folder)


def in_shards(source):
    """The same files, every row group a shard of its own."""
    from dataclasses import replace

    shards = tuple(
        replace(shard, groups=(group,), rows=None, first=0) for shard in source.shards for group in shard.groups
    )
    return replace(source, shards=shards, batch_rows=5)


def same(found, told, rtol=1e-10):
    assert found.states == told.states
    assert found.statistics.isclose(told.statistics, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(found.transmat, told.transmat, rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("columns", "how"),
    [
        (["word"], {}),
        (["heat"], {"n_mixtures": 2}),
        (["heat", "depth"], {"emissions": "gaussian", "covariance_type": "full"}),
        (["heat", "depth"], {"known_states": "told"}),
        (["calls"], {"emissions": "poisson"}),
        (["calls"], {"emissions": "categorical", "prior": "laplace"}),
    ],
    ids=["words", "mixture", "full", "known", "counts", "symbols"],
)
def test_sequences_of_sources_are_those_of_rows(files, columns, how):
    how = {
        "columns": columns,
        "id": "who",
        "tol": 0.01,
        "emissions": "auto",
        **({} if "known_states" in how else {"n_states": 2}),
        **how,
    }
    told = fit_hmm(drawn(), **how)
    batches = scan(pieces(drawn(), (5, 20, 21, 100)), columns=["word", "heat", "depth", "calls", "told"])
    text = files + ("/*.parquet" if how["emissions"] == "categorical" else "/*.csv")  # numbers of a text file are words
    for source in (text, in_shards(scan(files + "/*.parquet")), batches):
        found = fit_hmm(source, **how)
        same(found, told)
        assert found.fit_info.log_likelihood == pytest.approx(told.fit_info.log_likelihood, rel=1e-10)
        gains = [[step.gain for step in model.fit_info.history[1:]] for model in (found, told)]
        np.testing.assert_allclose(*gains, atol=1e-7)


def test_sequences_are_never_cut(files):
    raw = opened(
        scan(files + "/*.parquet"),
        id="who",
        names=("heat",),
        known_states=None,
        kind="gaussian",
        lengths=None,
        sample_weight=None,
    )
    start = fit_hmm(drawn(), 2, columns=["heat"], id="who", max_iter=500)
    reader = Reader.of(raw.source, start.emissions, ("heat",), None, start.states)
    sent = cloudpickle.loads(cloudpickle.dumps(reader))
    whole = in_shards(raw.source).runs("who", sent, ("heat",))
    found = whole.fold(lambda some: list(zip(some.ids, some.lengths.tolist(), strict=True)))
    assert found == [(f"p{i}", n) for i, n in enumerate(LENGTHS)]
    assert [shard.rows for shard in joined_shards(raw.source.shards)] == [38, 73, 49]
    assert sum(len(some) for some in whole.batches()) == len(LENGTHS)


def test_learning_goes_on(files, tmp_path):
    path, how = tmp_path / "climb.json.gz", {"columns": ["heat", "depth"], "id": "who", "tol": 1e-3, "n_init": 1}
    source = scan(pieces(drawn(), (5, 100)))
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        fit_hmm(source, 3, checkpoint=path, checkpoint_every=5, max_iter=2, **how)
    whole_climb = fit_hmm(source, 3, checkpoint=tmp_path / "whole.json", **how)
    rest = fit_hmm(source, init=HiddenMarkovModel.load(path), **how)
    assert rest.fit_info.n_iter == whole_climb.fit_info.n_iter - 2
    np.testing.assert_allclose(rest.fit_info.log_likelihood, whole_climb.fit_info.log_likelihood, rtol=1e-12)
    same(HiddenMarkovModel.load(tmp_path / "whole.json"), whole_climb)
    told = whole_climb.update(drawn(seed=1), id="who")
    same(whole_climb.update(scan(pieces(drawn(seed=1), (50,))), id="who"), told)


def test_the_estimator_takes_sources(files):
    source = scan(files + "/*.parquet", columns=["calls"])
    found = HMMEstimator(2, emissions="poisson").fit(source, id="who")
    rows = drawn()
    told = HMMEstimator(2, emissions="poisson").fit(rows["calls"][:, None], lengths=LENGTHS)
    np.testing.assert_allclose(found.model_.emissions.rate, told.model_.emissions.rate, rtol=1e-9)
    frame = pytest.importorskip("pandas").DataFrame({"calls": rows["calls"]})
    path = told.model_.decode(rows["calls"], lengths=LENGTHS)
    np.testing.assert_array_equal(found.predict(frame, lengths=LENGTHS), path.codes)


def test_starts_of_many_rows_are_some_sequences():
    rng = np.random.default_rng(0)
    lengths = [SAMPLE + 50, *rng.integers(1, 900, 80)]
    rows = {"who": np.repeat(np.arange(81), lengths), "x": rng.normal(size=sum(lengths))}
    raw = opened(
        scan(pieces(rows, (40_000,))),
        id="who",
        names=None,
        known_states=None,
        kind="auto",
        lengths=None,
        sample_weight=None,
    )
    frame = fit_hmm({"x": rows["x"][:50]}, 2, max_iter=500).emissions
    look = raw.finished(frame, (0, 1)).look
    assert look.sample.lengths.sum() <= SAMPLE
    assert look.moments.mean[0] == pytest.approx(rows["x"].mean(), rel=1e-9)
    assert len(look.ids) == 81
    again = raw.finished(frame, (0, 1)).fold(looked)
    np.testing.assert_array_equal(again.sample.cells, look.sample.cells)
    assert isinstance(again, Look)


def test_what_a_source_cannot_do_is_told(files, tmp_path):
    source = scan(files + "/*.parquet")
    with pytest.raises(ParameterError, match="need a column of sequences"):
        fit_hmm(source, 2)
    with pytest.raises(ParameterError, match="have no weights"):
        fit_hmm(source, 2, id="who", sample_weight=np.ones(8))
    with pytest.raises(ParameterError, match="`known_states` of a source is the name"):
        fit_hmm(source, 2, id="who", columns=["heat"], known_states=[None] * 160)
    with pytest.raises(UnknownColumnError, match="whom"):
        fit_hmm(source, 2, id="whom", columns=["heat"])
    with pytest.raises(UnknownStateError, match="'told' has the states"):
        fit_hmm(source, ["low", "mid"], id="who", columns=["heat"], known_states="told")
    with pytest.raises(InconsistentDataError, match="sequence 'p0', 'p1', 'p2' is in two places"):
        fit_hmm(scan([*pieces(drawn(), (38,)), *pieces(drawn(), (38,))]), 2, id="who", columns=["heat"])
    twice = {"who": ["a", "a", "b", "a"], "x": [1.5, 2.5, 1.0, 2.0]}
    with pytest.raises(InconsistentDataError, match="sequence 'a' is in two places"):
        fit_hmm(scan([twice]), 2, id="who")
    table = pa.table({"who": ["a"] * 6 + [None] + ["b"], "x": [0.5] * 4 + [1.5] * 4})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="row 6 has no 'who'") as seen:
        fit_hmm(scan([str(tmp_path / "rows.parquet")]), 2, id="who", columns=["x"])
    assert "rows.parquet" in str(seen.value)
    model = fit_hmm(drawn(), 2, columns=["heat"], id="who", max_iter=500)
    with pytest.raises(ParameterError, match="answers for each row"):
        model.decode(source, id="who")
