"""Names and libraries that are imported when they are first used.

A package writes each of its public names once, on a line in the form by which type checkers recognize a public name
(``import DAG as DAG``); :func:`attach` reads the names from there::

    if TYPE_CHECKING:
        from bayeslearn.network.dag import DAG as DAG
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
            from bayeslearn.other_names import hint  # noqa: PLC0415 - loads when an attribute is missing

            message = f"module {package!r} has no attribute {name!r}{hint(name, package)}"
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
        text = _source(package).replace("import (\n", "import ").replace(",\n    )", "")  # a long line, wrapped
        lines = [line.split() for line in text.splitlines()]
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


class Optional:
    """A module of a library that an extra installs.

    Parameters
    ----------
    name
        Name of the module.
    purpose
        What needs it, as the subject of a sentence in the plural: "databases".
    extra
        The extra of bayeslearn that installs the library.
    otherwise
        What the user can do instead, for the hint.
    """

    def __init__(self, name: str, purpose: str, extra: str, otherwise: str = "") -> None:
        self._name, self._purpose, self._extra, self._otherwise = name, purpose, extra, otherwise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # tools that look at every object ask for such names, and load nothing by it
            raise AttributeError(name)
        return getattr(self.load(), name)

    def load(self) -> Any:
        """Return the module; a named error where its library is not installed."""
        package = self._name.partition(".")[0]
        try:
            return importlib.import_module(self._name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != package:
                raise
        from bayeslearn.errors import MissingDependencyError  # noqa: PLC0415 - packages load without it

        raise MissingDependencyError(
            f"{self._purpose} need the optional package {package!r}, which is not installed",
            hint=f"pip install 'bayeslearn[{self._extra}]'{self._otherwise}",
        )

    def is_installed(self) -> bool:
        """Whether the library can be imported, without importing it."""
        from importlib.util import find_spec  # noqa: PLC0415 - packages load without it

        return find_spec(self._name.partition(".")[0]) is not None
