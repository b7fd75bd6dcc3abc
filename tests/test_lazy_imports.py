"""Public names are read from the imports for type checkers, and loaded when they are first used."""

from __future__ import annotations

import importlib
import sys
import zipfile

import pytest

from bayeslearn import lazy_imports

INIT = '''"""A package."""

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

VERSION = "1"

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapes import round as round
    from shapes.flat import SIDES as SIDES
    from shapes.flat import hidden as other
    from shapes.flat import square as square
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__, "VERSION")
'''

FILES = {
    "shapes/__init__.py": INIT,
    "shapes/flat.py": "SIDES = 4\ndef square(): ...\ndef hidden(): ...\n",
    "shapes/round.py": "",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the path with a package; what was imported of it is forgotten at the end."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    yield from on_path(tmp_path, monkeypatch)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "shapes.zip", "w") as packed:
        for name, text in FILES.items():
            packed.writestr(name, text)
    yield from on_path(tmp_path / "shapes.zip", monkeypatch)


def on_path(place, monkeypatch):
    monkeypatch.syspath_prepend(place)
    yield place
    lazy_imports._EXPORTS.pop("shapes", None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
        del sys.modules[name]


def test_names_are_loaded_when_first_used(folder):
    import shapes

    assert shapes.__all__ == dir(shapes) == ["SIDES", "VERSION", "round", "square"]
    assert "shapes.flat" not in sys.modules
    assert shapes.SIDES == 4
    assert "shapes.flat" in sys.modules
    assert "shapes.round" not in sys.modules
    assert shapes.round is sys.modules["shapes.round"]
    assert vars(shapes)["SIDES"] == 4  # found without __getattr__ the next time
    assert dir(shapes) == ["SIDES", "VERSION", "round", "square"]


def test_a_changed_listing_changes_nothing(folder):
    import shapes

    dir(shapes).clear()
    shapes.__dir__().clear()
    assert dir(shapes) == ["SIDES", "VERSION", "round", "square"]


def test_from_an_archive(archive):
    import shapes

    assert dir(shapes) == ["SIDES", "VERSION", "round", "square"]
    assert shapes.square() is None


@pytest.mark.parametrize("name", ["Callable", "hidden", "other", "squar"])
def test_other_names_are_unknown(folder, name):
    import shapes

    with pytest.raises(AttributeError, match=f"module 'shapes' has no attribute '{name}'") as raised:
        getattr(shapes, name)
    assert (raised.value.name, raised.value.obj) == (name, shapes)  # Python's own "Did you mean" works with these


def test_source_that_is_missing(folder):
    importlib.import_module("shapes")
    lazy_imports._EXPORTS.clear()
    (folder / "shapes" / "__init__.py").unlink()
    with pytest.raises(ImportError, match=r"names of shapes are read from .*__init__\.py, which is missing"):
        lazy_imports.exports("shapes")
    assert "shapes" not in lazy_imports._EXPORTS


def test_deferred_library():
    sys.modules.pop("colorsys", None)
    library = lazy_imports.Deferred("colorsys")
    assert "colorsys" not in sys.modules
    assert library.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
    assert "colorsys" in sys.modules
