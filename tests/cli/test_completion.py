"""Completion in shells, fast conversion of plain words, and what a call loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bayeslearn import datasets
from bayeslearn.cli import fit_kinds, parameters
from bayeslearn.cli.app import VERBS, app
from bayeslearn.cli.help_page import page
from tests.cli.asking import ask, fail

CALL = "import sys; sys.argv = ['bayeslearn', *sys.argv[1:]]; from bayeslearn.cli import main; main()"


def run(*words, **environment):
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", CALL, *words], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def completed(line):
    """What bash offers at the end of a line."""
    words = line.split(" ")
    return run(_BAYESLEARN_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)).split()


### completion


@pytest.mark.thorough
def test_completion_can_be_installed(tmp_path):
    shown = run("--install-completion", "bash", HOME=str(tmp_path))
    assert "bash completion installed" in shown
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_BAYESLEARN_COMPLETE=complete_bash" in path.read_text() for path in written)


def test_verbs_and_kinds_are_completed():
    assert completed("bayeslearn co") == ["convert", "compare-networks", "compare-models", "concept"]
    assert completed("bayeslearn fit ") == list(fit_kinds.VERBS)
    assert completed("bayeslearn demo ") == ["tour", "newsgroups"]


def test_options_are_those_of_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("x,y\n" + "\n".join(f"{i % 7},{i % 3}" for i in range(30)) + "\n")
    ask("fit", "mixture", "rows.csv", "--n-components", "1", "-o", "m.json")
    assert "--max-results" in completed("bayeslearn explain m.json rows.csv --m")
    assert "--target" not in completed("bayeslearn explain m.json rows.csv --t")
    assert "--target" in completed("bayeslearn explain asia --t")
    assert "--level" in completed("bayeslearn predict no-such.json --le")


def test_names_that_ship_and_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asia-mine.json").write_text("{}")
    (tmp_path / "as-folder").mkdir()
    assert completed("bayeslearn query as") == ["asia", "as-folder/", "asia-mine.json"]
    assert set(datasets.list_networks()) <= set(completed("bayeslearn show "))
    assert completed("bayeslearn fit network surv") == ["survey"]
    assert parameters.files("no-such-folder/") == []


def test_words_before_the_cursor_may_be_wrong():
    assert completed("bayeslearn contest rows.csv --t") == []
    assert "--json" in completed("bayeslearn query no-such.bif --js")


### plain words


class Param:
    def __init__(self, annotation, nargs=1, *, multiple=False):
        self.type_descriptor = type("Descriptor", (), {"annotation": annotation})
        self.nargs, self.multiple = nargs, multiple


@pytest.mark.parametrize(
    ("kind", "word", "value"),
    [
        (int, "12", (12,)), (int, "-3", (-3,)), (int, "1.0", None), (int, "1_000", None), (float, ".5", (0.5,)),
        (float, "1e-3", (0.001,)), (float, "nan", None), (float, 2.0, (2.0,)), (str, "", ("",)),
        (str, "a\nb", ("a\nb",)),
        (Path, "a/b", (Path("a/b"),)), (Path, "", None), (bool, "yes", None), (int, True, None), (str, None, (None,)),
    ],
)  # fmt: skip
def test_plain_words_are_converted_and_others_are_not(kind, word, value):
    assert parameters.converted(word, Param(kind)) == value


def test_several_words():
    assert parameters.converted(("1", "2"), Param(list[int], -1)) == ([1, 2],)
    assert parameters.converted(["1", "x"], Param(list[int], multiple=True)) is None
    assert parameters.converted(None, Param(list[str], -1)) == ((),)
    assert parameters.converted("ab", Param(list[str], -1)) is None


@pytest.mark.parametrize("word", ["3.5", "x", ""])
def test_a_wrong_word_is_refused_as_before(word):
    code, sentence = fail("sample", "asia", "-n", word)
    assert code == 2
    assert "Invalid value for '-n'" in " ".join(sentence.split())


### what a call loads


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (["--help"], ["rich", "numpy", "pydantic", "bayeslearn.network", "bayeslearn.datasets"]),
        (["fit", "--help"], ["rich", "numpy", "pydantic"]),
        (["query", "asia", "smoke=yes"], ["rich", "pydantic", "scipy", "numba", "pyarrow", "pandas", "sklearn"]),
    ],
)
def test_a_call_loads_only_what_it_needs(words, absent):
    code = f"import sys, atexit\natexit.register(lambda: print('LOADED', *sys.modules, file=sys.stderr))\n{CALL}"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split("LOADED")[1].split()} | set(
        done.stderr.split("LOADED")[1].split()
    )
    assert [name for name in absent if name in loaded] == []


### help


def test_help_is_in_panels():
    shown = ask("--help")
    titles = [line.split()[1] for line in shown.splitlines() if line.startswith("╭─")]
    assert titles == ["Options", "Data", "Fit", "Use", "Maintain", "Judge", "Textbook"]
    assert all(f"│ {name} " in shown for name in VERBS)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_help_keeps_to_the_width(width, monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    command = get_command(app)
    ctx = command.make_context("bayeslearn", [], resilient_parsing=True)
    lines = page(ctx, command, VERBS).splitlines()
    assert {len(line) for line in lines if line.startswith(("╭", "│", "╰"))} == {width}
    words = " ".join(line.strip("│ ") for line in lines).split()
    for verb in VERBS.values():
        assert all(word in words for word in verb.help.split() if len(word) < 15)


def test_names_are_bold_on_a_terminal(monkeypatch):
    from bayeslearn.cli import help_page

    monkeypatch.setattr(help_page.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert help_page.emphasized("fit") == "\x1b[1;36mfit\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert help_page.emphasized("fit") == "fit"
