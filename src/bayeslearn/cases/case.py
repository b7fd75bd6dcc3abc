"""A case: what a thing does, and how it is built. One whose structure is not known is a specification.

The structure is JSON of any kind, which comes back as it was given. Attributes are words and numbers that say more of
the thing as a whole; they count where cases are compared by likeness.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bayeslearn.cases.graph import LONGEST_NAME, FunctionGraph, graph_of
from bayeslearn.errors import BayeslearnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Letters of the JSON of a structure, and attributes, at most.
MOST_LETTERS, MOST_ATTRIBUTES = 1 << 22, 100


@dataclass(frozen=True, init=False, repr=False)
class Case:
    """A named function with its structure (None: not known yet) and attributes.

    >>> Case("seesaw", "left ->- right", {"parts": ["plank", "pivot"]}).structure["parts"]
    ['plank', 'pivot']
    """

    name: str
    function: FunctionGraph
    attributes: Mapping[str, Any]
    _text: str

    def __init__(
        self, name: str, function: Any, structure: Any = None, attributes: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise ParameterError(f"the name of a case is text of 1 to {LONGEST_NAME} letters, got {name!r:.80}")
        try:
            values = {
                "name": name,
                "function": graph_of(function),
                "attributes": MappingProxyType(_attributes(attributes)),
                "_text": _json_text(structure),
            }
        except BayeslearnError as error:
            raise type(error)(f"case {name!r}: {error.message}", hint=error.hint, **error.details) from None
        self.__dict__.update(values)

    @property
    def structure(self) -> Any:
        """How it is built: made anew each time, so that nobody changes a case from outside."""
        return json.loads(self._text)

    @property
    def is_open(self) -> bool:
        """Whether this is a specification: a function without a structure."""
        return self._text == "null"

    def __hash__(self) -> int:
        return hash((self.name, self.function, self._text))

    def __reduce__(self) -> tuple[Any, ...]:
        return Case, (self.name, self.function, self.structure, dict(self.attributes))

    def __repr__(self) -> str:
        return f"Case({self.name!r}, {str(self.function)!r})"


def specification(value: Any, name: str = "specification") -> Case:
    """What is asked for: a case, a function graph, or statements."""
    return value if isinstance(value, Case) else Case(name, value)


def many(n: int, what: str) -> str:
    """So many of something, in words."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _json_text(structure: Any) -> str:
    """The structure as JSON, from which it comes back as it was given."""
    try:
        text = json.dumps(structure, allow_nan=False)
        same = json.loads(text) == structure
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"the structure must be JSON: {error}"[:200]) from None
    if not same:
        raise ParameterError(
            f"the structure would not come back from JSON as it was given: {structure!r:.80}",
            hint="use dicts with text as keys, lists, text and numbers",
        )
    if len(text) > MOST_LETTERS:
        raise ParameterError(f"the structure has {len(text):,} letters as JSON, and at most {MOST_LETTERS:,} are kept")
    return text


def _attributes(value: Any) -> dict[str, Any]:
    try:
        pairs = dict(value or {})
    except (TypeError, ValueError):
        raise ParameterError(f"attributes are told by name, got {value!r:.80}") from None
    for name, what in pairs.items():
        fits = isinstance(what, str | int | bool) or (isinstance(what, float) and math.isfinite(what))
        if not isinstance(name, str) or not fits:
            raise ParameterError(f"attribute {name!r:.40} must be text or a finite number, got {what!r:.80}")
    if len(pairs) > MOST_ATTRIBUTES:
        raise ParameterError(f"{len(pairs)} attributes, and at most {MOST_ATTRIBUTES} are kept")
    return dict(sorted(pairs.items()))
