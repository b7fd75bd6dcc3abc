"""Files read within bounds, and written whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import tracemalloc
import zlib

import pytest

from bayeslearn import files
from bayeslearn.errors import CapacityError, FormatError, InputFileNotFoundError, ParameterError


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
    with pytest.raises(
        InputFileNotFoundError, match=r"cannot write .*a\.txt': there is no folder '.*nowhere'"
    ) as caught:
        files.write(tmp_path / "nowhere" / "a.txt", b"")
    assert caught.value.details["path"] == tmp_path / "nowhere" / "a.txt"
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone" / "real.txt")
    with pytest.raises(InputFileNotFoundError, match=r"cannot write .*link\.txt': there is no folder '.*gone'"):
        files.write(tmp_path / "link.txt", b"")
    with pytest.raises(ParameterError, match=r"it is a folder\n\nhint: name a file in it"):
        files.write(tmp_path, b"")
    monkeypatch.setattr(files.os, "access", lambda folder, _: folder != tmp_path)
    with pytest.raises(ParameterError, match=r"the folder '.*' is not yours to write to"):
        files.write(tmp_path / "a.txt", b"")
    assert names(tmp_path) == ["link.txt"]


### reading


def packed(*members):
    return b"".join(gzip.compress(member, mtime=0) for member in members)


@pytest.mark.parametrize(
    ("name", "raw", "content"),
    [
        ("a.txt", b"plain", b"plain"),
        ("a.txt", b"", b""),
        ("a.txt", packed(b"x"), packed(b"x")),
        ("a.txt.gz", packed(b"one"), b"one"),
        ("A.GZ", packed(b"one", b"", b" two" * 5000), b"one" + b" two" * 5000),
        ("a.gz", packed(b"") + b"\0" * 20_000, b""),
        ("a.gz", packed(b"a") + b"\0" * 20_000 + packed(b"b"), b"ab"),
        ("a.gz", packed(*[b"x"] * 3000), b"x" * 3000),
    ],
)
def test_files_are_read_and_unpacked_by_their_name(tmp_path, name, raw, content):
    (tmp_path / name).write_bytes(raw)
    assert files.read(tmp_path / name, max_bytes=1 << 20) == content
    assert files.read(str(tmp_path / name), max_bytes=max(len(raw), len(content))) == content


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "ends too soon"),
        (b"no", "no gzip file, or damaged: .* incorrect header check"),
        (packed(b"whole" * 100)[:-1], "ends too soon"),
        (packed(b"whole" * 100)[:-9], "ends too soon"),
        (packed(b"a") + packed(b"b")[:5], "ends too soon"),
        (packed(b"a") + b"rest", "no gzip file, or damaged"),
        (packed(b"a") + b"\0" * 9000 + b"rest", "no gzip file, or damaged"),
        (b"\0" + packed(b"a"), "no gzip file, or damaged"),
        (packed(b"whole")[:-8] + b"\1\2\3\4" + packed(b"whole")[-4:], "incorrect data check"),
    ],
)
def test_packed_files_that_are_damaged_are_named(tmp_path, raw, message):
    (tmp_path / "a.gz").write_bytes(raw)
    with pytest.raises(FormatError, match=rf"a\.gz' cannot be read: it is .*{message}"):
        files.read(tmp_path / "a.gz", max_bytes=10_000)


def test_a_file_beyond_the_limit_is_refused_with_both_numbers(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 1001)
    with pytest.raises(CapacityError, match=r"a\.txt' has 1,001 bytes, and at most 1,000 are read") as caught:
        files.read(tmp_path / "a.txt", max_bytes=1000)
    assert (caught.value.details["bytes"], caught.value.details["max_bytes"]) == (1001, 1000)
    with pytest.raises(CapacityError, match=r"zero' has more than 1,000 bytes, and at most 1,000 are read"):
        files.read("/dev/zero", max_bytes=1000)


def test_a_packed_file_is_unpacked_up_to_the_limit_only(tmp_path):
    """1 GB of zeros in 1 MB, and a million empty members."""
    pack = zlib.compressobj(9, wbits=31)
    bomb = b"".join(pack.compress(bytes(1 << 20)) for _ in range(1024)) + pack.flush()
    (tmp_path / "bomb.gz").write_bytes(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(CapacityError, match=r"bytes of '.*bomb\.gz' unpack to .*, and at most 4,194,304 are read"):
            files.read(tmp_path / "bomb.gz", max_bytes=1 << 22)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 40 << 20
    (tmp_path / "many.gz").write_bytes(packed(b"") * 200_000)
    assert files.read(tmp_path / "many.gz", max_bytes=1 << 22) == b""


def test_what_is_not_there_or_no_file_is_named(tmp_path):
    for name in ("gone.txt", "gone/a.txt"):
        with pytest.raises(InputFileNotFoundError, match="there is no such file"):
            files.read(tmp_path / name)
    with pytest.raises(FormatError, match=r"cannot be read: .*directory"):
        files.read(tmp_path)
    with pytest.raises(FormatError, match="cannot be read: embedded null"):
        files.read("a\0b")


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="there are no modes here")
def test_a_file_that_is_written_again_keeps_its_mode(tmp_path):
    path = tmp_path / "private.json"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with files.beside(path) as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600  # private from its first byte on
        place.write_bytes(b"after")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (0o600, b"after")
    path.chmod(0o640)
    files.write(path, b"again")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="there are no modes here")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        files.write(tmp_path / "new.json", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_is_written_again_keeps_its_owner(tmp_path):
    path = tmp_path / "of-another.json"
    path.write_bytes(b"before")
    os.chown(path, 12345, 23456)
    path.chmod(0o600)
    files.write(path, b"after")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o600)


def test_an_owner_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    found = path.stat()
    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(
        os, "fstat", lambda _: os.stat_result((0, 0, 0, 0, found.st_uid + 1, found.st_gid + 1, 0, 0, 0, 0))
    )
    files.write(path, b"after")
    assert path.read_bytes() == b"after"


def test_the_longest_name_that_a_folder_takes(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    files.write(path, b"whole")
    assert (names(tmp_path), path.read_bytes()) == ([path.name], b"whole")


def test_content_is_on_the_disk_before_the_file_takes_its_place(tmp_path, monkeypatch):
    seen = []
    real = os.fsync

    def fsync(descriptor):
        seen.append((os.fstat(descriptor).st_size, (tmp_path / "a.txt").exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    files.write(tmp_path / "a.txt", b"whole")
    assert seen == [(5, False)]


def test_a_small_file_takes_little_memory_whatever_the_limit(tmp_path):
    (tmp_path / "small").write_bytes(b"x" * 100)
    tracemalloc.start()
    assert files.read(tmp_path / "small", max_bytes=1 << 32) == b"x" * 100
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
