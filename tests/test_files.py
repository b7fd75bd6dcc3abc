"""Files written whole or not at all."""

from __future__ import annotations

import os

import pytest

from bayeslearn import files
from bayeslearn.errors import MissingFileError, ParameterError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_there_only_when_it_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    with files.beside(path) as place:
        place.write_bytes(b"after")
        assert (place.parent, path.read_bytes()) == (tmp_path, b"before")
    assert (names(tmp_path), path.read_bytes()) == (["a.txt"], b"after")
    files.write(str(path), b"by name")
    assert (names(tmp_path), path.read_bytes()) == (["a.txt"], b"by name")


def test_what_fails_leaves_no_trace(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")

    def fill():
        with files.beside(path) as place:
            place.write_bytes(b"half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        fill()
    assert (names(tmp_path), path.read_bytes()) == (["a.txt"], b"before")


def test_a_relative_name_stands_in_the_folder_at_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files.write("a.txt", b"here")
    assert (tmp_path / "a.txt").read_bytes() == b"here"


@pytest.mark.parametrize("before", [b"old", None])
def test_links_are_followed(tmp_path, before):
    (tmp_path / "far").mkdir()
    if before is not None:
        (tmp_path / "far" / "real.txt").write_bytes(before)
    (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "real.txt")
    files.write(tmp_path / "link.txt", b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (names(tmp_path / "far"), (tmp_path / "far" / "real.txt").read_bytes()) == (["real.txt"], b"new")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        files.write(pipe, b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_places_where_no_file_can_stand(tmp_path, monkeypatch):
    with pytest.raises(MissingFileError, match=r"cannot write .*a\.txt': there is no folder '.*nowhere'") as caught:
        files.write(tmp_path / "nowhere" / "a.txt", b"")
    assert caught.value.details["path"] == tmp_path / "nowhere" / "a.txt"
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone" / "real.txt")
    with pytest.raises(MissingFileError, match=r"cannot write .*link\.txt': there is no folder '.*gone'"):
        files.write(tmp_path / "link.txt", b"")
    with pytest.raises(ParameterError, match=r"it is a folder\n\nhint: name a file in it"):
        files.write(tmp_path, b"")
    monkeypatch.setattr(files.os, "access", lambda folder, _: folder != tmp_path)
    with pytest.raises(ParameterError, match=r"the folder '.*' is not yours to write to"):
        files.write(tmp_path / "a.txt", b"")
    assert names(tmp_path) == ["link.txt"]
