"""Groups of kernels: every kernel belongs to one, its units compile it, and verbs find what they need."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from bayeslearn import kernels, lazy_imports
from bayeslearn.kernels import code_cache, precompile
from bayeslearn.kernels.precompile import GROUP_OF, GROUPS, in_order
from bayeslearn.kernels.warm_up_learners import UNITS
from tests import installed

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def is_kernel(name):
    home = __import__(f"bayeslearn.kernels.{kernels.home_of(name)}", fromlist=[name])
    return hasattr(getattr(home, name), "overloads")


@compiled
def test_every_kernel_belongs_to_a_group():
    assert {name for name in lazy_imports.exports("bayeslearn.kernels") if is_kernel(name)} == set(GROUP_OF)
    assert sum(len(group.kernels) for group in GROUPS.values()) == len(GROUP_OF)


def test_every_unit_belongs_to_a_group():
    units = [unit for group in GROUPS.values() for unit in group.units]
    assert sorted(units) == sorted(UNITS)


@compiled
@pytest.mark.parametrize("group", GROUPS)
def test_units_compile_the_kernels_of_their_group(group):
    for unit in GROUPS[group].units:
        UNITS[unit]()
    for kernel in GROUPS[group].kernels:
        assert getattr(kernels, kernel).overloads, kernel


def test_groups_come_after_those_that_they_contain():
    order = in_order(["completion", "tables"])
    assert order == ["inference", "em", "completion", "tables"]
    for group, entry in GROUPS.items():
        assert set(entry.after) < set(in_order([group]))


def test_marks_change_with_sources_and_processors(monkeypatch):
    def marked():
        precompile.mark.cache_clear()
        return precompile.mark("online")

    first = marked()
    assert first.startswith("online-")
    assert first.endswith(".done")
    with monkeypatch.context() as patch:
        patch.setattr(code_cache, "target", lambda: code_cache.Target("triple", "other", ""))
        assert marked() != first
    with monkeypatch.context() as patch:
        patch.setattr(code_cache, "sources", lambda path: f"changed {path}")
        assert marked() != first
    assert marked() == first


### in processes of their own

PROGRAM = """
from bayeslearn import kernels
from numba.core import event
class Watch(event.Listener):
    def on_start(self, happening):
        print("compiled here", happening.data["dispatcher"].py_func.__name__)
    def on_end(self, happening):
        pass
event.register("numba:compile", Watch())
kernels.weigh_advice
from bayeslearn.kernels import warm_up_learners
warm_up_learners.experts()
"""


def start(folder, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "BAYESLEARN_"))}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment | {"BAYESLEARN_CACHE_DIR": str(folder)} | variables,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.thorough
@compiled
def test_a_group_is_compiled_by_other_processes_once(tmp_path):
    together = [start(tmp_path), start(tmp_path)]
    texts = [process.communicate(timeout=300) for process in together]
    assert [process.returncode for process in together] == [0, 0], texts
    assert [out for out, _ in texts] == ["", ""]  # neither of them compiled by itself
    said = sorted(err for _, err in texts)
    assert said[0] == ""
    assert re.search(r"compiling 2 kernels \(online learning\), about [12] s", said[1])
    assert str(tmp_path) in said[1]
    assert len(list(tmp_path.glob("*.done"))) == 1


@pytest.mark.thorough
@compiled
def test_where_no_process_can_be_started_the_kernel_is_compiled_here(tmp_path):
    code = PROGRAM.replace("import kernels\n", "import kernels\nimport sys; sys.executable = '/bin/false'\n", 1)
    environment = {**os.environ, "BAYESLEARN_CACHE_DIR": str(tmp_path), "BAYESLEARN_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "compiled here weigh_advice" in done.stdout
    assert not list(tmp_path.glob("*.done"))


@pytest.mark.thorough
@compiled
def test_the_command_refuses_unknown_groups_and_says_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")

    def run(*arguments, cache):
        environment = {**os.environ, "BAYESLEARN_CACHE_DIR": str(cache)}
        command = [sys.executable, "-m", "bayeslearn.kernels", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    unknown = run("onlin", cache=tmp_path)
    assert unknown.returncode == 2
    assert "there is no group 'onlin'; groups: tables, inference" in unknown.stderr
    nowhere = run("online", cache=tmp_path / "file")
    assert nowhere.returncode == 1
    assert "set BAYESLEARN_CACHE_DIR" in nowhere.stderr


### the bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_moves_on_a_terminal_only(monkeypatch):
    monkeypatch.delenv("BAYESLEARN_QUIET", raising=False)
    monkeypatch.setattr(precompile, "thread_count", lambda: 2)
    for stream, moves in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        bar = precompile._Bar(["online", "theory"])
        bar.advance(3.0)
        bar.close()
        text = stream.getvalue()
        assert text.startswith(
            "bayeslearn: compiling 4 kernels (online learning, learning theory), about 3 s, kept in "
        )
        assert ("] " in text and " 50%" in text and "s left" in text) is moves


def test_long_lists_are_short_and_silence_is_kept(monkeypatch):
    monkeypatch.delenv("BAYESLEARN_QUIET", raising=False)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    precompile._Bar(list(GROUPS))
    assert f"row by row and {len(GROUPS) - 3} more groups)" in stream.getvalue()
    monkeypatch.setenv("BAYESLEARN_QUIET", "1")
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    bar = precompile._Bar(["online"])
    bar.advance(1.0)
    assert stream.getvalue() == ""


### verbs


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    installed.write_tables(folder)
    return folder


#: Jobs that every run of the tests tries; others are slow here, and `make test-wheel` runs all of them.
EVERY_TIME = (
    "fit network",
    "query",
    "predict",
    "fit naive-bayes",
    "fit mixture",
    "fit hmm",
    "fit text",
    "fit regression",
    "fit neighbors",
    "predict, neighbors",
)


@compiled
@pytest.mark.thorough
@pytest.mark.parametrize(
    "job", [job if job in EVERY_TIME else pytest.param(job, marks=pytest.mark.slow) for job in installed.JOBS]
)
def test_verbs_compile_nothing_beyond_the_groups(job, tables):
    """With the code of all groups there, no verb meets a kernel with types that no unit has."""
    src = str(Path(kernels.__file__).parents[2])
    found = installed.run(job, tables, python=sys.executable, path=[src], cache=None)
    assert (found["compiled"], found["stderr"].count("bayeslearn: compiling")) == ([], 0), found["stderr"]
