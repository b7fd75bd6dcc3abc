"""Naive Bayes for texts: words of a document are independent given its class.

    P(k | document) ∝ P(k) Π_w P(w|k)^n_w

    multinomial    P(w|k) = (n_kw + α_w) / (n_k + Σ_w α_w)            α = 1: (n_k + 1) / (n + |Vocabulary|)
    bernoulli      P(w in a document|k) = (d_kw + α_w) / (d_k + 2 α_w), and words that are not there speak too
    complement     1 / P(w|not k) in place of P(w|k), from the words of all other classes; a score, no probability

n_kw, d_kw and d_k are the statistics, α the prior: one number for every word, or one for each (α_w = m p_w). Words
outside the vocabulary are skipped. A document without words is judged by the prior of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import softmax

from bayeslearn import codec, kernels, validation
from bayeslearn.distributions import Dirichlet, DirichletRule
from bayeslearn.errors import CapacityError, EvidenceError, FormatError, ImpossibleDataError, ParameterError, ShapeError
from bayeslearn.model_values import ARRAY, NAME, NUMBER, PRIORS, plain_prior
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.parallel_counts import counted
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics
from bayeslearn.naive_bayes.text.text_inputs import Texts, warn_of_mended
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, HashedVocabulary, Vocabulary
from bayeslearn.naive_bayes.text.vocabulary_builder import Lexicon, spared

if TYPE_CHECKING:
    from collections.abc import Sized

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

Likelihood = Literal["multinomial", "bernoulli", "complement"]
LIKELIHOODS = ("multinomial", "bernoulli", "complement")

#: Numbers of the largest table that is written and read.
MAX_CELLS = 1 << 28

#: Documents that are scored together.
BLOCK = 1024

#: Words whose logarithms are taken together.
MANY = 1 << 14


@dataclass(frozen=True, eq=False)
class TextModel(codec.Saved, kind="text", version=3):
    """What was seen, what was believed before, and how texts are read.

    `prior` is α: a number for every word, a Dirichlet over the words, or a rule for one. `class_prior` is the same for
    the classes, where 0 makes P(k) the fraction of documents; or a tuple of probabilities, which stay as they are.
    """

    statistics: TextStatistics
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    likelihood: Likelihood = "multinomial"
    prior: float | Dirichlet | DirichletRule = 1.0
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "likelihood", validation.choice("likelihood", self.likelihood, LIKELIHOODS))
        if self.likelihood == "bernoulli" and self.statistics.present is None:
            raise ParameterError(
                "the Bernoulli likelihood needs the number of documents that hold a word",
                hint="collect with present=True",
            )
        alphas(self.prior, len(self.statistics.vocabulary), "prior")
        if isinstance(self.class_prior, tuple):
            if len(self.class_prior) != len(self.classes):
                raise ShapeError(f"`class_prior` has {len(self.class_prior)} entries for {len(self.classes)} classes")
            validation.probabilities(self.class_prior, name="class_prior")
        else:
            alphas(self.class_prior, len(self.classes), "class_prior")

    def __repr__(self) -> str:
        return f"TextModel({self.likelihood}, {self.statistics!r})"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes as they were written."""
        return self.statistics.classes

    @property
    def vocabulary(self) -> AnyVocabulary:
        """The words that are looked at."""
        return self.statistics.vocabulary

    # -- more or less evidence

    def update(self, statistics: TextStatistics) -> TextModel:
        """The model with more evidence."""
        return replace(self, statistics=self.statistics + statistics)

    def remove(self, statistics: TextStatistics) -> TextModel:
        """The model with less evidence."""
        return replace(self, statistics=self.statistics - statistics)

    # -- parameters

    @cached_property
    def log_p_classes(self) -> NDArray[np.float64]:
        """ln P(k), shape (K,)."""
        if isinstance(self.class_prior, tuple):
            p = validation.probabilities(self.class_prior, name="class_prior")
        else:
            seen = self.statistics.documents + alphas(self.class_prior, len(self.classes), "class_prior")
            if not seen.sum() > 0:
                raise EvidenceError(
                    "there is no document to tell how probable the classes are", hint="give a `class_prior` above 0"
                )
            p = seen / seen.sum()
        with np.errstate(divide="ignore"):
            return np.log(p)

    @property
    def log_p_words(self) -> NDArray[np.float64]:
        """What one more occurrence of a word adds to ln P(k, document), shape (K, V)."""
        return self._logs[0].T

    @cached_property
    def _logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with words first, (V, K), and what every document begins with, (K,)."""
        alpha = np.asarray(alphas(self.prior, len(self.vocabulary), "prior"))
        alpha = alpha[:, None] if alpha.ndim else alpha
        if self.likelihood == "bernoulli":
            assert self.statistics.present is not None
            yes = self.statistics.present.T + alpha
            no = self.statistics.documents - self.statistics.present.T + alpha
            total = _log(self.statistics.documents + 2 * alpha)
            there, absent = _log(yes) - total, _log(no) - total
            return np.ascontiguousarray(there - absent), absent.sum(axis=0)
        words = self.statistics.words.T
        logs = np.empty(words.shape)
        if self.likelihood == "complement":
            np.subtract(words.sum(axis=1, keepdims=True), words, out=logs)
            logs += alpha
        else:
            np.add(words, alpha, out=logs)
        total = logs.sum(axis=0)
        _take_logs(logs, _log(np.where(total > 0, total, 1.0)))
        if self.likelihood == "complement":
            np.negative(logs, out=logs)
        return logs, np.zeros(len(self.classes))

    # -- answers

    def count(self, texts: Any) -> DocumentCounts:
        """The words of texts that the model knows."""
        return count(texts, self.tokenizer, self.vocabulary)[0]  # type: ignore[arg-type]

    def log_joint(self, documents: Any) -> NDArray[np.float64]:
        """ln P(k, document), shape (n, K), of counts or of texts; those of a source are read batch by batch."""
        source = folded_documents(documents)
        if source is not None:
            return np.concatenate([self.log_joint(batch.texts) for batch in source.batches()])
        if isinstance(documents, DocumentCounts):
            return self._log_joint_of_counts(documents)
        texts = Texts.of(documents)
        into = np.empty((len(texts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]

        def work(span: Any) -> int:
            column, begin, end, before = span
            piece = column.piece(begin, end, lower=self.tokenizer.lower)
            part = counted(piece, self.tokenizer, self.vocabulary)  # type: ignore[arg-type]
            self._score(part.indptr, part.indices, part.counts, 0, into[before : before + end - begin])
            return piece.mended

        warn_of_mended(sum(kernels.parallel(work, texts.spans())), len(texts))
        return into

    def _log_joint_of_counts(self, counts: DocumentCounts) -> NDArray[np.float64]:
        if counts.n_words != len(self.vocabulary):
            raise ShapeError(f"the counts have {counts.n_words:,} words, the model has {len(self.vocabulary):,}")
        into = np.empty((len(counts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]
        kernels.parallel(
            lambda a: self._score(counts.indptr, counts.indices, counts.counts, a, into[a : a + BLOCK]),
            range(0, len(counts), BLOCK),
        )
        return into

    def _score(self, indptr: Any, indices: Any, counts: Any, first: int, into: NDArray[np.float64]) -> None:
        if self.likelihood == "bernoulli":
            counts = np.ones_like(counts)
        indptr, indices, counts = map(validation.lock, (indptr, indices, counts))
        kernels.score_documents(indptr, indices, counts, self._logs[0], first, into)

    def predict_proba(self, documents: Any) -> NDArray[np.float64]:
        """P(k | document), shape (n, K)."""
        return np.asarray(softmax(possible(self.log_joint(documents)), axis=1))

    def predict(self, documents: Any) -> list[Any]:
        """The most probable class of each document, the first when tied."""
        best = possible(self.log_joint(documents)).argmax(axis=1)
        return [self.classes[k] for k in best.tolist()]

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"likelihood", "tokenizer", "classes", "vocabulary": {"kind", "size", "letters", "lengths"}, "prior",
         "class_prior", "documents", "words": {"sizes", "classes", "values"}, "present": null or the same}

        Words are their letters in UTF-8 with the length of each. A table has for each word the number of classes that
        it is found in, then these classes and how often it is found in them.
        """
        require_table(self.classes, self.vocabulary)
        odd = [name for name in self.classes if not isinstance(name, str | int | float | bool)]
        if odd:
            raise FormatError(f"a class must be a text, a number or a truth value to be written, got {odd[0]!r}")
        known = self.statistics
        return {
            "likelihood": self.likelihood,
            "tokenizer": self.tokenizer.to_dict(),
            "classes": list(self.classes),
            "vocabulary": plain_vocabulary(known.vocabulary),
            "prior": plain_alpha(self.prior),
            "class_prior": plain_alpha(self.class_prior),
            "documents": known.documents,
            "words": plain_table(known.words),
            "present": None if known.present is None else plain_table(known.present),
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> TextModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "likelihood": str, "tokenizer": dict, "classes": [NAME], "vocabulary": dict, "prior": dict,
            "class_prior": dict, "documents": ARRAY, "words": dict, "present": (dict, type(None)),
        }  # fmt: skip
        likelihood, tokenizer, classes, words, prior, class_prior, documents, *tables = reader.entries(
            document, keys, "a model"
        )
        if set(tokenizer) != {"lower", "kind", "shortest", "ngrams"} or not isinstance(tokenizer["ngrams"], list):
            reader.wrong(f"'tokenizer' is {tokenizer!r:.80}")
        vocabulary = read_vocabulary(reader, words)
        require_table(classes, vocabulary)
        n = reader.amounts(documents, "documents", (len(classes),))
        found = [read_table(reader, t, len(vocabulary), len(classes)) for t in tables if t is not None]
        if len(found) > 1 and (found[1] > n[:, None] * (1 + 1e-9)).any():
            reader.wrong("a word is in more documents than there are")
        statistics = TextStatistics(tuple(classes), vocabulary, n, *found)
        priors = read_alpha(reader, prior, "prior"), read_alpha(reader, class_prior, "class_prior")
        return cls(statistics, Tokenizer(**tokenizer), likelihood, *priors)


