"""How every verb reads a table: markers of missing values, unseen states, columns, near names, hints."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayeslearn import as_table, fit_network, fit_parameters, read_network, scan
from bayeslearn.errors import BayeslearnWarning, UnknownStateError, command_line, near, option
from bayeslearn.tables.conversion import raw_table
from tests.cli.asking import ask, fail, result, tell
from tests.properties import trials

N = 120


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A table with markers of its own, the same without them, an encoded folder, and models."""
    folder = tmp_path_factory.mktemp("reading")
    rng = np.random.default_rng(3)
    sky = rng.choice(["sun", "rain", "fog"], N)
    play = np.where(rng.random(N) < 0.8, np.where(sky == "sun", "yes", "no"), "yes")
    hours = [f"{x:.3f}" for x in rng.normal(3, 1, N) + (sky == "sun")]
    seats = [str(n) for n in rng.integers(20, 450, N)]
    odd = rng.random((N, 3)) < 0.1
    rows = [
        ["-" if a else s, p, "n.k." if b else h, "999" if c else n, str(i // 12)]
        for i, (s, p, h, n, (a, b, c)) in enumerate(zip(sky, play, hours, seats, odd, strict=True))
    ]
    clean = [["" if cell in {"-", "n.k.", "999"} else cell for cell in row] for row in rows]
    for name, lines in (("marked", rows), ("clean", clean)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["sky", "play", "hours", "seats", "team"], *lines])
    assert tell("scan", str(folder / "clean.csv"), "--encode", str(folder / "encoded"))[0] == 0
    return folder


MARKERS = ("--na-values", "-,hours=n.k.", "--na-values", "seats=999")

#: Verbs that learn, and what they print.
LEARNERS = {
    "scan": ["scan", "{data}"],
    "learn": ["fit", "network", "{data}", "-o", "{to}"],
    "fit": ["fit", "parameters", "[sky][play|sky]", "{data}", "--extra-columns", "ignore", "-o", "{to}"],
    "naive": ["fit", "naive-bayes", "{data}", "--target", "play", "-o", "{to}"],
    "cluster": ["fit", "mixture", "{data}", "--n-components", "2", "-o", "{to}"],
    "regress": ["fit", "regression", "{data}", "--target", "hours", "-o", "{to}"],
    "neighbors": ["fit", "neighbors", "{data}", "--target", "play", "--n-neighbors", "3", "-o", "{to}"],
    "sequence": ["fit", "hmm", "{data}", "--n-states", "2", "--columns", "sky", "--id", "team", "-o", "{to}"],
    "contest": ["compare-models", "{data}", "--target", "play", "--learners", "naive-bayes", "--cv", "2"],
    "online": ["online", "{data}", "--target", "play"],
    "concept": [
        "concept",
        "{data}",
        "--target",
        "play",
        "--columns",
        "sky,team",
        "--drop-missing",
        "--drop-conflicts",
    ],
}


def run(name, data, to, *more):
    words = [word.format(data=data, to=to) for word in LEARNERS[name]]
    code, answer, sentence = tell(*words, *more)
    assert code == 0, sentence
    return answer


def timeless(answer):
    """An answer without what differs from run to run, without its layout, and without the columns that are dropped."""
    return [
        line.split()
        for line in re.sub(r"\nDropped columns\n(.+\n)+", "", answer).splitlines()
        if not line.startswith(("files", "time", "naive-bayes", "baseline", "Seconds"))
    ]


@pytest.mark.parametrize("name", LEARNERS)
def test_markers_are_read_as_empty_cells_by_every_verb(place, tmp_path, name):
    marked = run(name, place / "marked.csv", tmp_path / "a.json", *MARKERS)
    clean = run(name, place / "clean.csv", tmp_path / "b.json")
    assert timeless(marked) == timeless(clean)
    if (tmp_path / "a.json").exists():
        a, b = (json.loads((tmp_path / f"{x}.json").read_text()) for x in "ab")
        assert a == b


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in {"scan", "online", "concept"}])
def test_an_encoded_folder_goes_through_every_verb(place, tmp_path, name):
    run(name, place / "encoded", tmp_path / "m.json")
    if name == "fit":
        words = [
            "fit",
            "parameters",
            "[sky][play|sky][hours][seats][team]",
            str(place / "encoded"),
            "-o",
            str(tmp_path / "n.json"),
        ]
        assert tell(*words)[0] == 0


@pytest.mark.parametrize("name", ["learn", "naive", "cluster", "scan", "online"])
def test_columns_are_chosen_and_dropped_by_every_verb(place, tmp_path, name):
    data = place / "clean.csv"
    dropped = run(name, data, tmp_path / "a.json", "--drop-columns", "team,seats", "--drop-columns", "hours")
    chosen = run(name, data, tmp_path / "b.json", "--columns", "sky,play")
    if name in {"scan", "online"}:
        assert [line for line in timeless(dropped) if "asked" not in line] == timeless(chosen)
    else:
        a, b = (json.loads((tmp_path / f"{x}.json").read_text()) for x in "ab")
        assert a == b
    code, sentence = fail(
        *(w.format(data=data, to=tmp_path / "c.json") for w in LEARNERS[name]), "--drop-columns", "Seats"
    )
    assert (code, sentence.split("\n\n")[1]) == (2, "hint: did you mean 'seats'?\n")


