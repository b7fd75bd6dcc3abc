"""What a fit of a text model found out, and text models as reports, dictionaries and frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.fit_info import FitInfo, plain
from bayeslearn.naive_bayes.text.explanation import explain_class
from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.prior_selection import Chosen
    from bayeslearn.naive_bayes.text.variants import Selection

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Words of each class that a report names, and words of each class in a frame.
MAX_WORDS, MAX_FRAME = 6, 50


@dataclass(frozen=True)
class TextClass:
    """A class: its documents, and the words that distinguish it."""

    label: Any
    n_documents: float
    top_words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class TextFitInfo(FitInfo):
    """What a fit of a text model found out.

    Attributes
    ----------
    n_labeled, n_unlabeled
        The number of documents with a label, and of those without that EM used.
    n_words
        The number of words of the model.
    likelihood
        ``"multinomial"``, ``"bernoulli"``, ``"complement"``, or ``"pooled"`` for several of them.
    prior_selection
        The prior that the marginal likelihood selected; None for a given one.
    weighting
        ``"counts"``, ``"normalized"`` or ``"tf_idf"``.
    variant_selection
        The variants with their log loss on held-out documents, and the calibration; None without held-out documents.
    """

    n_labeled: int = 0
    n_unlabeled: int = 0
    n_words: int = 0
    likelihood: str = "multinomial"
    prior_selection: Chosen | None = None
    weighting: str = "counts"
    variant_selection: Selection | None = None
    #: The model, whose words are compared when the classes are asked for.
    _model: TextModel | None = None

    @cached_property
    def classes(self) -> tuple[TextClass, ...]:
        """The classes, with their documents and distinguishing words."""
        return () if self._model is None else text_classes(self._model)

    def _computed(self) -> dict[str, Any]:
        return {"classes": plain(self.classes)}

    def _title(self) -> str:
        return f"Text classifier of {len(self.classes)} classes fitted to {self.n_rows:,} documents"

    def _pairs(self) -> dict[str, Any]:
        found: dict[str, Any] = {"Documents with a label": self.n_labeled}
        if self.n_unlabeled:
            found["Documents without a label"] = self.n_unlabeled
        found |= {"Words": self.n_words, "Likelihood": self.likelihood}
        if self.variant_selection is not None:
            members = self.variant_selection.calibration.members
            found |= {"Weighting": self.weighting, "Held-out documents": self.variant_selection.n_held_out}
            found["Exponents"] = ", ".join(f"{m.likelihood} {m.exponent:.4g}" for m in members)
        if self.prior_selection is not None:
            selected = self.prior_selection
            found["Prior"] = f"{selected.kind}, equivalent sample size {selected.strength:.4g} words per class"
        return found | super()._pairs()

    def _blocks(self) -> tuple[Any, ...]:
        grids = () if self.variant_selection is None else (variant_grid(self.variant_selection),)
        return (*grids, class_grid(self.classes))


def text_classes(model: TextModel) -> tuple[TextClass, ...]:
    """The classes of a model."""
    n_documents = model.statistics.documents.tolist()
    return tuple(TextClass(c, n, top_words(model, c)) for c, n in zip(model.classes, n_documents, strict=True))


def top_words(model: TextModel, label: Any) -> tuple[str, ...]:
    """The words that distinguish a class; none for hashed words."""
    if isinstance(model.vocabulary, HashedVocabulary) or len(model.classes) < 2:
        return ()
    return tuple(word.word for word in explain_class(model, label, MAX_WORDS).top_positive)


def class_grid(classes: tuple[TextClass, ...]) -> Grid:
    """The classes, their documents and words, as a block."""
    rows = [(c.label, c.n_documents, ", ".join(c.top_words)) for c in classes]
    return Grid(["Class", "Documents", "Top words"], rows, "Classes")


def variant_grid(selection: Selection) -> Grid:
    """The variants and how they predict held-out documents, as a block."""
    rows = [(v.weighting, " and ".join(v.likelihoods), v.accuracy, v.log_loss) for v in selection.variants]
    return Grid(["Weighting", "Likelihoods", "Accuracy", "Log loss"], rows, "Variants on held-out documents")


def report_of(model: TextModel) -> Report:
    """Return the classes of a model and their words."""
    title = f"Text classifier of {len(model.classes)} classes and {len(model.vocabulary):,} words"
    pairs: dict[str, Any] = {"Likelihood": model.likelihood, "Documents": round(model.total_weight, 6)}
    if model.calibration is not None:
        pairs |= {"Weighting": model.weighting, "Calibrated on documents": model.calibration.n_documents}
    return Report(title, Pairs(pairs), class_grid(text_classes(model)))


def plain_model(model: TextModel) -> dict[str, Any]:
    """Return classes, words and settings as plain values."""
    return {
        "likelihood": model.likelihood, "weighting": model.weighting, "weight_norm": model.weight_norm,
        "calibration": plain(model.calibration), "n_documents": model.total_weight, "n_words": len(model.vocabulary),
        "tokenizer": model.tokenizer.to_dict(), "classes": plain(text_classes(model)),
        "class_probabilities": dict(zip(map(str, model.classes), np.exp(model.log_p_classes).tolist(), strict=True)),
    }  # fmt: skip


def frame_of_model(model: TextModel, backend: Literal["pandas", "polars", "pyarrow"]) -> Any:
    """Return a frame with a row for each distinguishing word of each class."""
    rows = [
        (c, word.word, word.count, word.log_odds)
        for c in model.classes
        for word in explain_class(model, c, MAX_FRAME).top_positive
    ]
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return frame_of(dict(zip(("class", "word", "count", "log_odds"), map(list, columns), strict=True)), backend)
