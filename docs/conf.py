"""Sphinx configuration. The CLI reference is written from the commands' own help on every build."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import bayeslearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "bayeslearn"
author = "the bayeslearn developers"
project_copyright = "2026, the bayeslearn developers"
version = release = bayeslearn.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nitpicky = False

html_theme = "furo"
html_title = f"bayeslearn {version}"

autodoc_default_options = {"members": True, "show-inheritance": True, "member-order": "bysource"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
highlight_language = "text"


default_role = "code"

QUOTED = re.compile(r"(``[^`]+``|:\w+:`[^`]+`|`[^`]+`)")


def literal_formulas(_app, _what, _name, _obj, _options, lines):
    """Docstrings are plain text: an indented formula is shown as it stands, and * and | mean themselves."""
    out, inside = [], False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside and (not out or not out[-1].strip()):
            out += ["::", ""]
            inside = True
        elif line.strip() and not indented:
            inside = False
        plain = not inside and not line.lstrip().startswith((">>>", "...", "..", ":"))
        out.append(escaped(line) if plain else line)
    lines[:] = out


def escaped(line):
    parts = QUOTED.split(line)
    return "".join(part if i % 2 else part.replace("*", r"\*").replace("|", r"\|") for i, part in enumerate(parts))


def skip_routing(_app, _what, name, _obj, skip, _options):
    """scikit-learn adds methods of its own to every estimator; they are documented there."""
    return skip or name == "get_metadata_routing" or bool(re.fullmatch(r"set_\w+_request", name))


def setup(app):
    from cli_reference import write

    app.connect("autodoc-process-docstring", literal_formulas)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("builder-inited", lambda _: write(HERE / "reference" / "cli.md"))
