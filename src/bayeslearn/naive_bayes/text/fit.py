"""Learning to classify texts: count, choose words, collect, and the model can be read off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.naive_bayes.text.document_counts import count
from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
from bayeslearn.naive_bayes.text.out_of_core import require_labeled, source_statistics
from bayeslearn.naive_bayes.text.prior_selection import pick_prior
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.text_sources import folded_documents, scan_texts
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeslearn.distributions import Dirichlet, DirichletRule
    from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary, Vocabulary
    from bayeslearn.tables.markers import Markers


def fit_text(
    texts: Any,
    labels: Any = None,
    *,
    text: str | None = None,
    label: str | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    tokenizer: Tokenizer | None = None,
    vocabulary: Vocabulary | HashedVocabulary | None = None,
    likelihood: Likelihood = "multinomial",
    prior: str | float | Dirichlet | DirichletRule | None = 1.0,
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
    min_count: float = 1,
    drop_top: int = 0,
    max_size: int | None = None,
) -> TextModel:
    """The model of texts with labels; or of the columns `text` and `label` of whatever :func:`scan_texts` takes.

    `na_values` and `keep_default_na` are the markers of missing values of these columns.

    >>> model = fit_text(["a cheap watch", "a meeting at noon"], ["spam", "ham"])
    >>> model.predict(["cheap, cheap!", "noon"])
    ['spam', 'ham']
    """
    tokenizer = tokenizer or Tokenizer()
    words: dict[str, Any] = {"min_count": min_count, "drop_top": drop_top, "max_size": max_size}
    counted: dict[str, Any] = {"classes": classes, "present": likelihood == "bernoulli"}
    if text is not None or label is not None:
        cells: dict[str, Any] = {"na_values": na_values, "keep_default_na": keep_default_na}
        texts, sample_weight = scan_texts(texts, text, label, sample_weight=sample_weight, **cells), None
    source = folded_documents(texts, labels=labels, sample_weight=sample_weight)
    if source is not None:
        statistics = require_labeled(source_statistics(source, tokenizer, vocabulary, **counted, **words))
        words = {} if vocabulary is None else words
    else:
        counts, found = count(texts, tokenizer, vocabulary)
        statistics = collect(counts, labels, vocabulary=found, sample_weight=sample_weight, **counted)
    kept = trimmed(statistics, **words)
    return TextModel(kept, tokenizer, likelihood, pick_prior(kept, prior, likelihood)[0], class_prior)


def trimmed(
    statistics: TextStatistics, *, min_count: float = 1, drop_top: int = 0, max_size: int | None = None
) -> TextStatistics:
    """The statistics of the words that are worth keeping (:func:`~.vocabulary.chosen`)."""
    if min_count <= 1 and not drop_top and max_size is None:
        return statistics
    kept = chosen(statistics.words.sum(axis=0), min_count=min_count, drop_top=drop_top, max_size=max_size)
    return statistics.only(kept)
