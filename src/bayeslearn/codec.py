"""Models as files: every kind is saved and loaded by the same mechanism, and `load` opens any of them.

    {"format": "bayeslearn mixture", "version": 1, ...}

How such a document and its arrays stand in a file is decided by :mod:`bayeslearn.containers`; how its values are
checked before they are used, by :mod:`bayeslearn.model_values`. Files are written atomically and read within bounds,
and nothing in them is executed.

A model class derives from :class:`Saved` and defines two methods:

    class MixtureModel(Saved, kind="mixture"):
        def to_document(self): ...                      # values of JSON, and arrays
        @classmethod
        def from_document(cls, reader, document): ...   # checks them with a Reader

A changed layout is a new version, and a function registered by :func:`upgrade` makes the new layout of the old one.
"""

from __future__ import annotations

import importlib
import os
import re
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from bayeslearn import files
from bayeslearn.errors import BayeslearnError, CapacityError, FormatError, ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.model_values import Reader
    from bayeslearn.source_text import Source

    #: The kind of model that a file should hold, what reads its document, and the version of its layout.
    Expected = tuple[str, Callable[..., Any], int]

    #: A function from the document of one version to that of the next.
    Upgrade = Callable[[Reader, dict[str, Any]], dict[str, Any]]

T = TypeVar("T")

__all__ = ["Saved", "load", "read", "upgrade", "write"]

#: What the format of a file begins with.
PREFIX = "bayeslearn "

#: The module of each kind of model, imported when a file of the kind is opened.
KINDS = {
    "network": "bayeslearn.network.bayesian_network",
    "mixture": "bayeslearn.mixture.model",
    "hidden Markov model": "bayeslearn.hmm.model",
    "naive Bayes": "bayeslearn.naive_bayes.tabular.model",
    "one-dependence": "bayeslearn.naive_bayes.tabular.aode",
    "text": "bayeslearn.naive_bayes.text.model",
    "neighbors": "bayeslearn.neighbors.model",
    "forest": "bayeslearn.trees.model",
    "regression": "bayeslearn.regression.regression_model",
    "classification": "bayeslearn.regression.classification_model",
    "local regression": "bayeslearn.regression.local.model",
    "Bayes optimal": "bayeslearn.ensemble.model",
    "Bayes optimal regression": "bayeslearn.ensemble.regression_model",
    "online learner": "bayeslearn.online.base",
    "expert mixture": "bayeslearn.online.bayes_mixture",
    "network average": "bayeslearn.network.structure.uncertainty.model_averaging",
    "structure posterior": "bayeslearn.network.structure.uncertainty.structure_posterior",
    "online EM": "bayeslearn.network.parameters.online_em",
    "cases": "bayeslearn.case_based.case_base",
    "hypotheses": "bayeslearn.hypotheses.finite_space",
    "version space": "bayeslearn.hypotheses.concept_learning.version_space",
    "k-CNF": "bayeslearn.learning_theory.k_cnf",
}

#: Kinds of models as earlier versions named them.
RENAMED = {"neighbours": "neighbors"}

#: Bytes of a file in which its format stands, unless its keys are in another order.
HEAD = 512

#: Endings of names whose files are JSON.
JSON = (".json", ".json.gz")

#: Endings of names of formats that are not JSON, and the kind of model that such a file holds.
OTHER_FORMATS = {
    "network": (".bif", ".xmlbif", ".bifxml", ".xml", ".net", ".xdsl", ".uai"),
    "cases": (".yaml", ".yml"),
}

#: Endings of names of data, which no model is written to.
DATA = (".csv", ".tsv", ".txt", ".parquet", ".pq")

_classes: dict[str, type[Saved]] = {}
_upgrades: dict[tuple[str, int], Upgrade] = {}


