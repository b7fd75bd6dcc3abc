"""Compiled code is found again where it fits, and nowhere else: other sources, processors, versions, broken files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import pytest

from bayeslearn.kernels import code_cache

pytestmark = [
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled"),
    pytest.mark.thorough,  # a process for each trial
]

MODULE = """
from bayeslearn.kernels import _jit

@_jit.kernel
def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
"""
PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
{before}
import summing
assert summing.dot(np.arange(100.0), np.ones(100)) == 4950
text = "" if summing.dot.stats.cache_hits else "".join(summing.dot.inspect_asm().values())
print("zmm" in text or "ymm" in text)
"""
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
LESSER = """
from llvmlite import binding
features = binding.get_host_cpu_features()
features["avx2"] = False
binding.get_host_cpu_features = lambda: features
"""


@pytest.fixture
def run(tmp_path):
    """Call a kernel in a new process; how many files it wrote, and what it printed."""
    (tmp_path / "summing.py").write_text(MODULE)

    def call(before="", *, cache=tmp_path / "cache", **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "BAYESLEARN_"))}
        environment |= {"BAYESLEARN_CACHE_DIR": str(cache)} | variables
        there = files(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(before=before), str(tmp_path)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return SimpleNamespace(new=len(files(tmp_path)) - len(there), wide=done.stdout.strip(), stderr=done.stderr)

    return call


def files(folder):
    return sorted(path.name for path in folder.rglob("*.nbc"))


def test_code_is_found_by_the_next_process(run, tmp_path):
    first = run()
    assert first.new == 1
    assert f"kept in {tmp_path / 'cache'}" in first.stderr
    second = run()
    assert (second.new, second.stderr) == (0, "")


def test_code_for_one_processor_is_not_used_on_another(run):
    assert run().new == 1
    generic = run(**GENERIC)
    assert (generic.new, generic.wide) == (1, "False")
    assert run().new == run(**GENERIC).new == 0


@pytest.mark.skipif(code_cache.portable_level() is None, reason="this processor is below the portable level")
def test_code_is_portable_unless_code_for_this_processor_is_asked_for(run):
    assert run(**code_cache.compiler_environment()).new == 1
    assert run().new == 0
    assert run(BAYESLEARN_CPU="host").new == 1
    assert run(BAYESLEARN_CPU="host").new == 0


@pytest.mark.skipif(code_cache.portable_level() is None, reason="this processor is below the portable level")
def test_a_lesser_processor_does_not_get_portable_code(run):
    assert run().new == 1
    assert run(LESSER).new == 1


@pytest.mark.skipif(code_cache.portable_level() is None, reason="this processor is below the portable level")
def test_where_no_process_can_be_started_this_one_compiles(run):
    alone = "sys.executable = '/bin/false'"
    assert run(alone).new == 1
    assert run(alone).new == 0


def test_another_version_of_numba_compiles_again(run):
    other = "import numba; numba.__version__ = '0.0.0'; sys.executable = '/bin/false'"
    assert run().new == 1
    assert run(other).new == 1
    assert run().new == 0


def test_changed_sources_are_compiled_again(run, tmp_path):
    assert run().new == 1
    (tmp_path / "summing.py").write_text(MODULE + "\n# changed\n")
    assert run().new == 1
    (tmp_path / "summing.py").write_text(MODULE)
    assert run().new == 0  # the code of the first version is still there


def test_sources_are_those_of_imported_files_too(tmp_path):
    (tmp_path / "outer.py").write_text("from bayeslearn.kernels.within import (\n    f,\n)\n")

    def seen(text):
        (tmp_path / "within.py").write_text(text)
        code_cache.sources.cache_clear()
        return code_cache.sources(str(tmp_path / "outer.py"))

    assert seen("f = 1\n") == seen("f = 1\n") != seen("f = 2\n")


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "pickle"])
def test_a_broken_file_is_compiled_again(run, tmp_path, damage):
    run()
    (path,) = (tmp_path / "cache").glob("*.nbc")
    good = path.read_bytes()
    content = bytearray(good)
    content[len(content) // 2] ^= 1
    path.write_bytes({"cut": good[:1000], "flipped": bytes(content), "empty": b"", "pickle": b"\x80\x04."}[damage])
    again = run().stderr
    assert "compiling" in again
    assert again.count("are damaged, removed and compiled again") == 1
    assert run().stderr == ""


def test_processes_at_once_write_one_file(run, tmp_path):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: run(), range(3)))
    assert len(files(tmp_path)) == 1
    assert run().stderr == ""


