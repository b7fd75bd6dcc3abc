"""Learning verbs over many files: the same models as from one, and clear words where that cannot be."""

from __future__ import annotations

import json
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest

from bayeslearn import Schema
from bayeslearn.cli import progress
from bayeslearn.sources.file_source import ScanProgress
from tests.cli.asking import ask, fail, result, said, tell

N = 240


def rows():
    rng = np.random.default_rng(4)
    rain = rng.choice(["no", "yes"], N, p=[0.7, 0.3])
    wet = np.where(rng.random(N) < 0.85, rain, "no")
    hue = np.where(rng.random(N) < 0.7, np.where(wet == "yes", "gray", "blue"), "white")
    size = np.round(np.where(rain == "yes", 5.0, 1.0) + rng.normal(size=N), 4)
    text = [f"{a} {b} day {i % 7}" for i, (a, b) in enumerate(zip(rain, hue, strict=True))]
    return pd.DataFrame({"rain": rain, "wet": wet, "hue": hue, "size": size, "doors": rng.integers(2, 5, N), "t": text})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One file, and the same rows in two, of both formats; and once more with holes."""
    folder, whole = tmp_path_factory.mktemp("data"), rows()
    holes = whole.drop(columns=["t"]).astype({"doors": object})
    rng = np.random.default_rng(5)
    for name in holes.columns:
        holes.loc[rng.random(N) < 0.08, name] = None
    visits = pd.DataFrame({"id": [f"p{i // 12:02}" for i in range(N)], "size": whole["size"]})
    for name, frame in (("full", whole), ("holes", holes.astype({"doors": float})), ("visits", visits)):
        for part, chosen in (("all", frame), ("1", frame[:120]), ("2", frame[120:])):
            chosen.to_csv(folder / f"{name}-{part}.csv", index=False)
            chosen.to_parquet(folder / f"{name}-{part}.parquet", index=False, row_group_size=40)
    return folder


def close(a, b):
    """Whether two documents say the same, numbers to 1e-10."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-10, atol=1e-12))
    return a == b