def alphas(prior: Any, size: int, name: str) -> NDArray[np.float64]:
    """α: one number, or one for each of `size` entries."""
    if isinstance(prior, DirichletRule):
        return np.asarray(prior.per_state) if prior.per_state is not None else prior.of((size,)).alpha
    if isinstance(prior, Dirichlet):
        if prior.alpha.shape != (size,):
            raise ShapeError(
                f"`{name}` has α of shape {prior.alpha.shape}, expected ({size},)", hint="a number fits any size"
            )
        return prior.alpha
    return np.asarray(validation.number(name, prior, min_value=0))


def _log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln x, −∞ for 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def _take_logs(p: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """p = ln p − total where it stands, on every core."""

    def work(begin: int) -> None:
        block = p[begin : begin + MANY]
        with np.errstate(divide="ignore"):
            np.log(block, out=block)
        block -= total

    kernels.parallel(work, range(0, len(p), MANY))


def possible(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log probabilities of which each document has one that is not zero."""
    best = logs.max(axis=1, initial=-np.inf)
    impossible = ~np.isfinite(best)
    if impossible.any():
        row = int(validation.first_position(impossible))
        raise ImpossibleDataError(
            f"document {row} has words that no class can have together", hint="use a `prior` above 0", row=row
        )
    return logs


### files


def require_table(classes: Sized, vocabulary: Sized) -> None:
    """Refuse a table that is too large for a file."""
    if len(vocabulary) * len(classes) > MAX_CELLS:
        raise CapacityError(
            f"{len(vocabulary):,} words in {len(classes):,} classes are more than {MAX_CELLS:,} numbers",
            hint="fit with fewer words: min_count, max_size, or a smaller Hashed",
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


@codec.upgrade("text", 1)
def with_arrays_in_place(reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept all arrays apart from what they belong to, by their names."""
    parts = document.pop("parts", None)
    if not isinstance(parts, dict) or not isinstance(document.get("vocabulary"), dict):
        reader.wrong(f"its parts are {parts!r:.60}")
    present = ["present"] if document.pop("present", None) is True else []
    if document["vocabulary"].get("kind") == "words":
        document["vocabulary"] |= {key: parts.pop(key, None) for key in ("letters", "lengths")}
    for name in ("words", *present):
        document[name] = {key: parts.pop(f"{name}.{key}", None) for key in ("sizes", "classes", "values")}
    for name in ("prior", "class_prior"):
        own = {key: parts.pop(f"{name}.{key}") for key in ("alpha", "spread") if f"{name}.{key}" in parts}
        if isinstance(document.get(name), dict):
            document[name] = {key: value for key, value in {**document[name], **own}.items() if value is not None}
    return {"present": None, **document, "documents": parts.pop("documents", None), **parts}


codec.rename_keys("text", 2, {"tokeniser": "tokenizer"})