def test_nobody_else_writes_to_the_folder_whatever_the_umask(run, tmp_path):
    before = os.umask(0)
    try:
        run(cache=tmp_path / "new" / "cache")
    finally:
        os.umask(before)
    for path in (tmp_path / "new", *(tmp_path / "new").rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o022, path
    assert run(cache=tmp_path / "new" / "cache").stderr == ""


def open_folder(folder, _):
    folder.chmod(0o777)


def open_file(_, path):
    path.chmod(0o666)


def give_away(_, path):
    os.chown(path, 12345, 12345)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (open_folder, "other users can write to"),
        (open_file, "other users can write to"),
        pytest.param(
            give_away,
            "belongs to another user",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away"),
        ),
    ],
)
def test_code_that_others_could_have_written_is_not_used(run, tmp_path, change, said):
    run()
    (path,) = (tmp_path / "cache").glob("*.nbc")
    change(tmp_path / "cache", path)
    again = run().stderr
    assert "compiling" in again
    assert again.count(said) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_not_used(run, tmp_path):
    run()
    os.chown(tmp_path / "cache", 12345, 12345)
    assert "belongs to another user" in run().stderr


FULL = """
import os, pathlib
from bayeslearn.kernels import code_cache
write = pathlib.Path.write_bytes
def fill(path, content):
    write(path, content[: len(content) // 2])
    raise OSError(28, "No space left on device")
pathlib.Path.write_bytes = fill
sys.executable = "/bin/false"
"""


def test_a_full_disk_leaves_nothing_behind(run, tmp_path):
    done = run(FULL)
    assert "compiling" in done.stderr
    assert list((tmp_path / "cache").glob("*.nbc")) == list((tmp_path / "cache").glob(".*.tmp")) == []


READ_ONLY = """
from bayeslearn.kernels import code_cache
def refuse(**_):
    raise OSError(30, "Read-only file system")
code_cache.NamedTemporaryFile = refuse
"""


def test_a_folder_that_is_read_only_is_read(run):
    assert run().new == 1
    assert run(READ_ONLY).stderr == ""


@pytest.mark.parametrize("place", ["a file", "under a file", "no home"])
def test_without_a_folder_every_process_compiles_and_says_so(run, tmp_path, place):
    (tmp_path / "file").write_text("")
    if place == "no home":
        cache, variables = "", {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file" / "x")}
    else:
        cache, variables = tmp_path / "file" / ("" if place == "a file" else "cache"), {}
    for _ in range(2):
        done = run(cache=cache, TMPDIR=str(tmp_path), **variables)
        assert "for this process only; set BAYESLEARN_CACHE_DIR" in done.stderr
        assert done.new == 0  # its folder ends with the process
    assert not list(tmp_path.glob("bayeslearn-*"))


def test_the_folder_of_numba_is_respected(run, tmp_path):
    assert run(cache="", NUMBA_CACHE_DIR=str(tmp_path / "of-numba")).new == 1
    assert len(files(tmp_path / "of-numba" / "bayeslearn")) == 1


def test_unused_files_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "user_folder", lambda: tmp_path)
    new, code, mark = (f"{name}-{code_cache.digest_of(name)}" for name in ("a.new", "a.old", "group"))
    long_ago = code_cache.MAX_DAYS + 1
    own = {f"{new}.nbc": 1, f"{code}.nbc": long_ago, f"{mark}.done": long_ago, ".0123456789abcdef.tmp": long_ago}
    others = ["thesis.txt", "notes.nbc", "data-0123.done"]
    for name, days in [*own.items(), *((name, long_ago) for name in others)]:
        (tmp_path / name).write_bytes(b"")
        then = (tmp_path / name).stat().st_mtime - 86_400 * days
        os.utime(tmp_path / name, (then, then))
    code_cache.remove_unused()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"{new}.nbc", *others])


def test_reading_a_file_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "writable_folder", lambda: tmp_path)
    code_cache.save("code.nbc", (1, "two"))
    then = (tmp_path / "code.nbc").stat().st_mtime - 30 * 86_400
    os.utime(tmp_path / "code.nbc", (then, then))
    assert code_cache.load("code.nbc") == (1, "two")
    assert (tmp_path / "code.nbc").stat().st_mtime > then + 86_400


OUTSIDE = """
import numba
try:
    summing.dot(np.arange(100.0), np.ones(99))
except IndexError:
    print("checked")
"""


def test_code_that_checks_indexes_is_other_code(run, monkeypatch):
    monkeypatch.setitem(globals(), "PROGRAM", PROGRAM + OUTSIDE)
    assert run().new == 1
    checked = run(NUMBA_BOUNDSCHECK="1")
    assert checked.new == 1
    assert checked.wide.endswith("checked")
    assert run(NUMBA_BOUNDSCHECK="1").new == 0
    assert not run(NUMBA_BOUNDSCHECK="0").wide.endswith("checked")