class Saved:
    """The base of every model: `save` writes it to a file, `load` reads it back.

    A subclass names its kind, which follows "bayeslearn" in the entry `format` of files, and the version of its layout.
    """

    __slots__ = ()

    file_kind: ClassVar[str]
    file_version: ClassVar[int]

    def __init_subclass__(cls, *, kind: str | None = None, version: int = 1, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is not None:
            cls.file_kind, cls.file_version = kind, version
            _classes[kind] = cls

    def to_document(self) -> dict[str, Any]:
        """Return the model as a dictionary of values of JSON, and arrays."""
        raise NotImplementedError

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Self:
        """Return the model of a document, each of whose values `reader` checks."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; priors and statistics are kept, so that learning can go on.

        Parameters
        ----------
        path
            A name that ends in .json or .json.gz holds JSON. Any other name holds a packed file, in which large arrays
            are stored as bytes: smaller, and faster to read.
        """
        write(path, self.file_kind, self.to_document(), self.file_version)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model of this kind from a file, and check all of it; :func:`bayeslearn.load` opens any kind."""
        return read(path, cls.file_kind, cls.from_document, cls.file_version)


def upgrade(kind: str, version: int) -> Callable[[Upgrade], Upgrade]:
    """Register the function that makes a document of `version` one of the next version."""

    def register(function: Upgrade) -> Upgrade:
        _upgrades[kind, version] = function
        return function

    return register


def rename_keys(kind: str, version: int, keys: dict[str, str]) -> None:
    """Register the upgrade of `version` that renames keys, each written as a path: {"prior/m": "cases"}."""

    @upgrade(kind, version)
    def renamed(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
        for path, new in keys.items():
            *outer, old = path.split("/")
            entry: Any = parts
            for key in outer:
                entry = entry.get(key) if isinstance(entry, dict) else None
            if isinstance(entry, dict) and old in entry and new not in entry:
                entry[new] = entry.pop(old)
        return parts


#: Names of distributions in files of the first version.
RENAMED_DISTRIBUTIONS = {
    "normal": "gaussian", "student-t": "student_t", "von-mises": "von_mises", "negative-binomial": "negative_binomial",
}  # fmt: skip


def rename_values(document: dict[str, Any], key: str, names: dict[str, str]) -> dict[str, Any]:
    """Rename the texts that stand under a key, in all objects of a document."""
    pending: list[Any] = [document]
    while pending:
        entry = pending.pop()
        if isinstance(entry.get(key), str):
            entry[key] = names.get(entry[key], entry[key])
        for value in entry.values():
            pending += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]
    return document


### any kind


def load(path: str | os.PathLike[str]) -> Any:
    """Open a model of any kind.

    Parameters
    ----------
    path
        A file that `model.save` wrote; a network in any format of :func:`~bayeslearn.read_network`; a case base in
        JSON or YAML; or the name of a network or a case base that ships with the package.

    Returns
    -------
    The model: a :class:`~bayeslearn.BayesianNetwork`, a :class:`~bayeslearn.MixtureModel`, ...

    Raises
    ------
    InputFileNotFoundError
        There is no such file.
    FormatError
        The file holds no model, or one that a newer version wrote, or it is damaged.
    CapacityError
        The file, or what it unpacks to, is larger than what is read.

    Examples
    --------
    >>> load("asia")
    BayesianNetwork('asia': 8 variables, 8 arcs)
    """
    name = file_name(path)
    if not os.path.isfile(name):  # noqa: PTH113 - pathlib takes long to load
        datasets = importlib.import_module("bayeslearn.datasets")
        return class_of("cases" if name in datasets.list_case_bases() else "network").load(name)
    for kind, endings in OTHER_FORMATS.items():
        if name.lower().removesuffix(".gz").endswith(endings):
            return class_of(kind).load(name)
    return opened(name, None)


def kind_in_file(path: str | os.PathLike[str]) -> str:
    """Return the kind of the model that a file or a name stands for, from the head of the file where it has one.

    Examples
    --------
    >>> kind_in_file("asia")
    'network'
    """
    name = file_name(path)
    if not os.path.isfile(name):  # noqa: PTH113 - pathlib takes long to load
        datasets = importlib.import_module("bayeslearn.datasets")
        if name not in datasets.list_networks() and name not in datasets.list_case_bases():
            load(name)  # raises what is wrong with the name
        return "cases" if name in datasets.list_case_bases() else "network"
    for kind, endings in OTHER_FORMATS.items():
        if name.lower().removesuffix(".gz").endswith(endings):
            return kind
    from bayeslearn.containers import opened_document, stream_of  # noqa: PLC0415 - loads when a file is read

    with stream_of(name) as stream:
        head = re.match(rb'(?:\xef\xbb\xbf)?\s*{\s*"format"\s*:\s*("[^"\\]*")', stream.read(HEAD))
    found = None if head is None else kind_of({"format": head[1][1:-1].decode("utf-8", "replace")})
    if found is not None:
        return found
    with opened_document(name) as (document, source, _):
        return checked_head(name, document, source, None)[0].kind


def class_of(kind: str) -> type[Saved]:
    """The class of models of a kind."""
    if kind not in _classes:
        importlib.import_module(KINDS[kind])
    return _classes[kind]


### reading


def file_name(path: Any) -> str:
    """The name of a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"expected the name of a file, got {type(path).__name__} {path!r:.60}")
    return os.fsdecode(path)


def read(path: str | os.PathLike[str], kind: str, build: Callable[[Reader, dict[str, Any]], T], version: int = 1) -> T:
    """Return what `build` makes of the document of a file of this kind; errors name the file."""
    return opened(file_name(path), (kind, build, version))


