"""Names and places that no file can have, and disks that are full: errors that name the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayeslearn as bl
from bayeslearn import files
from bayeslearn.errors import BayeslearnError, InputFileNotFoundError, UnknownColumnError, UnwritableFileError
from bayeslearn.sources import encode_to_disk
from tests.cli.asking import result, tell

ROWS = "x,y\n" + "a,1.5\nb,2.5\na,3.5\n" * 30

### names that are not UTF-8


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder whose name is no UTF-8, with files whose names are none either."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xe9sum\xff"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this system has no such names")
    (folder / "a\udcff.csv").write_text(ROWS)
    with (folder / "b\udce9.parquet").open("wb") as file:
        pq.write_table(pa.table({"x": ["a", "b"] * 30, "y": [1.5, 2.5] * 30}), file)
    return folder


def test_files_of_any_name_are_read_and_written(odd: Path) -> None:
    for path in odd.iterdir():
        assert bl.as_table(path) == bl.scan([path]).table()
    kept = encode_to_disk(bl.scan([odd / "a\udcff.csv"]), odd / "kept\udcff")
    assert bl.scan(odd / "kept\udcff").table() == kept.table() == bl.as_table(odd / "a\udcff.csv")


def test_verbs_name_files_of_any_name(odd: Path) -> None:
    path = str(odd / "a\udcff.csv")
    code, answer, _ = tell("scan", path, "--json", "-o", str(odd / "schema\udcff.json"))
    assert code == 0
    assert result(answer)["files"] == [path]
    assert (odd / "schema\udcff.json").is_file()
    for words in (["scan", path], ["fit", "network", path], ["fit", "network", path, "--engine", "files"]):
        code, answer, sentence = tell(*words, *(["-o", str(odd / "m.json")] if words[0] == "fit" else []))
        assert code == 0, sentence
        (answer + sentence).encode()  # no half characters reach a terminal
    code, _, sentence = tell("scan", path + "no.csv")
    assert (code, r"a\udcff.csvno.csv': there is no such file" in sentence) == (2, True)


def test_options_with_half_characters(odd: Path) -> None:
    path = str(odd / "a\udcff.csv")
    assert "there is no column" in tell("scan", path, "--columns", "\udcff")[2]
    assert "there is no column" in tell("scan", path, "--sample-weight", "\udcff")[2]
    assert tell("scan", path, "--na-values", "\udcff")[0] == 0
    assert bl.as_table(path, na_values=["\udcff", "a"], allow_constant=True).missing()["x"] == 60
    many = {"x": [f"w{i}" for i in range(100)]}
    assert bl.as_table(many, na_values=["\udcff", "w1"]).missing() == {"x": 1}


### names that are too long, and others


@pytest.mark.parametrize("name", ["n" * 300 + ".csv", "a\0b.csv", "loop.csv", "file.csv/rows.csv"])
def test_what_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "file.csv").write_text(ROWS)
    path = f"{tmp_path}/{name}"
    readers: list[Any] = [bl.as_table, bl.scan, lambda p: bl.scan([p]), lambda p: bl.scan(p + ".duckdb", table="t")]
    for read in readers:
        with pytest.raises(InputFileNotFoundError, match="there is no such file"):
            read(path)


@pytest.mark.parametrize("n", [240, 245, 250])
def test_long_names_are_written(tmp_path: Path, n: int) -> None:
    path = tmp_path / ("n" * (n - 5) + ".json")
    files.write(path, b"x")
    assert path.read_bytes() == b"x"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnwritableFileError, match=r"cannot write '.*': file name too long"):
        files.write(tmp_path / ("n" * 300), b"x")
    with pytest.raises(UnwritableFileError, match=r"cannot write '.*loop': too many levels of symbolic links"):
        files.write(tmp_path / "loop", b"x")
    with pytest.raises(BayeslearnError, match=r"cannot write '.*': it is a folder"):
        files.write(tmp_path, b"x")
    rows = bl.scan([{"x": ["a", "b"]}])
    for name, why in (("n" * 300, "file name too long"), ("file", "file exists"), ("file/more", "not a directory")):
        with pytest.raises(UnwritableFileError, match=rf"cannot write '.*': {why}"):
            encode_to_disk(rows, tmp_path / name)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFileError, match=r"cannot write '.*m\.json': no space left on device") as caught:  # noqa: SIM117
        with files.beside(tmp_path / "m.json"):
            raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.details["errno"] == errno.ENOSPC
    assert not list(tmp_path.iterdir())


### reasons


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    code, _, sentence = tell("scan", str(tmp_path / "rows.csv"), "--columns", "x,nope")
    assert (code, "there is no column 'nope'" in sentence) == (2, True)
    with pytest.raises(UnknownColumnError, match="nope"):
        bl.scan([tmp_path / "rows.csv"], columns=["nope"])


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_why_no_column_is_left(tmp_path: Path, engine: str) -> None:
    (tmp_path / "rows.csv").write_text("id\n" + "\n".join(f"n{i}" for i in range(400)))
    words = ["fit", "network", str(tmp_path / "rows.csv"), "--engine", engine, "-o", str(tmp_path / "m.json")]
    assert "no column is left to learn from: column 'id' has 400 different states" in tell(*words)[2]


@pytest.mark.parametrize("output", [[], ["-o", "rows.csv"], ["-o", "rows.parquet"]])
def test_names_of_a_model_that_no_table_can_hold(tmp_path: Path, output: list[str]) -> None:
    asia = Path(bl.__file__).with_name("datasets") / "asia.json"
    (tmp_path / "m.json").write_text(asia.read_text().replace('"states": ["yes"', '"states": ["y\\ud800"', 1))
    words = [word if word == "-o" else str(tmp_path / word) for word in output]
    code, _, sentence = tell("sample", str(tmp_path / "m.json"), "-n", "5", *words)
    assert (code, "holds half a character, which no text file can hold" in sentence) == (2, True)
