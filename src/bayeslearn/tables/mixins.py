"""What estimators in scikit-learn's habit share when their rows are those of tables."""

from __future__ import annotations

from typing import Any


class TakesCells:
    """Cells may be numbers, words or missing, and scikit-learn is told so."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