def test_a_column_with_a_comma_is_named_by_itself(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a,b",c,d\nx,p,1.5\ny,q,2.5\nx,q,3.5\n')
    answer = result(ask("scan", str(path), "--drop-columns", "a,b", "--drop-columns", "d", "--json"))
    assert [column["name"] for column in answer["columns"]] == ["c"]


### one file, read alike


cells = st.sampled_from(
    ["a", "b", "", "?", "NA", "N/A", "-", "unknown", "None", "1", "2.5", "999", "-1", " x ", "null"]
)


@pytest.mark.thorough
@pytest.mark.thorough
@settings(trials(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=3, max_size=30),
    extra=st.lists(st.sampled_from(["-", "unknown", "999", "y=999", "z=a"]), max_size=3, unique=True),
    keep=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:.*words among numbers")
def test_python_and_the_command_line_read_one_file_alike(tmp_path, rows, extra, keep):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y", "z"], *rows])
    missing: dict = {}
    for marker in extra:
        column, _, value = marker.rpartition("=")
        missing.setdefault(column or None, []).append(value)
    words = ["--na-values", ",".join(extra)] * bool(extra) + ["--no-default-na"] * (not keep)
    told: dict = {"na_values": missing, "keep_default_na": keep, "allow_constant": False}
    dropped_columns: dict = {}
    python = as_table(path, **told, dropped_columns=dropped_columns)
    answer = result(tell("scan", str(path), "--json", *words)[1])
    shown = {c["name"]: c for c in answer["columns"] if c["kind"] != "left out"}
    assert list(shown) == list(python.schema.names)
    assert {name: c["missing"] for name, c in shown.items()} == python.missing()
    for variable in python.schema.discrete:
        assert shown[variable.name]["states"] == list(variable.states)
    assert {c["name"] for c in answer["columns"] if c["kind"] == "left out"} == set(dropped_columns)
    source = scan([str(path)], **told, dropped_columns={})
    assert source.schema == python.schema
    assert source.missing() == python.missing()


### unseen states


@pytest.fixture
def asked(tmp_path):
    """A network over rain and wet, rows it knows, and rows with states that it does not know."""
    (tmp_path / "old.csv").write_text("rain,wet\n" + "yes,yes\nno,no\nno,yes\n" * 10)
    (tmp_path / "new.csv").write_text("rain,wet\nhail,yes\nno,soaked\nsnow,no\nyes,?\n")
    tell("fit", "parameters", "[rain][wet|rain]", str(tmp_path / "old.csv"), "-o", str(tmp_path / "net.json"))
    return tmp_path


ASKING = {
    "predict": ["predict", "{net}", "{new}", "--target", "wet"],
    "score": ["score", "{net}", "{new}"],
    "compare": ["compare-networks", "{net}", "{net}", "--data", "{new}"],
    "impute": ["impute", "{net}", "{new}"],
}


@pytest.mark.parametrize("name", ASKING)
def test_unseen_states_are_missing_where_a_model_is_asked(asked, name):
    words = [w.format(net=asked / "net.json", new=asked / "new.csv") for w in ASKING[name]]
    code, _, sentence = tell(*words)
    assert code == 0
    assert "3 values of 'rain' ('hail', 'snow'), 'wet' ('soaked') not among the states: treated as missing" in sentence
    assert "--handle-unknown error refuses them" in sentence
    code, sentence = fail(*words, "--handle-unknown", "error")
    assert code == 1
    assert "hint: treat it as missing with --handle-unknown missing\n" in sentence
    assert "handle_unknown=" not in sentence
    code, sentence = fail(*words, "--handle-unknown", "missig")
    assert code == 2
    assert "did you mean 'missing'?" in sentence
    assert "--handle-unknown add is for learning" in fail(*words, "--handle-unknown", "add")[1]


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_unseen_states_are_added_where_a_model_learns(asked, engine):
    net, new, to = (str(asked / name) for name in ("net.json", "new.csv", "grown.json"))
    for words in (["update", net, new, "-o", to], ["fit", "parameters", net, new, "-o", to]):
        code, _, sentence = tell(*words, "--engine", engine)
        assert code == 0, sentence
        assert "3 values of 'rain' ('hail', 'snow'), 'wet' ('soaked') not among the states: added to them" in sentence
        assert read_network(to).states("rain") == ("no", "yes", "hail", "snow")
        code, _, sentence = tell(*words, "--engine", engine, "--handle-unknown", "missing")
        assert (code, read_network(to).states("rain")) == (0, ("no", "yes"))
        assert fail(*words, "--engine", engine, "--handle-unknown", "error")[0] == 1


def test_python_takes_the_same_options(asked):
    net, new = read_network(asked / "net.json"), asked / "new.csv"
    with pytest.warns(BayeslearnWarning, match=r"3 values of 'rain' .*handle_unknown=\"error\" refuses them"):
        score = net.score(new)
    assert np.isfinite(score.per_row).all()
    with pytest.raises(UnknownStateError, match='handle_unknown="missing"'):
        net.score(new, handle_unknown="error")
    quiet = net.score(new, na_values={"rain": ["hail", "snow"], "wet": "soaked"})
    np.testing.assert_allclose(quiet.per_row, score.per_row, rtol=1e-12)
    rows = {"rain": [None, "no", None, "yes"]}
    assert net.predict(new, "wet", na_values=["hail", "snow", "soaked"]).tolist() == net.predict(rows, "wet").tolist()


def test_markers_are_imputed_and_unseen_states_stay(asked):
    net, data = str(asked / "net.json"), asked / "new.csv"
    data.write_text("rain,wet\nhail,-\n-,yes\n")
    code, answer, _ = tell("impute", net, str(data), "--na-values", "-")
    first, second = (line.split(",") for line in answer.splitlines()[1:])
    assert (code, first[0], second[1]) == (0, "hail", "yes")
    assert {first[1], second[0]} <= {"no", "yes"}


### suspects


def test_suspects_are_named_by_scan_and_learn(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{'unknown' if i % 10 == 0 else 'yn'[i % 2]},{999 if i % 20 == 0 else i},{i % 2 - 1}" for i in range(200)]
    path.write_text("late,seats,sign\n" + "\n".join(lines) + "\n")
    answer = ask("scan", str(path))
    assert "'unknown' in 10 % of 'late'" in answer
    assert "999 in 5 % of 'seats', far from the rest (1 to 199)" in answer
    assert "pass --na-values late=unknown,seats=999" in answer
    assert "'sign'" not in answer
    found = result(ask("scan", str(path), "--json"))["suspects"]
    assert found == [
        {"column": "late", "value": "unknown", "count": 20, "rows": 200},
        {"column": "seats", "value": 999, "count": 10, "rows": 200},
    ]
    [note] = fit_network(path).fit_info.notes
    assert "possible markers of missing values: 'unknown' in 10 % of 'late'; 999 in 5 % of 'seats'" in note
    assert "na_values={'late': ['unknown'], 'seats': [999]}" in note
    assert fit_network(path, na_values={"late": ["unknown"], "seats": [999]}).fit_info.notes == ()


### options and hints


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["scan", "x.csv", "--ignore", "a"], "--drop-columns"),
        (["scan", "x.csv", "--drop-column", "a"], "--drop-columns"),
        (["fit", "naive-bayes", "x.csv", "--na_values", "a"], "--na-values"),
        (["predict", "asia", "x.csv", "--missing", "a"], "--na-values"),
        (["fit", "network", "x.csv", "--random-state", "1"], "--seed"),
        (["score", "asia", "x.csv", "--unseen", "ignore"], "--handle-unknown"),
    ],
)
def test_an_unknown_option_names_the_right_one(words, meant):
    code, sentence = fail(*words)
    assert code == 2
    assert f"Did you mean {meant}" in " ".join(sentence.replace("│", " ").split())


