"""Fit a text model: count, choose words and a prior, and run EM if documents have no label.

    E   a document without a label belongs to class k with P(k | document)
    M   its words count for the class by that share, times `unlabeled_weight`

EM is in :mod:`bayeslearn.naive_bayes.text.em`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import progress as reporting
from bayeslearn import validation
from bayeslearn.errors import EmptyTableError, MissingValuesError, ParameterError
from bayeslearn.fit_info import with_fit_info
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.em import Documents, climbed
from bayeslearn.naive_bayes.text.held_out import Sample, shares_of
from bayeslearn.naive_bayes.text.labeled_documents import Labeled, require_classes
from bayeslearn.naive_bayes.text.labels import in_order
from bayeslearn.naive_bayes.text.out_of_core import FindWords, SampleLabeled, SourceDocuments, source_statistics
from bayeslearn.naive_bayes.text.prior_selection import require_prior_word
from bayeslearn.naive_bayes.text.results import TextFitInfo
from bayeslearn.naive_bayes.text.sufficient_statistics import OPTIONAL, TextStatistics, collect
from bayeslearn.naive_bayes.text.text_sources import folded_documents, scan_texts
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.variants import TextSettings
from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, HashedVocabulary, Vocabulary, chosen
from bayeslearn.progress import reports_progress
from bayeslearn.tables.markers import is_missing
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from bayeslearn.distributions import Dirichlet, DirichletRule
    from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.markers import Markers
    from bayeslearn.tables.source_protocol import Folded


#: The default markers of missing values.
MARKERS: dict[str, Any] = {"na_values": (), "keep_default_na": True}


@reports_progress("Fitting a text classifier")
def fit_text(
    data: Any,
    target: Any = None,
    *,
    text: str | None = None,
    likelihood: Likelihood = "auto",
    weighting: Literal["auto", "counts", "normalized", "tf_idf"] = "auto",
    weight_norm: bool = False,
    calibrate: bool | Literal["auto"] = "auto",
    prior: str | float | Dirichlet | DirichletRule | None = "evidence",
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
    unlabeled: Literal["em", "drop", "error"] = "em",
    unlabeled_weight: float = 1.0,
    tokenizer: Tokenizer | None = None,
    analyzer: str = "words",
    min_token_length: int = 2,
    case_sensitive: bool = False,
    ngram_range: tuple[int, int] | int = (1, 1),
    vocabulary: Vocabulary | HashedVocabulary | None = None,
    n_hash_features: int | None = None,
    min_count: float = 1,
    drop_top_words: int = 0,
    max_features: int | None = None,
    max_iter: int = 100,
    progress: Reporter | ProgressCallback | bool | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
) -> TextModel:
    """Fit a naive Bayes classifier to documents; documents without a label are used by EM.

    Parameters
    ----------
    data
        A list of texts, a :class:`Corpus`, a frame, a table, a file or a folder with a folder for each class, or a
        source (:func:`scan_texts`).
    target
        The label of each document, or the name of the column of labels. None, NaN, ``?`` and empty labels are missing.
        Labels may be shares (n, K) of `classes`; a row without any share, or with a NaN, is missing.
    text
        The column of texts; default: ``"text"``, or the only other column.
    likelihood
        ``"multinomial"`` counts words, ``"bernoulli"`` their presence, ``"complement"`` the words of other classes.
        ``"auto"`` selects weighting and likelihoods by their log loss on held-out documents, and calibrates them
        (:mod:`bayeslearn.naive_bayes.text.variants`); with fewer than 20 documents, another `prior` than
        ``"evidence"`` or ``calibrate=False`` it is ``"multinomial"``.
    weighting
        ``"counts"``, ``"normalized"``: ln(1 + count) in documents of length 1, or ``"tf_idf"``: the same times the
        inverse frequency of the word. ``"auto"`` selects, and is ``"counts"`` for a given likelihood.
    weight_norm
        Divide the weights of each class by their sum, as weight-normalized complement naive Bayes does.
    calibrate
        Learn exponents and class offsets from held-out documents, so that probabilities agree with frequencies;
        ``"auto"``: if likelihoods are selected.
    prior
        ``"evidence"``, ``"symmetric"``, ``"background"`` or ``"words"`` are selected by the marginal likelihood
        (:mod:`bayeslearn.naive_bayes.text.prior_selection`); ``"laplace"``, ``"m:2"``, None (maximum likelihood), a
        number (α of every word) or a Dirichlet.
    class_prior
        α of the classes: a number, a Dirichlet, or a tuple of fixed probabilities.
    classes
        All classes; default: those of the labels.
    sample_weight
        The weight of each document, or the name of a column.
    unlabeled
        Documents without a label: ``"em"`` uses them, ``"drop"`` drops them, ``"error"`` refuses them.
    unlabeled_weight
        The weight of a document without a label, from 0 to 1.
    tokenizer
        A :class:`Tokenizer` in place of the next four parameters.
    analyzer
        Tokens: ``"words"`` (letters, digits, _), ``"letters"``, ``"all"`` (words and other signs) or ``"spaces"``.
    min_token_length
        The minimum number of characters of a token.
    case_sensitive
        Whether upper and lower case differ.
    ngram_range
        The lengths of word sequences that are counted, as (minimum, maximum).
    vocabulary
        The words to count; default: all words of the documents.
    n_hash_features
        The number of features into which words are hashed, in place of a vocabulary.
    min_count, drop_top_words, max_features
        Words with a smaller count are dropped, then the most frequent ones; a maximum number of words is kept.
    max_iter
        The maximum number of iterations of EM.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    na_values, keep_default_na
        Markers of missing values of the columns.

    Returns
    -------
    TextModel
        The classifier; `fit_info` has the numbers of documents, the selected variant and prior, the history of EM and
        the distinguishing words of each class.

    Examples
    --------
    >>> model = fit_text(["a cheap watch", "a meeting at noon"], ["spam", "ham"])
    >>> model.predict(["cheap, cheap!", "noon"])
    ['spam', 'ham']
    """
    began = time.perf_counter()
    unlabeled = validation.choice("unlabeled", unlabeled, ["em", "drop", "error"])
    weight = validation.number("unlabeled_weight", unlabeled_weight, min_value=0, max_value=1)
    weight = weight if unlabeled == "em" else 0.0
    validation.integer("max_iter", max_iter, min_value=1)
    if isinstance(prior, str):
        require_prior_word(prior)
    settings = TextSettings(likelihood, weighting, weight_norm, calibrate, prior, class_prior)
    if n_hash_features is not None:
        if vocabulary is not None:
            raise ParameterError("`n_hash_features` and `vocabulary` exclude each other")
        vocabulary = HashedVocabulary(n_hash_features)
    tokenizer = tokenizer or Tokenizer(case_sensitive, analyzer, min_token_length, ngram_range)  # type: ignore[arg-type]
    words: dict[str, Any] = {
        "min_count": min_count, "drop_top_words": drop_top_words, "max_features": max_features
    }  # fmt: skip
    texts, labels, sample_weight = documents_of(
        data, target, text, sample_weight, {"na_values": na_values, "keep_default_na": keep_default_na}
    )
    given: dict[str, Any] = {"classes": classes, "unlabeled": weight, "tables": settings.tables}
    source = folded_documents(texts, labels=labels, sample_weight=sample_weight)
    if source is not None:
        ready = Ready.of_source(source, tokenizer, vocabulary, words, **given)
    else:
        half = reporting.part(progress, 0, 0.5, "counting words")  # type: ignore[arg-type]

        def counting(share: float) -> None:
            reporting.should_stop(half, share)  # only EM ends early

        ready = Ready.of(
            texts, labels, tokenizer, vocabulary, words, **given, sample_weight=sample_weight, counting=counting
        )
    if unlabeled == "error" and ready.n_missing:
        raise MissingValuesError(
            f"{ready.n_missing:,} documents have no label", hint='unlabeled="em" uses them, unlabeled="drop" drops them'
        )
    model, chosen = settings.model(ready.evidence, tokenizer)
    found = None
    if ready.n_unlabeled:
        em_progress = reporting.part(progress, 0.5, 1, "EM")  # type: ignore[arg-type]
        start = model if settings.is_generative else settings.generative.model(ready.evidence, tokenizer)[0]
        found = climbed(start, ready.hidden, max_iter=max_iter, progress=em_progress)  # type: ignore[arg-type]
        model = found.model.model
        model = model if settings.is_generative else settings.model(model.statistics, tokenizer)[0]
    model, selection = settings.judged(model, ready.sample)
    info = TextFitInfo(
        n_rows=ready.n_labeled + ready.n_missing, n_labeled=ready.n_labeled, n_unlabeled=ready.n_unlabeled,
        history=() if found is None else found.history, converged=found is None or found.converged,
        log_likelihood=None if found is None else found.log_likelihood, n_words=len(model.vocabulary),
        likelihood=model.likelihood, prior_selection=chosen, weighting=model.weighting,
        variant_selection=selection, _model=model,
    )  # fmt: skip
    return with_fit_info(model, replace(info, seconds=time.perf_counter() - began))


def documents_of(
    data: Any, target: Any, text: str | None, sample_weight: Any, markers: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """Texts or a source, their labels, and their weights; columns are found by their names."""
    if isinstance(data, Path | str) and Path(data).exists() and not isinstance(sample_weight, str):
        from bayeslearn.naive_bayes.text.corpus_readers import read_corpus  # noqa: PLC0415 - few texts come so

        return read_corpus(data, text, target, **markers), None, sample_weight
    columns = columns_in(data)
    if columns is not None:
        return columns_of(columns, target, text, sample_weight, markers)
    if not (isinstance(target, str) or text is not None or isinstance(data, str | os.PathLike)):
        return data, target, sample_weight
    if target is not None and not isinstance(target, str):
        raise ParameterError("`target` of a source is the name of a column", hint='target="label"')
    return scan_texts(data, text, target, sample_weight=sample_weight, **markers), None, None


def columns_in(data: Any) -> dict[str, Any] | None:
    """The columns of a frame or a dict by their names; None for other data."""
    import narwhals as nw  # noqa: PLC0415 - few texts come so

    if isinstance(data, Mapping):
        return {str(name): list(column) for name, column in data.items()}
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    return {name: frame[name].to_list() for name in frame.columns} if isinstance(frame, nw.DataFrame) else None


def columns_of(
    given: dict[str, Any], target: Any, text: str | None, sample_weight: Any, markers: dict[str, Any]
) -> tuple[list[str], Any, Any]:
    """The texts, labels and weights of a frame or a dict of columns."""
    from bayeslearn.tables.documents import LABEL, TEXT, DocumentMarkers  # noqa: PLC0415 - few texts come so

    label = target if target is None or isinstance(target, str) else None
    label = LABEL if target is None and LABEL in given else label
    others = [name for name in given if name not in {label, sample_weight}]
    if text is None and TEXT not in others and len(others) != 1:
        raise ParameterError(f"there are {len(others)} columns that may hold the texts", hint='text="body"')
    text = text or (TEXT if TEXT in others else others[0])
    weight = sample_weight if isinstance(sample_weight, str) else None
    require_known([name for name in (text, label, weight) if name is not None], list(given))
    cells = DocumentMarkers.of(**markers, text=text, label=label, names=list(given))
    texts = cells.texts(None if is_missing(cell) else cell for cell in given[text])
    labels = target if label is None else cells.labels(given[label])
    return texts, labels, sample_weight if weight is None else np.array(given[weight], dtype=float)


def statistics_of(
    data: Any, target: Any, text: str | None, sample_weight: Any, tokenizer: Tokenizer, vocabulary: Any,
    tables: dict[str, bool],
) -> TextStatistics:  # fmt: skip
    """The statistics of documents with labels; others are dropped."""
    texts, labels, w = documents_of(data, target, text, sample_weight, MARKERS)
    source = folded_documents(texts, labels=labels, sample_weight=w)
    if source is not None:
        return source_statistics(source, tokenizer, vocabulary, tables=tables).statistics
    words = {"min_count": 1, "drop_top_words": 0, "max_features": None}
    given: dict[str, Any] = {"classes": None, "unlabeled": 0.0, "tables": tables}
    return Ready.of(texts, labels, tokenizer, vocabulary, words, **given, sample_weight=w, counting=None).evidence


def collected(
    model: TextModel, data: Any, target: Any, text: str | None, sample_weight: Any, *, known_only: bool = False
) -> TextStatistics:
    """The statistics of documents with labels, as a model reads texts; only of its words if `known_only`."""
    if isinstance(data, TextStatistics):
        return data
    vocabulary = None if isinstance(model.vocabulary, Vocabulary) and not known_only else model.vocabulary
    tables = {name: getattr(model.statistics, name) is not None for name in OPTIONAL}
    return statistics_of(data, target, text, sample_weight, model.tokenizer, vocabulary, tables)


def labeled_texts(data: Any, target: Any, text: str | None) -> tuple[Any, Any]:
    """Texts in memory, and their labels."""
    texts, labels, _ = documents_of(data, target, text, None, MARKERS)
    source = folded_documents(texts, labels=labels)
    if source is None:
        return texts, labels
    batches = list(source.batches())
    return [t for b in batches for t in b.texts], [label for b in batches for label in b.labels]


def trimmed(
    statistics: TextStatistics, *, min_count: float = 1, drop_top_words: int = 0, max_features: int | None = None
) -> TextStatistics:
    """The statistics of selected words (:func:`~.vocabulary.chosen`)."""
    if min_count <= 1 and not drop_top_words and max_features is None:
        return statistics
    totals = statistics.words.sum(axis=0)
    kept = chosen(totals, min_count=min_count, drop_top_words=drop_top_words, max_features=max_features)
    return statistics.only(kept)


### counting


@dataclass(frozen=True, eq=False)
class Ready:
    """The statistics of documents with a label, and the documents without one."""

    evidence: TextStatistics
    hidden: Documents | SourceDocuments
    n_labeled: int
    #: Documents without a label, and those that EM uses.
    n_missing: int
    n_unlabeled: int
    #: Documents with a label for what is judged by held-out documents.
    sample: Callable[[], Sample]

    @classmethod
    def of(
        cls, texts: Any, labels: Any, tokenizer: Tokenizer, vocabulary: Vocabulary | HashedVocabulary | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabeled: float, tables: dict[str, bool],
        sample_weight: ArrayLike | None, counting: Callable[[float], object] | None,
    ) -> Ready:  # fmt: skip
        """The statistics and documents of texts in memory."""
        given = Labeled.of(texts, labels, classes, sample_weight)
        counts, found = counted(
            given.texts if unlabeled else given.only_known(), tokenizer, vocabulary, words, counting
        )
        if not (given.known.all() or (len(found) and len(counts.indices))):
            raise no_words(len(counts))
        known, unknown = (counts[given.known], counts[~given.known]) if unlabeled else (counts, counts[:0])
        w = given.sample_weight[given.known]
        evidence = collect(known, given.labels, vocabulary=found, classes=given.classes, sample_weight=w, **tables)
        hidden = Documents(
            evidence, unknown, unlabeled * given.sample_weight[~given.known] if unlabeled else np.zeros(0)
        )

        def sample() -> Sample:
            shares = shares_of(given.labels, given.classes)
            return Sample.of(known, found, shares, w, float(evidence.documents.sum()))

        return cls(evidence, hidden, len(known), int((~given.known).sum()), len(unknown), sample)

    @classmethod
    def of_source(
        cls, source: Folded[DocumentBatch], tokenizer: Tokenizer, vocabulary: Vocabulary | HashedVocabulary | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabeled: float, tables: dict[str, bool],
    ) -> Ready:  # fmt: skip
        """The statistics and documents of a source."""
        seen = source.fold(FindWords(tokenizer, vocabulary, labeled_only=not unlabeled))
        names = in_order(list(seen.classes)) if classes is None else tuple(classes)
        labeled = sum(seen.classes.values())
        require_classes(labeled, labeled + seen.unlabeled, names)
        found = seen.only(**words)
        if seen.unlabeled and (not len(found) or not seen.totals.any()):
            raise no_words(labeled + seen.unlabeled)
        evidence = source_statistics(source, tokenizer, found, classes=names, tables=tables)
        hidden = SourceDocuments(evidence.statistics, source, tokenizer, unlabeled, unlabeled * evidence.words)

        def sample() -> Sample:
            return source.fold(SampleLabeled(tokenizer, found, names, float(evidence.statistics.documents.sum())))

        return cls(evidence.statistics, hidden, labeled, seen.unlabeled, seen.unlabeled if unlabeled else 0, sample)


### counts


def counted(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary | HashedVocabulary | None,
    words: dict[str, Any],
    progress: Callable[[float], object] | None = None,
) -> tuple[DocumentCounts, AnyVocabulary]:
    """Counts of the selected words."""
    counts, found = count(texts, tokenizer, vocabulary, **(words if vocabulary is None else {}), progress=progress)
    if vocabulary is not None and isinstance(found, Vocabulary) and words != {
        "min_count": 1, "drop_top_words": 0, "max_features": None,
    }:  # fmt: skip
        kept = chosen(counts.totals, **words)
        counts, found = counts.only(kept), found.only(kept)
    return counts, found


def no_words(documents: int) -> EmptyTableError:
    """The error for documents without words."""
    return EmptyTableError(
        f"no word is left in {documents} documents", hint="lower `min_count` and `drop_top_words`, or check the texts"
    )
