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
    "learn": ("words", "learn DATA -o out.json --seed 1"),
    "fit": ("words", "fit '[color][kind][size|color:kind]' DATA --ignore-others -o out.json"),
    "fit missing": ("table", "fit '[color][class|color]' DATA --ignore-others -o out.json"),
    "score": ("words", "score MODELS/network.json DATA"),
    "predict": ("words", "predict MODELS/network.json DATA --target size -o out.csv"),
    "impute": ("words", "impute MODELS/network.json DATA -o out.csv"),
    "update": ("words", "update MODELS/network.json DATA -o out.json"),
    "compare": ("words", "compare MODELS/network.json MODELS/network-updated.json --data DATA"),
    "posterior": ("words", "posterior DATA --samples 20 --seed 1"),
    "cluster": ("table", "cluster DATA -k 2 -o out.json --seed 1"),
    "cluster by": ("table", "cluster DATA --by MODELS/mixture.json -o out.csv"),
    "regress": ("table", "regress DATA --target y -o out.json"),
    "regress sigmoid": ("table", "regress DATA --target class --method sigmoid -o out.json"),
    "regress rbf": ("table", "regress DATA --target y --method rbf -o out.json --seed 1"),
    "regress local": ("table", "regress DATA --target y --method local -o out.json"),
    "regress by": ("table", "regress DATA --by MODELS/linear.json -o out.csv"),
    "neighbors": ("table", "neighbors DATA --target class"),
    "online": ("words", "online DATA --target size"),
    "naive learn": ("table", "naive learn DATA --target class -o out.json"),
    "naive predict": ("table", "naive predict MODELS/naive.json DATA -o out.csv"),
    "sequence learn": ("steps", "sequence learn DATA --states 2 --id run -o out.json --seed 1"),
    "sequence learn symbols": ("letters", "sequence learn DATA --states 2 --id run -o out.json --seed 1"),
    "sequence decode": ("steps", "sequence decode MODELS/hmm-gaussian.json DATA --id run -o out.csv"),
    "sequence score": ("steps", "sequence score MODELS/hmm-gaussian.json DATA --id run"),
    "text learn": ("texts", "text learn DATA --label folder -o out.model"),
    "text evaluate": ("texts", "text evaluate DATA --label folder --seed 1"),
    "scan": ("table", "scan DATA"),
}
ONLY_IN_MEMORY = {
    "learn": {"held_out", "passes"},
    "score": {"impossible_rows"},
    "cluster": {"doubtful"},
    "regress": {"left_one_out"},
    "naive learn": {"check"},
    "scan": {"files", "bytes"},
}
NOT_IN_MEMORY = {"files", "parts", "parts as files", "encoded"}
#: `--engine files` is no option, or the rows of one file are taken and nothing else.
REFUSED = {
    "impute": NOT_IN_MEMORY,
    "regress sigmoid": {"files", "parts as files"},
    "regress rbf": {"files", "parts as files"},
    "regress local": {"files", "parts as files"},
    "neighbors": {"files", "parts as files"},
    "online": NOT_IN_MEMORY,
    "text learn": {"encoded"},
    "text evaluate": NOT_IN_MEMORY,
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
    if verb == "sequence score":  # names of sequences are text in a CSV file and numbers elsewhere
        found["answer"]["each"] = [each | {"sequence": str(each["sequence"])} for each in found["answer"]["each"]]
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