def test_hints_speak_the_language_of_the_caller():
    assert option("handle_unknown", "missing") == 'handle_unknown="missing"'
    assert option("na_values", {"seats": [999]}) == "na_values={'seats': [999]}"
    with command_line():
        assert option("handle_unknown", "missing") == "--handle-unknown missing"
        assert option("na_values", {"seats": [999], "my column": ["a b"]}) == "--na-values 'seats=999,my column=a b'"
        assert option("drop_columns", ["a", "b"]) == "--drop-columns a,b"
        assert option("max_states") == "--max-states"
    assert option("max_states") == "`max_states=`"


def test_near_names():
    assert near(["Carrier"], ["carrier", "late"]) == ["carrier"]
    assert near(["carrie"], ["carrier", "late"]) == ["carrier"]
    assert near(["x"], ["carrier"]) == []


def test_data_with_their_options_go_where_a_frame_goes(place):
    raw = raw_table(place / "marked.csv", na_values={None: "-", "hours": "n.k.", "seats": 999}, drop_columns=["team"])
    clean = as_table(place / "clean.csv", drop_columns=["team"])
    assert as_table(raw).schema == clean.schema
    assert as_table(raw).missing() == clean.missing()
    assert list(raw) == ["sky", "play", "hours", "seats"]
    assert "120 rows × 4 columns" in repr(raw)
    structure = "[sky][play|sky]"
    models = [fit_parameters(structure, data)["play"].probabilities for data in (raw, clean)]
    np.testing.assert_array_equal(*models)
