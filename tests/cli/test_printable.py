"""Names of files from others cannot command the terminal; data stay as they are."""

import io
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from bayeslearn import BayesianNetwork, fit_parameters, write_network
from bayeslearn.cli import main, streams
from bayeslearn.cli.app import app
from bayeslearn.errors import ParameterError
from bayeslearn.printable import escaped_json, one_line, printable

CLEAR = "\x1b[2J"
NAME = f"lung{CLEAR}\u202e"


@pytest.fixture
def hostile(tmp_path):
    net = BayesianNetwork.from_tables(
        [(NAME, "B")],
        {NAME: [0.3, 0.7], "B": [[0.1, 0.9], [0.4, 0.6]]},
        states={NAME: ["y\x9b31m", "n"], "B": ["\x07", "b"]},
        name=f"net{CLEAR}",
    )
    path = tmp_path / "hostile.json"
    write_network(net, path)
    return path


@pytest.mark.parametrize("verb", ["show", "query"])
def test_reports_write_control_characters_out(hostile, verb):
    outcome = CliRunner().invoke(app, [verb, str(hostile)])
    assert outcome.exit_code == 0
    assert not set(outcome.output) & set("\x1b\x9b\x07\u202e")
    assert r"lung\x1b[2J\u202e" in outcome.output


def test_json_keeps_the_data(hostile):
    outcome = CliRunner().invoke(app, ["show", str(hostile), "--json"])
    assert not set(outcome.output) & set("\x1b\x9b\x07\u202e")
    assert json.loads(outcome.output)["result"]["variables"][0]["name"] == NAME


def test_data_stay_as_they_are(hostile):
    outcome = CliRunner().invoke(app, ["sample", str(hostile), "-n", "20"])
    assert NAME in outcome.output
    assert "y\x9b31m" in outcome.output


def test_a_terminal_gets_printable_data(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    with streams.printable_streams():
        streams.write_data(f"a,{CLEAR}\n".encode())
    assert sys.stdout.getvalue() == "a,\\x1b[2J\n"


def test_errors_are_printable(hostile, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bayeslearn", "query", str(hostile), f"B{CLEAR}=1"])
    with pytest.raises(SystemExit):
        main()
    assert "\x1b" not in capsys.readouterr().err
    assert str(ParameterError(f"no {CLEAR}", hint=f"try {CLEAR}")) == "no \\x1b[2J\n\nhint: try \\x1b[2J"


@pytest.mark.parametrize("words", [[f"--no{CLEAR}"], [f"no{CLEAR}"], ["show", f"--no{CLEAR}"], ["fit", f"--no{CLEAR}"]])
def test_errors_of_the_command_line_are_printable(words, monkeypatch, capsys):
    """A name of a file that begins with a hyphen is read as an option."""
    monkeypatch.setattr(sys, "argv", ["bayeslearn", *words])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr()
    assert "no\\x1b[2J" in shown.out + shown.err
    assert "\x1b[2J" not in shown.out + shown.err


def test_half_characters_reach_no_stream(tmp_path):
    net = fit_parameters("[a]", {"a": ["\ud800", "x"]}, prior="laplace")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        with streams.printable_streams():
            sys.stdout.write(f"{net.states('a')[1]}\n")
            sys.stdout.flush()
    assert out.buffer.getvalue() == b"\\ud800\n"


def test_a_stream_of_few_characters_writes_the_others_out(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    with streams.printable_streams():
        sys.stdout.write("█é\n")
    out.flush()
    assert out.buffer.getvalue() == b"\\u2588\\xe9\n"


@pytest.mark.parametrize("code", [0, 7, 13, 27, 127, 0x85, 0x9B, 0x200F, 0x202E, 0x2066, 0x2028, 0xD800, 0xDFFF])
def test_every_hostile_character(code):
    text = f"a{chr(code)}b\tc\n"
    shown = printable(text)
    assert chr(code) not in shown
    assert shown.startswith("a\\")
    assert shown.endswith("b\tc\n")
    assert one_line(text).isprintable()
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text


def test_usual_text_stays():
    text = "age ≤ 30, Ärger, 中文, 𝒳, naïve, █▏\n"
    assert printable(text) == text
    assert np.all([printable(chr(c)) == chr(c) for c in range(32, 127)])
