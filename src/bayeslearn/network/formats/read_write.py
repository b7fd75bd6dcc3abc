"""Networks to and from files: the table of formats, and what all of them share.

A name that ends in .gz is compressed. Files are UTF-8, and written atomically.
"""

from __future__ import annotations

import importlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import codec, files, validation
from bayeslearn.capacity import BLANKS, require_parsed_room
from bayeslearn.errors import InputFileNotFoundError, ParameterError, joined, near
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.dag import as_network
from bayeslearn.source_text import Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Format:
    """One format: how its files end, what reads and writes them (as module.function), and what to know about it."""

    label: str
    endings: tuple[str, ...]
    reader: str
    writer: str
    about: str
    #: Bytes that a sign stands for; see :func:`require_parsed_room`.
    costs: Mapping[str, int]

    def read(self, source: Source) -> BayesianNetwork:
        """The network of a text."""
        require_parsed_room(source.text, self.costs, source.path or "this text")
        return loaded(self.reader)(source)

    def write(self, network: BayesianNetwork) -> str:
        """The text of a network."""
        return loaded(self.writer)(network)


def loaded(place: str) -> Any:
    """A function of a format, whose module is imported when the format is first used."""
    module, _, function = place.partition(".")
    return getattr(importlib.import_module(f"bayeslearn.network.formats.{module}"), function)


#: What words, elements and attributes become at most, as measured on texts that hold nothing else.
JSON: dict[str, int] = {}  # counted where JSON is read
BIF, NET, UAI = {BLANKS + ',"': 250}, {BLANKS + '"': 165}, {BLANKS: 280}
XML = {"<": 430, "=": 180, BLANKS: 120}

#: Every format by its label: what the command line, the errors and the documentation know of formats.
FORMATS = {
    entry.label: entry
    for entry in (
        Format(
            "json",
            (".json",),
            "bayeslearn_json.read_json",
            "bayeslearn_json.write_json",
            "our own: keeps types of states, counts, priors and notes",
            JSON,
        ),
        Format(
            "bif",
            (".bif",),
            "bif.read_bif",
            "bif.write_bif",
            "Interchange Format: bnlearn, pgmpy, aGrUM, JavaBayes",
            BIF,
        ),
        Format(
            "xmlbif",
            (".xmlbif", ".xml"),
            "xml_formats.read_xmlbif",
            "xml_formats.write_xmlbif",
            "Interchange Format in XML with its document type: SamIam, Weka, pgmpy",
            XML,
        ),
        Format(
            "bifxml",
            (".bifxml",),
            "xml_formats.read_xmlbif",
            "xml_formats.write_bifxml",
            "the same without a document type, for pyAgrum",
            XML,
        ),
        Format("net", (".net",), "hugin_net.read_net", "hugin_net.write_net", "HUGIN", NET),
        Format(
            "xdsl_agrum",
            (".agrum.xdsl",),
            "xml_formats.read_xdsl",
            "xml_formats.write_agrum_xdsl",
            "XDSL in the order of aGrUM, for pyAgrum",
            XML,
        ),
        Format("xdsl", (".xdsl",), "xml_formats.read_xdsl", "xml_formats.write_xdsl", "GeNIe and SMILE", XML),
        Format(
            "uai_agrum",
            (".agrum.uai",),
            "uai.read_uai",
            "uai.write_agrum_uai",
            "UAI in the order of aGrUM, for pyAgrum",
            UAI,
        ),
        Format(
            "uai",
            (".uai",),
            "uai.read_uai",
            "uai.write_uai",
            "inference competitions: numbers only, names are lost",
            UAI,
        ),
    )
}

#: The format of files whose names end in .model, which is no text: our own, packed as by :mod:`bayeslearn.codec`.
PACKED = "model"

#: Encodings that an XML file may declare and UTF-8 cannot read.
OTHER_ENCODINGS = {"iso-8859-1": "latin-1", "latin1": "latin-1", "windows-1252": "cp1252"}
DECLARED = re.compile(rb"""<\?xml[^>]{0,80}?encoding=["']([A-Za-z0-9-]{1,20})["']""")

#: Bytes of a network that are read at most. The largest published ones have less than 10⁷.
MAX_BYTES = 1 << 28

### files


def read_network(
    path: str | os.PathLike[str] | BayesianNetwork,
    *,
    format: str | None = None,  # noqa: A002
) -> BayesianNetwork:
    """The network of a file, or of the name of a network that ships with the package; a network is returned unchanged.

    >>> read_network("asia")
    BayesianNetwork('asia': 8 variables, 8 arcs)
    """
    if isinstance(path, BayesianNetwork):
        return path
    name = located(path)
    label = label_of(name, format)
    if label == PACKED:
        return codec.read(name, BayesianNetwork.file_kind, BayesianNetwork.from_document, BayesianNetwork.file_version)
    entry = FORMATS[label]
    return entry.read(Source(decoded(files.read(name, max_bytes=MAX_BYTES), name), name))


