"""Names and libraries that are imported when they are first used.

A package writes each of its public names once, on a line in the form by which type checkers recognize a public name
(``import Dag as Dag``); :func:`attach` reads the names from there::

    if TYPE_CHECKING:
        from bayeslearn.network.graph import Dag as Dag
    else:
        __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: What :func:`exports` has read, by package.
_EXPORTS: dict[str, dict[str, str]] = {}


def attach(package: str, *defined: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    defined
        Public names that ``__init__.py`` of the package defines itself.
    """
    modules = exports(package)
    public = sorted({*modules, *defined})

    def load(name: str) -> Any:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        module = modules[name]
        is_submodule = module == package
        value = importlib.import_module(f"{package}.{name}" if is_submodule else module)
        value = value if is_submodule else getattr(value, name)
        setattr(sys.modules[package], name, value)  # the next access finds it without this function
        return value

    return load, lambda: list(public), public


def exports(package: str) -> dict[str, str]:
    """Return the modules of a package's lazy public names, by name.

    They are read from the lines ``from module import name as name`` of the package's ``__init__.py``. Python's own
    parser takes seven times as long; a test compares.
    """
    if package not in _EXPORTS:
        lines = [line.split() for line in _source(package).splitlines()]
        found = _EXPORTS[package] = {}
        for line in lines:
            match line:
                case ["from", module, "import", name, "as", alias] if alias == name:
                    found[name] = module
    return _EXPORTS[package]


def _source(package: str) -> str:
    module = sys.modules[package]
    loader: Any = module.__loader__  # also of a zip archive
    try:
        return loader.get_data(module.__file__).decode()
    except OSError as error:
        message = f"the names of {package} are read from {module.__file__}, which is missing"
        raise ImportError(f"{message}\n\nhint: install bayeslearn with its .py files") from error


class Deferred:
    """A module of another library, imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self._name), name)
        setattr(self, name, found)
        return found
