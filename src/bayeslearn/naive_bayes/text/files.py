r"""Models to and from files: a line of JSON that says what is there, then the numbers, all of it packed.

    {"format": "bayeslearn text", "version": 1, "parts": [{"name", "type", "length"}, ...], ...}\n
    bytes of the parts, one after the other

Words are UTF-8 with their lengths, tables are sparse rows (where, and how much); counts that are whole are written as
whole numbers. Nothing in a file is executed, every part is checked, and no more is unpacked than the head announces.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files
from bayeslearn.errors import FormatError, MissingFileError
from bayeslearn.families import Dirichlet, DirichletRule
from bayeslearn.naive_bayes.text.file_reading import LABEL, VERSION, Parts, Reader, require_room
from bayeslearn.naive_bayes.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

### writing


def write_text_model(model: TextModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, all or nothing."""
    parts: Parts = {}
    statistics = model.statistics
    require_room(model.classes, model.vocabulary, str(path))
    head = {
        "format": LABEL,
        "version": VERSION,
        "likelihood": model.likelihood,
        "tokeniser": model.tokeniser.to_dict(),
        "classes": [_plain(name) for name in model.classes],
        "vocabulary": _pack_vocabulary(statistics.vocabulary, parts),
        "prior": _pack_prior(model.prior, "prior", parts),
        "class_prior": _pack_prior(model.class_prior, "class_prior", parts),
        "present": statistics.present is not None,
    }
    parts["documents"] = statistics.documents
    _pack_table("words", statistics.words, parts)
    if statistics.present is not None:
        _pack_table("present", statistics.present, parts)
    small = {name: _smallest(part) for name, part in parts.items()}
    head["parts"] = [{"name": name, "type": p.dtype.str, "length": len(p)} for name, p in small.items()]
    line = json.dumps(head, ensure_ascii=True, allow_nan=False).encode() + b"\n"
    content = b"".join([line, *(part.tobytes() for part in small.values())])
    files.write(path, gzip.compress(content, compresslevel=1, mtime=0))


def _plain(name: Any) -> Any:
    if isinstance(name, str | int | float | bool):
        return name
    raise FormatError(f"a class must be a text, a number or a truth value to be written, got {name!r}")


def _pack_vocabulary(vocabulary: AnyVocabulary, parts: Parts) -> dict[str, Any]:
    if not isinstance(vocabulary, Vocabulary):
        return {"kind": type(vocabulary).__name__.lower(), "size": len(vocabulary)}
    lexicon = vocabulary.lexicon
    parts["letters"] = lexicon.words[: lexicon.ends[-1] if len(lexicon.ends) else 0]
    parts["lengths"] = np.diff(lexicon.ends, prepend=0)
    return {"kind": "words", "size": len(vocabulary)}


def _pack_prior(prior: Any, name: str, parts: Parts) -> dict[str, Any]:
    """A number, probabilities, a Dirichlet (its α a part), or a rule."""
    if isinstance(prior, Dirichlet):
        parts[f"{name}.alpha"] = prior.alpha
        return {"kind": "dirichlet"}
    if isinstance(prior, DirichletRule):
        if prior.spread is not None:
            parts[f"{name}.spread"] = prior.spread
        return {"kind": "rule", "per_state": prior.per_state, "per_row": prior.per_row, "per_table": prior.per_table}
    if isinstance(prior, tuple):
        return {"kind": "fixed", "p": [float(p) for p in prior]}
    return {"kind": "number", "value": float(prior)}


def _pack_table(name: str, table: NDArray[np.float64], parts: Parts) -> None:
    """Sparse rows: how many entries each word has, in which classes, and how large."""
    by_word = np.ascontiguousarray(table.T)
    seen = by_word != 0
    parts[f"{name}.sizes"] = seen.sum(axis=1)
    parts[f"{name}.classes"] = np.nonzero(seen)[1]
    parts[f"{name}.values"] = by_word[seen]


def _smallest(part: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest type that holds them."""
    whole = part.dtype.kind in "iu" or (np.isfinite(part).all() and (part == np.rint(part)).all())
    if whole and part.min(initial=0) >= 0:
        for kind in ("|u1", "<u2", "<u4"):
            if part.max(initial=0) <= np.iinfo(kind).max:
                return part.astype(kind)
    return part.astype("<i8" if part.dtype.kind in "iu" else "<f8")


### reading


def read_text_model(path: str | os.PathLike[str]) -> TextModel:
    """The model of a file."""
    place = Path(path)
    if not place.is_file():
        raise MissingFileError(f"cannot read {str(place)!r}: there is no such file", path=place)
    try:
        with gzip.open(place) as packed:
            return Reader(packed, str(place)).model()
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{str(place)!r} cannot be read: {error}", path=str(place)) from None