def opened(name: str, expected: Expected | None) -> Any:
    """The model of a file: of the kind that is expected, or of any."""
    from bayeslearn.containers import opened_document  # noqa: PLC0415 - loads when a file is read

    with opened_document(name) as (document, source, read_arrays):
        reader, build, current = checked_head(name, document, source, expected)
        read_arrays()
    return built(reader, build, current)


def checked_head(name: str, document: Any, source: Source, expected: Expected | None) -> tuple[Reader, Any, int]:
    """A reader of a document whose kind and version are right, what builds the model, and the current version."""
    head = document if isinstance(document, dict) else {}
    found = kind_of(head)
    if expected is None and found is None:
        raise FormatError(
            f'{name!r} holds no model: expected {{"format": "{PREFIX}...", ...}}',
            hint=f"the kinds of models are {listed([*KINDS])}",
            path=name,
        )
    kind, build, current = expected or registered(str(found))
    if found is not None and found != kind:
        raise FormatError(
            f"{name!r} holds a model of the kind {found!r}, not {kind!r}",
            hint="bayeslearn.load(path) opens a model of any kind",
            path=name,
        )
    from bayeslearn.model_values import Reader  # noqa: PLC0415 - loads when a file is read

    reader = Reader(name, kind, source, head)
    if head.get("format") not in [PREFIX + kind, *(PREFIX + old for old, new in RENAMED.items() if new == kind)]:
        reader.wrong(f'expected {{"format": {PREFIX + kind!r}, ...}}')
    version = head.get("version")
    if type(version) is not int or not 1 <= version <= current:
        hint = "a newer bayeslearn may have written this file"
        reader.wrong(f"it has version {version!r:.20}, and this program reads up to {current}", hint=hint)
    return reader, build, current


def built(reader: Reader, build: Callable[..., T], current: int) -> T:
    """What `build` makes of a document, brought to the current version; errors name the file."""
    parts = {key: value for key, value in reader.document.items() if key not in {"format", "version"}}
    try:
        for version in range(reader.document["version"], current):
            parts = _upgrades[reader.kind, version](reader, parts)
        return build(reader, parts)
    except RecursionError:
        reader.wrong("lists or objects are nested too deeply")
    except BayeslearnError as error:
        if "path" in error.details or isinstance(error, CapacityError):
            raise
        raise FormatError(f"{reader.path!r}: {error.message}", hint=error.hint, path=reader.path) from None


def kind_of(document: dict[str, Any]) -> str | None:
    """The kind of model that a document names, if there is one of this name."""
    label = document.get("format")
    kind = label.removeprefix(PREFIX) if isinstance(label, str) and label.startswith(PREFIX) else None
    kind = RENAMED.get(kind or "", kind)
    return kind if kind in KINDS or kind in _classes else None


def registered(kind: str) -> Expected:
    """A kind, what reads its documents, and the version of its layout."""
    found = class_of(kind)
    return kind, found.from_document, found.file_version


### models within models


def nested(model: Saved) -> dict[str, Any]:
    """The document of a model that is a part of another model, with its kind and its version."""
    return {"format": PREFIX + model.file_kind, "version": model.file_version, **model.to_document()}


def nested_model(reader: Reader, entry: Any) -> Any:
    """The model of such a document, checked as a file of its kind is."""
    return built(*checked_head(reader.path, entry, reader.source, None))


### writing


def write(path: str | os.PathLike[str], kind: str, parts: dict[str, Any], version: int = 1) -> None:
    """Write a document to a file, atomically; see :meth:`Saved.save` for names of files."""
    from bayeslearn.containers import encoded  # noqa: PLC0415 - loads when a file is written

    require_model_name(path)
    name = file_name(path).lower()
    is_json = name.endswith(JSON)
    document = {"format": PREFIX + kind, "version": version, **parts}
    try:
        content = encoded(document, is_json=is_json)
    except ValueError as error:
        if isinstance(error, BayeslearnError):
            raise
        raise FormatError(f"cannot write {str(path)!r}: the model holds numbers that are not finite") from None
    if name.endswith(".json"):
        files.write(path, content)
        return
    import gzip  # noqa: PLC0415 - loads when a file is packed

    files.write(path, gzip.compress(content, compresslevel=9 if is_json else 1, mtime=0))


def require_model_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that stands for something else than a model."""
    name = file_name(path).lower().removesuffix(".gz")
    if name.endswith((*DATA, *(ending for endings in OTHER_FORMATS.values() for ending in endings))):
        raise ParameterError(
            f"cannot write a model to {file_name(path)!r}: its name stands for another format",
            hint="names end in .json or .json.gz, or in .model for a packed file",
        )
