"""Verbs that load when they are called: what is known of them before is what they say themselves."""

import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bayeslearn.cli import app as root
from bayeslearn.cli import bound, cases, naive, sequence, text
from bayeslearn.cli.verbs import group, load

GROUPS = {"": root, "bound": bound, "cases": cases, "naive": naive, "sequence": sequence, "text": text}
ALL = [(path, name) for path, module in GROUPS.items() for name in module.VERBS]


@pytest.mark.parametrize(("path", "name"), ALL)
def test_the_line_in_the_list_is_the_first_paragraph_of_the_help(path, name):
    place, line = GROUPS[path].VERBS[name]
    command = load(name, place)
    assert command.name == name
    assert line == command.help.split("\n\n")[0]


def test_listing_verbs_loads_none_of_them(monkeypatch):
    monkeypatch.delitem(sys.modules, "bayeslearn.cli.vc", raising=False)
    assert "The largest set of points" in CliRunner().invoke(root.app, ["--help"]).stdout
    assert "bayeslearn.cli.vc" not in sys.modules


def test_the_commands_are_a_mapping_that_makes_them():
    commands = get_command(root.app).commands
    assert list(commands) == list(root.VERBS)
    assert len(commands) == len(root.VERBS)
    assert commands["query"] is commands.get("query")
    assert commands.get("no such verb") is None


def test_the_group_of_a_verb_that_cannot_be_loaded():
    app = group({"broken": ("no_such_module.run", "Fails when it is called."), "other": ("demo.run", "Is there.")})
    app.callback()(lambda: None)
    assert "Fails when it is called." in CliRunner().invoke(app, ["--help"]).stdout
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        CliRunner().invoke(app, ["broken"], catch_exceptions=False)