FIT = ["fit", "parameters", "[rain][wet|rain][hue|wet]", "--extra-columns", "ignore"]
VERBS = {
    "fit": (FIT, "full"),
    "fit holes": ([*FIT, "--prior", "laplace"], "holes"),
    "learn": (["fit", "network", "--algorithm", "hill_climb"], "full"),
    "learn holes": (["fit", "network", "--algorithm", "hill_climb", "--test-size", "0"], "holes"),
    "naive": (
        ["fit", "naive-bayes", "--target", "rain", "--drop-columns", "t", "--distribution", "doors=poisson"],
        "full",
    ),
    "naive holes": (["fit", "naive-bayes", "--target", "rain"], "holes"),
    "text": (["fit", "text", "--text", "t", "--target", "wet"], "full"),
    "cluster": (
        ["fit", "mixture", "--n-components", "2", "--n-init", "2", "--max-iter", "20", "--tol", "1e-9"],
        "holes",
    ),
    "regress": (["fit", "regression", "--target", "size", "--drop-columns", "t"], "full"),
    "sequence": (["fit", "hmm", "--id", "id", "--n-states", "2", "--n-init", "2"], "visits"),
    "regress holes": (["fit", "regression", "--target", "size,doors", "--prior", "evidence"], "holes"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", VERBS)
@pytest.mark.filterwarnings("ignore:EM has not converged")
def test_many_files_give_the_model_of_one(place, tmp_path, name, ending):
    words, kind = VERBS[name]
    models = []
    for how, data in (("memory", f"{kind}-all.{ending}"), ("files", f"{kind}-[12].{ending}")):
        to = tmp_path / f"{how}.json"
        code, answer, sentence = tell(*words, str(place / data), "--engine", how, "-o", str(to), "--json")
        assert code == 0, sentence
        models.append(answer if words[0] == "text" else to.read_text())
    assert close(*map(json.loads, models))


def test_several_arguments_are_read_into_memory_where_asked(place, tmp_path):
    two = [str(place / f"full-{i}.csv") for i in (1, 2)]
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    ask(*FIT, str(place / "full-all.csv"), "-o", str(one))
    ask(*FIT, *two, "--engine", "memory", "-o", str(other))
    assert close(json.loads(one.read_text()), json.loads(other.read_text()))
    for words in (
        ["fit", "neighbors", "--target", "rain", "--n-neighbors", "3"],
        ["fit", "regression", "--target", "size", "--engine", "memory"],
    ):
        assert ask(*words, *two, "--drop-columns", "t") == ask(
            *words, str(place / "full-all.csv"), "--drop-columns", "t"
        )


def test_more_files_are_added_to_a_network(place, tmp_path):
    model, grown, back = (str(tmp_path / name) for name in ("m.json", "g.json", "b.json"))
    ask("fit", "parameters", "[rain][wet|rain]", str(place / "full-1.csv"), "--extra-columns", "ignore", "-o", model)
    both = [str(place / f"full-{i}.parquet") for i in (1, 2)]
    assert "rows        240 added" in ask("update", model, *both, "-o", grown)
    assert "120 after, 360 before" in ask("update", grown, *both, "--remove", "-o", back)


def test_many_files_are_scored_as_one(place, tmp_path):
    model = str(tmp_path / "m.json")
    ask(*FIT, str(place / "full-1.csv"), "-o", model)
    one, many = (
        result(ask("score", model, str(place / name), "--json")) for name in ("holes-all.csv", "holes-[12].csv")
    )
    assert one["impossible_rows"] == []
    assert close(one | {"impossible_rows": None}, many)
    assert (
        "writes a line for every row"
        in fail("score", model, str(place / "holes-[12].csv"), "--output", str(tmp_path / "rows.csv"))[1]
    )


def test_what_needs_all_rows_is_told_of(place, tmp_path):
    to = str(tmp_path / "m.json")
    assert "no hold-out comparison: it needs all rows" in ask("fit", "network", str(place / "full-[12].csv"), "-o", to)
    text = ask("fit", "mixture", str(place / "full-[12].csv"), "--n-components", "2", "--drop-columns", "t", "-o", to)
    assert "Uncertain rows are reported only for rows in memory." in text
    text = ask("fit", "regression", str(place / "full-[12].csv"), "--target", "size", "--drop-columns", "t")
    assert "the error on held-out rows was not computed" in text


### scan


def test_scan_tells_what_columns_hold(place):
    text = ask("scan", str(place / "holes-[12].csv"))
    assert "files    2," in text
    assert "rows     240" in text
    assert "3 states: blue, gray, white" in text
    whole = pd.read_csv(place / "holes-all.csv")
    found = result(ask("scan", str(place / "holes-1.parquet"), str(place / "holes-2.parquet"), "--json"))
    by_name = {column["name"]: column for column in found["columns"]}
    assert {name: column["missing"] for name, column in by_name.items()} == whole.isna().sum().to_dict()
    assert by_name["size"]["kind"] == "numeric"
    assert (by_name["size"]["low"], by_name["size"]["high"]) == (whole["size"].min(), whole["size"].max())
    assert by_name["wet"]["states"] == ["no", "yes"]
    assert found["rows_per_second"] > 0


def test_scan_names_columns_of_no_use(tmp_path):
    (tmp_path / "a.csv").write_text("one,id,x\n" + "".join(f"k,n{i},{'ab'[i % 2]}\n" for i in range(300)))
    text = ask("scan", str(tmp_path))
    assert "always k" in text
    assert "column 'id' has 300 different states" in text
    assert "left out" in text


def test_rows_are_encoded_and_read_again(place, tmp_path):
    kept = tmp_path / "kept"
    tell("scan", str(place / "holes-[12].csv"), "--encode", str(kept))
    for data, model in ((kept, "a.json"), (place / "holes-all.csv", "b.json")):
        tell(*FIT, str(data), "--prior", "laplace", "-o", str(tmp_path / model))
    assert close(*(json.loads((tmp_path / model).read_text()) for model in ("a.json", "b.json")))


def test_a_schema_is_kept_and_given(place, tmp_path):
    to, model = tmp_path / "s.json", str(tmp_path / "m.json")
    assert said("scan", str(place / "full-[12].csv"), "-o", str(to)).startswith(f"wrote {to}: 6 columns")
    parts = json.loads(to.read_text())
    assert Schema.from_dict(parts)["hue"].states == ("blue", "gray", "white")
    assert "Rows            240" in ask(*FIT, str(place / "full-[12].csv"), "--schema", str(to), "-o", model)
    code, sentence = fail(*FIT, str(place / "full-[12].csv"), "--schema", str(place / "full-1.csv"), "-o", model)
    assert code == 1
    assert "this is not JSON" in sentence


def test_tables_of_a_database(place, tmp_path):
    base, model = str(tmp_path / "base.duckdb"), tmp_path / "m.json"
    with duckdb.connect(base) as connection:
        connection.execute(f"create table days as from '{place / 'full-all.parquet'}'")
    assert "rows     240" in ask("scan", base, "--table", "days")
    assert "Rows            240" in ask(*FIT, base, "--table", "select * from days", "-o", str(model))
    assert "which table" in fail("scan", base)[1]


### faults


def test_a_broken_file_is_named_or_skipped(place, tmp_path):
    good = tmp_path / "1.parquet"
    good.write_bytes((place / "full-1.parquet").read_bytes())
    (tmp_path / "2.parquet").write_bytes(good.read_bytes()[:-300])
    words = [*FIT, str(tmp_path / "*.parquet"), "-o", str(tmp_path / "m.json")]
    code, sentence = fail(*words)
    assert code == 1
    assert "2.parquet" in sentence
    code, answer, sentence = tell(*words, "--on-error", "skip")
    assert code == 0
    assert "Rows            120" in answer
    assert sentence.startswith(f"warning: skipped, for '{tmp_path / '2.parquet'}' is")
    assert "skipped" in ask("scan", str(tmp_path / "*.parquet"), "--on-error", "skip")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([*FIT, "--engine", "cloud"], "--engine"),
        ([*FIT, "--engine", "files", "--scheduler", "tcp://127.0.0.1:1"], "--scheduler is of dask"),
        ([*FIT, "--memory-limit", "64MB"], "add --engine files"),
        ([*FIT, "--engine", "files", "--memory-limit", "much"], "--memory-limit is a size"),
        ([*FIT, "--engine", "files", "--table", "t"], "--table is of a DuckDB database"),
        ([*FIT, "--resume"], "--checkpoint"),
        (["fit", "mixture", "--engine", "files", "--plot", "p.png"], "--plot draws the rows"),
        (["fit", "mixture", "--checkpoint", "c.json"], "--checkpoint needs a number of components"),
        (
            ["fit", "regression", "--target", "size", "--method", "local", "--engine", "files"],
            "needs all rows in memory",
        ),
    ],
    ids=lambda given: " ".join(given[-2:]) if isinstance(given, list) else "why",
)
def test_what_cannot_be_is_refused(place, tmp_path, words, why):
    code, sentence = fail(*words, str(place / "full-1.csv"), "-o", str(tmp_path / "m.json"))
    assert code == 2
    assert why in sentence