def write_network(
    network: BayesianNetwork,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a network to a file, in the format that its ending names; all or nothing."""
    network, path = as_network(network, numeric=True), as_path(path)
    label = label_of(path, format)
    if label == PACKED:
        codec.write(path, network.file_kind, network.to_document(), network.file_version)
        return
    content = format_network(network, label).encode()
    if path.suffix.lower() == ".gz":
        import gzip  # noqa: PLC0415 - loads when a file is packed

        content = gzip.compress(content, mtime=0)
    files.write(path, content)


### text


def parse_network(text: str, format: str) -> BayesianNetwork:  # noqa: A002
    """The network of a text in one of the formats.

    >>> parse_network("BAYES 1 2 1 1 0 2 0.2 0.8", "uai")["x0"].probabilities
    array([0.2, 0.8])
    """
    entry = FORMATS[validation.choice("format", format, FORMATS)]
    if not isinstance(text, str):
        raise ParameterError(
            f"expected the text of a network, got {type(text).__name__}", hint="read_network reads files"
        )
    half = re.search("[\ud800-\udfff]", text)
    if half:
        raise Source(text).error("half a character, which no file can hold", half.start())
    return entry.read(Source(text))


def format_network(network: BayesianNetwork, format: str) -> str:  # noqa: A002
    """The text of a network in one of the formats.

    >>> print(format_network(parse_network("BAYES 1 2 1 1 0 2 0.2 0.8", "uai"), "bif"))
    network unknown {
    }
    variable x0 {
      type discrete [ 2 ] { 0, 1 };
    }
    probability ( x0 ) {
      table 0.2, 0.8;
    }
    <BLANKLINE>
    """
    label = validation.choice("format", format, FORMATS)
    return FORMATS[label].write(as_network(network, numeric=label == "json"))


### names of files


def located(path: str | os.PathLike[str]) -> str:
    """Where the file is: as named, or among those that ship with the package."""
    require_path(path)
    if os.path.isfile(path):  # noqa: PTH113 - pathlib takes long to load
        return without_dots(os.fspath(path))
    place = as_path(path)
    from bayeslearn import datasets  # noqa: PLC0415 - loads when a file is not there

    if not place.exists() and str(place) in datasets.list_networks():
        return str(datasets.table_path(f"{place}.json"))
    what = "is a directory" if place.is_dir() else "there is no such file"
    close = near([place], datasets.list_networks(), 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise InputFileNotFoundError(
        f"cannot read {str(place)!r}: {what}",
        hint=f"{meant}looked in {place.absolute().parent}; networks that ship: {joined(datasets.list_networks(), 20)}",
        path=place,
    )


def require_path(path: Any) -> None:
    """Refuse what is not the name of a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"expected the name of a file, got {type(path).__name__} {path!r:.60}")


def as_path(path: Any) -> Path:
    """A path, or an error that names what was given."""
    from pathlib import Path  # noqa: PLC0415 - it takes long to load

    require_path(path)
    return Path(path)


def without_dots(name: str) -> str:
    """The name of a file as a path shows it: without needless dots and slashes."""
    return str(as_path(name)) if "//" in name or "./" in name else name


def label_of(path: str | os.PathLike[str], label: str | None) -> str:
    """The format of a file: as asked for, or by its ending."""
    if label is not None:
        return validation.choice("format", label, [*FORMATS, PACKED])
    name = os.fspath(path).lower()
    if name.endswith(f".{PACKED}"):
        return PACKED
    name = name.removesuffix(".gz")
    for entry in FORMATS.values():
        if name.endswith(entry.endings):
            return entry.label
    endings = ", ".join([*(ending for entry in FORMATS.values() for ending in entry.endings), f".{PACKED}"])
    raise ParameterError(
        f"cannot tell the format of {str(path)!r} by its name",
        hint=f"names end in {endings}, or one of these and .gz; or pass `format=`",
    )


def decoded(content: bytes, name: str) -> str:
    """The text of a file: UTF-8, or what an XML file declares."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        declared = DECLARED.match(content)
        encoding = OTHER_ENCODINGS.get(declared[1].decode().lower()) if declared else None
        if encoding:
            return content.decode(encoding, errors="replace")
        before = content[: error.start].decode("utf-8-sig", errors="replace")
        raise Source(before, name).error(
            f"this is not UTF-8 text: byte 0x{content[error.start]:02x} cannot be read",
            len(before),
            hint="save the file as UTF-8",
        ) from None
