"""A table in memory, files, parts of it and an encoded folder are the same data for every verb that takes data.

`ONLY_IN_MEMORY` lists what an answer has for rows in memory only, `REFUSED` the kinds of data that a verb refuses by a
named error. Both are meant to become shorter.
"""

from __future__ import annotations

import shlex
from contextlib import chdir
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from bayeslearn.cli.app import app
from bayeslearn.errors import BayeslearnError
from tests.golden import jobs
from tests.golden.test_golden import assert_same

pytestmark = pytest.mark.thorough

#: Each kind of data as words of a command line.
KINDS = {
    "files": "{0}.csv --engine files",
    "parquet": "{0}.parquet",
    "parts": "'{0}-parts/*.csv'",
    "parts as files": "'{0}-parts/*.csv' --engine files",
    "encoded": "{0}-encoded",
}
#: The table that a verb reads, and its command line.
VERBS = {
    "fit network": ("words", "fit network DATA -o out.json --seed 1"),
    "fit parameters": (
        "words",
        "fit parameters '[color][kind][size|color:kind]' DATA --extra-columns ignore -o out.json",
    ),
    "fit parameters missing": (
        "table",
        "fit parameters '[color][class|color]' DATA --extra-columns ignore -o out.json",
    ),
    "score": ("words", "score MODELS/network.json DATA"),
    "predict": ("words", "predict MODELS/network.json DATA --target size -o out.csv"),
    "impute": ("words", "impute MODELS/network.json DATA -o out.csv"),
    "update": ("words", "update MODELS/network.json DATA -o out.json"),
    "compare-networks": ("words", "compare-networks MODELS/network.json MODELS/network-updated.json --data DATA"),
    "structure-posterior": ("words", "structure-posterior DATA --n-samples 20 --seed 1"),
    "fit mixture": ("table", "fit mixture DATA --n-components 2 -o out.json --seed 1"),
    "predict mixture": ("table", "predict MODELS/mixture.json DATA -o out.csv"),
    "fit regression": ("table", "fit regression DATA --target y -o out.json"),
    "fit regression logistic": ("table", "fit regression DATA --target class --method logistic -o out.json"),
    "fit regression rbf": ("table", "fit regression DATA --target y --method rbf -o out.json --seed 1"),
    "fit regression local": ("table", "fit regression DATA --target y --method local -o out.json"),
    "predict regression": ("table", "predict MODELS/linear.json DATA -o out.csv"),
    "fit neighbors": ("table", "fit neighbors DATA --target class"),
    "fit forest": ("table", "fit forest DATA --target class -o out.json --n-estimators 5 --seed 1"),
    "online": ("words", "online DATA --target size"),
    "fit naive-bayes": ("table", "fit naive-bayes DATA --target class -o out.json"),
    "predict naive-bayes": ("table", "predict MODELS/naive.json DATA -o out.csv"),
    "fit hmm": ("steps", "fit hmm DATA --n-states 2 --id run -o out.json --seed 1"),
    "fit hmm symbols": ("letters", "fit hmm DATA --n-states 2 --id run -o out.json --seed 1"),
    "predict hmm": ("steps", "predict MODELS/hmm-gaussian.json DATA --id run -o out.csv"),
    "score hmm": ("steps", "score MODELS/hmm-gaussian.json DATA --id run"),
    "fit text": ("texts", "fit text DATA --target folder -o out.model"),
    "evaluate text": ("texts", "evaluate text DATA --target folder --seed 1"),
    "scan": ("table", "scan DATA"),
}
ONLY_IN_MEMORY = {
    "fit network": {"holdout", "n_passes"},
    "fit parameters": {"n_passes"},
    "fit parameters missing": {"n_passes"},
    "score": {"impossible_rows"},
    "fit mixture": {"n_uncertain", "uncertain_rows", "notes"},
    "fit regression": {"errors", "error_kind", "notes"},
    "fit naive-bayes": {"cross_validation", "notes"},
    "scan": {"files", "bytes"},
}
NOT_IN_MEMORY = {"files", "parts", "parts as files", "encoded"}
#: `--engine files` is no option, or the rows of one file are taken and nothing else.
REFUSED = {
    "impute": NOT_IN_MEMORY,
    "fit regression logistic": {"files", "parts as files"},
    "fit regression rbf": {"files", "parts as files"},
    "fit regression local": {"files", "parts as files"},
    "fit neighbors": {"files", "parts as files"},
    "fit forest": {"files", "parts as files"},
    "online": NOT_IN_MEMORY,
    "fit text": {"encoded"},
    "evaluate text": NOT_IN_MEMORY,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with every table of the jobs in every kind."""
    place = tmp_path_factory.mktemp("kinds")
    jobs.write_data(place)
    with chdir(place):
        for name in ("words", "table", "steps", "letters", "texts"):
            pyarrow.parquet.write_table(pyarrow.csv.read_csv(f"{name}.csv"), f"{name}.parquet", row_group_size=77)
            write_parts(Path(f"{name}.csv").read_text(encoding="utf-8").splitlines(), Path(f"{name}-parts"))
            assert CliRunner().invoke(app, ["scan", f"{name}.csv", "--encode", f"{name}-encoded"]).exit_code == 0
    return place


def write_parts(lines, place):
    """Write two files, each with half of the rows."""
    place.mkdir()
    middle = len(lines) // 2
    for number, rows in enumerate((lines[1 : middle + 1], lines[middle + 1 :])):
        (place / f"{number}.csv").write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")


def answer(verb, data):
    Path("out.csv").unlink(missing_ok=True)
    found = jobs.run(VERBS[verb][1].replace("DATA", data))
    if verb == "score hmm":  # names of sequences are text in a CSV file and numbers elsewhere
        named = [each | {"sequence": str(each["sequence"])} for each in found["answer"]["sequences"]]
        found["answer"]["sequences"] = named
    if verb == "fit network":
        notes = [note for note in found["answer"]["notes"] if not note.startswith("no hold-out comparison")]
        found["answer"]["notes"] = notes
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_kinds_of_data_are_the_same(folder, monkeypatch, verb, kind):
    monkeypatch.chdir(folder)
    data = KINDS[kind].format(VERBS[verb][0])
    if kind in REFUSED.get(verb, ()):
        refuse(verb, data)
        return
    found, expected = answer(verb, data), answer(verb, f"{VERBS[verb][0]}.csv")
    assert found["exit"] == expected["exit"] == 0
    for one in (found, expected):
        one["answer"] = {k: v for k, v in one["answer"].items() if k not in ONLY_IN_MEMORY.get(verb, ())}
    assert_same(found, expected, verb)


def refuse(verb, data):
    """A named error, or an option that is not there."""
    words = shlex.split(VERBS[verb][1].replace("DATA", data).replace("MODELS", str(jobs.MODELS)))
    outcome = CliRunner().invoke(app, words)
    assert isinstance(outcome.exception, BayeslearnError) or outcome.exit_code == 2