def test_verbs_that_keep_their_rows_refuse_other_engines(place):
    code, sentence = fail("fit", "neighbors", str(place / "full-[12].csv"), "--target", "rain", "--engine", "files")
    assert code == 2
    assert "fitting nearest neighbors needs all rows in memory" in sentence
    assert "there is no such file" in fail("predict", "m.json", str(place / "*.csv"))[1]


def test_a_package_that_is_not_there_is_named(place, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, sentence = fail(*FIT, str(place / "full-1.csv"), "--engine", "dask", "-o", str(tmp_path / "m.json"))
    assert code == 1
    assert "pip install 'bayeslearn[dask]'" in sentence


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_a_check_of_many_rows_says_that_it_asked_some(place, tmp_path, monkeypatch, small):
    monkeypatch.setattr("bayeslearn.naive_bayes.tabular.out_of_fold.MOST_NUMBERS", 100)
    monkeypatch.setattr("bayeslearn.naive_bayes.tabular.out_of_fold.MOST_SUMS", 100)
    monkeypatch.setattr("bayeslearn.naive_bayes.tabular.row_blocks.SMALL", small)
    words = ["fit", "naive-bayes", str(place / "full-[12].csv"), "--target", "rain", "--drop-columns", "t"]
    # 240 rows, 100 numbers: 2 classes of each of 4 columns, or of all columns together
    assert "cross-validation predicts one row in 20" in ask(*words, "-o", str(tmp_path / "m.json"))
    if not small:
        answer = ask(*words, "--no-calibrate", "-o", str(tmp_path / "m.json"))
        assert "cross-validation predicts one row in 5" in answer


### on the way


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "words", [[*FIT, "--prior", "laplace"], ["fit", "mixture", "--n-components", "2", "--n-init", "1"]]
)
def test_a_climb_goes_on_from_its_checkpoint(place, tmp_path, words):
    there = [*words, str(place / "holes-[12].csv"), "--tol", "1e-12", "--checkpoint", str(tmp_path / "c.json")]
    once, twice = tmp_path / "once.json", tmp_path / "twice.json"
    ask(*there, "--max-iter", "8", "-o", str(once))
    ask(*there, "--max-iter", "5", "--checkpoint-every", "2", "-o", str(twice))
    ask(*there, "--max-iter", "3", "--resume", "-o", str(twice))
    assert close(json.loads(once.read_text()), json.loads(twice.read_text()))


