"""Text models as documents; see :mod:`bayeslearn.codec`.

    {"likelihood", "weighting", "weight_norm", "calibration": null or {"members", "class_offsets", "n_documents"},
     "tokenizer", "classes", "vocabulary": {"kind", "size", "letters", "lengths"}, "prior", "class_prior", "documents",
     "words": {"sizes", "classes", "values"}, "present": null or the same, "normalized": null or the same,
     "lineage": {"shares", "bases", "parts"}}                                     only where it was updated

Words are their letters in UTF-8 with the length of each. A table has for each word the number of classes that it is
found in, then these classes and its count in them. The statistics of a lineage have the same six keys. The offsets of
a calibration are those of the classes, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import CapacityError, FormatError
from bayeslearn.model_values import ARRAY, NAME, NUMBER, PRIORS, lineage_of, plain_lineage, plain_prior
from bayeslearn.naive_bayes.text.model import TextModel
from bayeslearn.naive_bayes.text.sufficient_statistics import OPTIONAL, TABLES, TextStatistics
from bayeslearn.naive_bayes.text.text_calibration import PoolMember, TextCalibration
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, HashedVocabulary, Vocabulary
from bayeslearn.naive_bayes.text.vocabulary_builder import Lexicon, spared

if TYPE_CHECKING:
    from collections.abc import Sized

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

#: The maximum number of entries of a table in a file.
MAX_CELLS = 1 << 28

#: The keys of statistics.
STATISTICS: dict[str, Any] = {
    "classes": [NAME], "vocabulary": dict, "documents": ARRAY, "words": dict, "present": (dict, type(None)),
    "normalized": (dict, type(None)),
}  # fmt: skip


def document_of(model: TextModel) -> dict[str, Any]:
    """The model as plain values."""
    require_table(model.classes, model.vocabulary)
    odd = [name for name in model.classes if not isinstance(name, str | int | float | bool)]
    if odd:
        raise FormatError(f"a class must be a text, a number or a truth value to be written, got {odd[0]!r}")
    known = plain_statistics(model.statistics)
    return {
        "likelihood": model.likelihood,
        "weighting": model.weighting,
        "weight_norm": model.weight_norm,
        "calibration": plain_calibration(model),
        "tokenizer": model.tokenizer.to_dict(),
        "classes": known["classes"],
        "vocabulary": known["vocabulary"],
        "prior": plain_alpha(model.prior),
        "class_prior": plain_alpha(model.class_prior),
        "documents": known["documents"],
        "words": known["words"],
        "present": known["present"],
        "normalized": known["normalized"],
        **plain_lineage(model.lineage, plain_statistics),
    }


def model_of(reader: Reader, document: dict[str, Any]) -> TextModel:
    """The model of a document, all of which is checked."""
    keys: dict[str, Any] = {
        "likelihood": str, "tokenizer": dict, "prior": dict, "class_prior": dict, "weighting": str,
        "weight_norm": bool, "calibration": (dict, type(None)), **STATISTICS,
    }  # fmt: skip
    likelihood, tokenizer, prior, class_prior, weighting, weight_norm, calibration, *_ = reader.model(document, keys)
    settings = {"case_sensitive", "analyzer", "min_token_length", "ngram_range"}
    if set(tokenizer) != settings or not isinstance(tokenizer["ngram_range"], list):
        reader.wrong(f"'tokenizer' is {tokenizer!r:.80}")
    statistics = read_statistics(reader, {key: document[key] for key in STATISTICS})
    priors = read_alpha(reader, prior, "prior"), read_alpha(reader, class_prior, "class_prior")
    lineage = None
    if "lineage" in document:
        try:
            lineage = lineage_of(document["lineage"], lambda entry: read_statistics(reader, entry))
        except ValueError as error:
            reader.wrong(f"its lineage cannot be read: {error}")
    learned = None if calibration is None else read_calibration(reader, calibration, statistics.classes)
    return TextModel(statistics, Tokenizer(**tokenizer), likelihood, *priors, lineage, weighting, weight_norm, learned)


def plain_statistics(known: TextStatistics) -> dict[str, Any]:
    """Statistics as plain values."""
    return {
        "classes": list(known.classes),
        "vocabulary": plain_vocabulary(known.vocabulary),
        "documents": known.documents,
        "words": plain_table(known.words),
        "present": None if known.present is None else plain_table(known.present),
        "normalized": None if known.normalized is None else plain_table(known.normalized),
    }


def plain_calibration(model: TextModel) -> dict[str, Any] | None:
    """The members, the offset of each class in order, and the number of documents."""
    if model.calibration is None:
        return None
    offsets = model.calibration.offsets(model.classes)
    return {**model.calibration.to_dict(), "class_offsets": offsets}


def read_calibration(reader: Reader, entry: dict[str, Any], classes: tuple[Any, ...]) -> TextCalibration:
    """A calibration, whose exponents are positive and whose offsets are finite."""
    keys: dict[str, Any] = {"members": [dict], "class_offsets": ARRAY, "n_documents": NUMBER}
    members, offsets, n_documents = reader.entries(entry, keys, "a calibration")
    found = []
    for member in members:
        kinds: dict[str, Any] = {"likelihood": str, "exponent": NUMBER, "prior": (*NUMBER, type(None))}
        likelihood, exponent, prior = reader.entries(member, kinds, "a member of a calibration")
        amounts = (exponent, 1.0 if prior is None else prior, n_documents)
        if likelihood not in ("multinomial", "complement") or not all(0 <= a < np.inf for a in amounts):
            reader.wrong(f"a member of its calibration is {member!r:.80}")
        found.append(PoolMember(likelihood, exponent, prior))
    shifts = reader.numbers(offsets, "class_offsets", (len(classes),))
    return TextCalibration(tuple(found), dict(zip(classes, shifts.tolist(), strict=True)), n_documents)


def read_statistics(reader: Reader, entry: Any) -> TextStatistics:
    """The statistics of an entry, all of which is checked."""
    entry = {"normalized": None, **entry} if isinstance(entry, dict) else entry  # a lineage of version 4 has none
    classes, words, documents, *given = reader.entries(entry, STATISTICS, "statistics")
    vocabulary = read_vocabulary(reader, words)
    require_table(classes, vocabulary)
    n = reader.amounts(documents, "documents", (len(classes),))
    tables = {
        name: read_table(reader, table, len(vocabulary), len(classes))
        for name, table in zip(TABLES, given, strict=True) if table is not None
    }  # fmt: skip
    if any((tables[name] > n[:, None] * (1 + 1e-9)).any() for name in OPTIONAL if name in tables):
        reader.wrong("a word is in more documents than there are")
    return TextStatistics(tuple(classes), vocabulary, n, **tables)


### parts


def require_table(classes: Sized, vocabulary: Sized) -> None:
    """Refuse a table that is too large for a file."""
    if len(vocabulary) * len(classes) > MAX_CELLS:
        raise CapacityError(
            f"{len(vocabulary):,} words in {len(classes):,} classes are more than {MAX_CELLS:,} numbers",
            hint="fit with fewer words: min_count, max_features or a smaller n_hash_features",
        )


def plain_vocabulary(vocabulary: AnyVocabulary) -> dict[str, Any]:
    """The words, or how many there may be."""
    if not isinstance(vocabulary, Vocabulary):
        return {"kind": "hashed" if isinstance(vocabulary, HashedVocabulary) else "columns", "size": len(vocabulary)}
    lexicon = vocabulary.lexicon
    letters = lexicon.words[: lexicon.ends[-1] if len(lexicon.ends) else 0]
    return {"kind": "words", "size": len(vocabulary), "letters": letters, "lengths": np.diff(lexicon.ends, prepend=0)}


def read_vocabulary(reader: Reader, entry: dict[str, Any]) -> AnyVocabulary:
    """Words that differ, in UTF-8."""
    kind, size = entry.get("kind"), entry.get("size")
    if kind in ("hashed", "columns"):
        _, size = reader.entries(entry, {"kind": str, "size": int}, "a vocabulary")
        return HashedVocabulary(size) if kind == "hashed" else ColumnVocabulary(size)
    if kind != "words":
        reader.wrong(f"'vocabulary' is {entry!r:.60}")
    keys: dict[str, Any] = {"kind": str, "size": int, "letters": ARRAY, "lengths": ARRAY}
    _, size, *arrays = reader.entries(entry, keys, "a vocabulary")
    letters = reader.amounts(arrays[0], "letters")
    sizes = reader.whole_numbers(arrays[1], "lengths", (size,))
    if letters.dtype != np.uint8:
        whole = reader.whole_numbers(arrays[0], "letters")
        if whole.max(initial=0) > 255:
            reader.wrong("a letter is no byte")
        letters = whole.astype(np.uint8)
    if letters.ndim != 1:
        reader.wrong("its words do not fit their lengths")
    lengths = validation.lengths("lengths", sizes, len(letters), of="letters", min_value=1)
    lexicon, _ = Lexicon.empty().joined(spared(letters), np.cumsum(lengths))
    if len(lexicon.ends) < size:
        reader.wrong("a word stands in its vocabulary twice")
    within = letters[np.cumsum(lengths[:-1])] & 0xC0 == 0x80 if size else np.zeros(0)  # a character is cut in two
    try:
        letters.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        within = np.ones(1)
    if within.any():
        reader.wrong("its words are not UTF-8")
    return Vocabulary(lexicon)


def plain_table(table: NDArray[np.float64]) -> dict[str, Any]:
    """A table (classes, words) by its entries that are not zero, word by word."""
    by_word = np.ascontiguousarray(table.T)
    seen = by_word != 0
    return {"sizes": seen.sum(axis=1), "classes": np.nonzero(seen)[1], "values": by_word[seen]}


def read_table(reader: Reader, entry: dict[str, Any], n_words: int, n_classes: int) -> NDArray[np.float64]:
    """A table (classes, words), whose entries are amounts."""
    sizes, classes, values = reader.entries(entry, dict.fromkeys(("sizes", "classes", "values"), ARRAY), "a table")
    found = reader.amounts(values, "values")
    if found.ndim != 1:
        reader.wrong("the values of a table are no list of numbers")
    per_word = validation.lengths("sizes", reader.whole_numbers(sizes, "sizes", (n_words,)), len(found))
    columns = validation.indices("classes", reader.whole_numbers(classes, "classes", found.shape), n_classes)
    table = np.zeros((n_words, n_classes))
    table[np.repeat(np.arange(n_words), per_word), columns] = found
    return table.T


def plain_alpha(prior: Any) -> dict[str, Any]:
    """A number, probabilities, a Dirichlet, or a rule."""
    if isinstance(prior, tuple):
        return {"kind": "fixed", "p": [float(p) for p in prior]}
    return plain_prior(prior) if type(prior) in PRIORS.values() else {"kind": "number", "value": float(prior)}


def read_alpha(reader: Reader, entry: dict[str, Any], name: str) -> Any:
    """The same, read back."""
    if entry.get("kind") == "number":
        return reader.entries(entry, {"kind": str, "value": NUMBER}, f"'{name}'")[1]
    if entry.get("kind") == "fixed":
        return tuple(reader.entries(entry, {"kind": str, "p": [NUMBER]}, f"'{name}'")[1])
    return reader.prior(entry, {kind: PRIORS[kind] for kind in ("dirichlet", "rule")}, of=f"'{name}'")