def test_passes_are_counted_and_told():
    told = []
    passes = progress.Passes(tell=lambda share, words: told.append((share, words)))
    for begun in (1.0, 2.0):
        for rows in (500, 1000, 2000):
            passes(ScanProgress(rows, of=2000, seconds=rows / 4000, shards=rows // 1000, of_shards=2, begun=begun))
    assert told[0] == (0.25, "pass 1: 500 rows, 4,000 a second")
    assert told[-1] == (1.0, "pass 2: 2,000 rows, 4,000 a second")
    assert (passes.number, passes.seconds) == (2, 0.5)
    passes(ScanProgress(rows=0, of=None, seconds=1.0, shards=4, of_shards=4, begun=3.0))
    assert told[-1] == (1.0, "pass 3: 4 of 4 files")


@pytest.mark.slow
def test_a_cluster_is_started_and_ended(place, tmp_path):
    pytest.importorskip("distributed")
    models = []
    for engine in ("files", "dask"):
        to = tmp_path / f"{engine}.json"
        ask(*FIT, str(place / "full-[12].parquet"), "--engine", engine, "-o", str(to))
        models.append(json.loads(to.read_text()))
    assert close(*models)


### what columns are understood as


@pytest.fixture
def rentals(tmp_path):
    rows = [
        f'{7919 * i % 4001},{i * i + 17},"${1000 + 7.31 * i:,.2f}",{50 + i % 50} %,{1 + i % 28}/{1 + i % 12}/2019,'
        f"{'ab'[i % 2]},{i % 7 * 0.5}"
        for i in range(300)
    ]
    path = tmp_path / "rentals.csv"
    path.write_text("id,guest_id,price,rate,seen,kind,score\n" + "\n".join(rows) + "\n")
    return str(path)


def test_scan_shows_what_was_understood(rentals):
    code, report, _ = tell("scan", rentals)
    assert code == 0
    shown = {line.split()[0]: line for line in report.splitlines() if line.strip()}
    assert shown["column"].endswith("read as")
    assert shown["price"].endswith("money")
    assert shown["rate"].endswith("percent")
    assert shown["seen"].split()[1] == "date"
    assert shown["seen"].endswith("month, weekday of d/m/y")
    assert shown["id"].endswith("identifier, not learned from")
    columns = {c["name"]: c for c in result(tell("scan", rentals, "--json")[1])["columns"]}
    assert columns["price"]["read_as"] == "money"
    assert columns["seen"]["parts"] == ["seen.month", "seen.weekday"]
    assert columns["kind"]["read_as"] is None


@pytest.mark.parametrize("engine", ["memory", "files"])
@pytest.mark.parametrize(
    "words",
    [
        ["fit", "network", "--max-parents", "1"], ["fit", "naive-bayes", "--target", "kind"],
        ["fit", "mixture", "--n-components", "2"],
        ["fit", "regression", "--target", "price"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_identifiers_are_not_learned_from(rentals, words, engine, tmp_path):
    code, report, sentence = tell(*words, rentals, "--engine", engine, "-o", str(tmp_path / "m.json"), "--json")
    assert code == 0, sentence
    assert {"id", "guest_id"} <= set(json.loads(report)["data"]["dropped_columns"])


def test_a_model_reads_new_rows_as_it_read_the_old_ones(rentals, tmp_path):
    model = str(tmp_path / "m.json")
    assert tell("fit", "network", rentals, "--algorithm", "naive_bayes", "--target", "kind", "-o", model)[0] == 0
    new = 'price,rate,seen,score\n"$1,100.50",60 %,3/4/2019,0.5\n$999.00,99 %,14/5/2019,1.0\n'
    (tmp_path / "new.csv").write_text(new)
    code, answer, sentence = tell("predict", model, str(tmp_path / "new.csv"), "--target", "kind")
    assert code == 0, sentence
    assert len(answer.splitlines()) == 3
