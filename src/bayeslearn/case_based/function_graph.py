"""Function graphs (which quantity influences which, and in which direction) and the cases that have them.

    A →+ B    more of A is more of B            the signs of a chain multiply:    + · + = +
    A →− B    more of A is less of B                                              + · − = −    − · − = +

A graph may lead back to where it starts: A →+ B →− A is feedback, and a function like any other. Two things are
refused: a quantity that influences itself directly, and one that influences another in both directions.

A case is a function with its structure, which is any JSON value; a case without one is a specification. Attributes are
texts and numbers that describe the case; they count in similarity.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    ConflictingInfluenceError,
    CycleError,
    FormatError,
    ParameterError,
    listed,
)
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The kind of the source of an arc, its sign, and the kind of its target; None where a kind is not told.
Key: TypeAlias = tuple[str | None, int, str | None]

#: The largest graph that is taken, and the longest name.
MOST_NODES, MOST_ARCS, LONGEST_NAME = 200, 400, 200

#: A statement: names, an arrow, a sign, names.
STATEMENT = re.compile(r"^(?P<sources>[^→]+?)\s*(?:→|->)\s*(?P<sign>[+−-])\s*(?P<targets>[^→]+)$")

SIGNS = {"+": 1, "-": -1, "−": -1}


class Arc(NamedTuple):
    """An influence: of what, on what, and 1 or −1."""

    source: str
    target: str
    sign: int

    def __str__(self) -> str:
        return printable(f"{self.source} →{'+' if self.sign > 0 else '−'} {self.target}")


@dataclass(frozen=True)
class FunctionGraph:
    """What a thing does, as signed influences among quantities of some kinds.

    Arcs are statements, ``"Q1, Q2 ->+ Q3; T ->- Q3"``, or triples (source, target, sign). A quantity whose kind is not
    told may be of any kind. The order in which arcs are given does not matter.

    >>> pipe = FunctionGraph("Q1:flow, Q2:flow ->+ Q3:flow")
    >>> print(pipe)
    Q1 →+ Q3; Q2 →+ Q3
    >>> pipe.kinds["Q3"]
    'flow'
    """

    arcs: tuple[Arc, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __init__(self, arcs: Any, kinds: Mapping[str, str] | None = None) -> None:
        told: dict[str, str] = {}
        triples = sorted({arc for item in _items(arcs) for arc in _arcs(item, told)})
        for node, kind in _mapping(kinds).items():
            _tell(told, node, kind)
        object.__setattr__(self, "arcs", tuple(triples))
        object.__setattr__(self, "kinds", MappingProxyType(dict(sorted(told.items()))))
        self._check()

    def _check(self) -> None:
        if not self.arcs:
            raise ParameterError("a function graph needs at least one arc", hint='write, for instance, "A ->+ B"')
        for a, b in zip(self.arcs, self.arcs[1:], strict=False):
            if a[:2] == b[:2]:
                raise ConflictingInfluenceError(
                    f"{b} contradicts {a}", hint="take one out", source=a.source, target=a.target
                )
        for arc in self.arcs:
            if arc.source == arc.target:
                raise CycleError(
                    f"in {arc} a quantity influences itself",
                    hint=f"say through what: {arc.source} ->+ x, x ->- {arc.target}",
                    cycle=[arc.source, arc.target],
                )
        if unknown := sorted(set(self.kinds) - set(self.nodes)):
            raise ParameterError(f"kinds are told of {listed(unknown)}, which no arc names")
        if len(self.nodes) > MOST_NODES or len(self.arcs) > MOST_ARCS:
            size = f"{len(self.nodes)} quantities and {len(self.arcs)} arcs"
            raise CapacityError(f"a graph of {size}: at most {MOST_NODES} and {MOST_ARCS} are taken")

    def __hash__(self) -> int:
        return hash((self.arcs, tuple(self.kinds.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return FunctionGraph, (self.arcs, dict(self.kinds))  # a mapping proxy cannot be sent to another process

    def __str__(self) -> str:
        return printable("; ".join(map(str, self.arcs)))

    def __repr__(self) -> str:
        return f"FunctionGraph({str(self)!r}{f', {dict(self.kinds)!r}' if self.kinds else ''})"

    def __len__(self) -> int:
        return len(self.arcs)

    ### what is there

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The quantities, in the order of the alphabet."""
        return tuple(sorted({node for arc in self.arcs for node in arc[:2]}))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each quantity."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def kind_list(self) -> list[str | None]:
        """The kind of each quantity, None where it may be any."""
        return [self.kinds.get(node) for node in self.nodes]

    @cached_property
    def signs(self) -> dict[tuple[int, int], int]:
        """The sign of each arc, by the places of its ends."""
        return {(self.numbers[a], self.numbers[b]): sign for a, b, sign in self.arcs}

    @cached_property
    def keys(self) -> Counter[Key]:
        """How often each (kind, sign, kind) is joined by an arc."""
        return Counter((self.kinds.get(a), sign, self.kinds.get(b)) for a, b, sign in self.arcs)

    @cached_property
    def fingerprint(self) -> str:
        """The same for graphs that differ in names only, and for few others: colors refined by their neighbors."""
        colors = [_digest(kind) for kind in self.kind_list]
        for _ in range(min(len(self.nodes), 3)):
            around: list[list[str]] = [[] for _ in colors]
            for (a, b), sign in self.signs.items():
                around[a].append(f"{sign}>{colors[b]}")
                around[b].append(f"{sign}<{colors[a]}")
            colors = [_digest((own, sorted(near))) for own, near in zip(colors, around, strict=True)]
        return _digest(sorted(colors))

    ### others made of it

    def renamed(self, names: Mapping[str, str]) -> FunctionGraph:
        """The same with other names; those not mentioned stay."""
        new = {node: names.get(node, node) for node in self.nodes}
        if len(set(new.values())) < len(new):
            raise ParameterError(f"two quantities of {self} would have one name")
        arcs = [(new[a], new[b], sign) for a, b, sign in self.arcs]
        return FunctionGraph(arcs, {new[node]: kind for node, kind in self.kinds.items()})

    def part(self, arcs: Iterable[Arc]) -> FunctionGraph:
        """Some of its arcs, with the kinds of their ends."""
        arcs = list(arcs)
        ends = {node for arc in arcs for node in arc[:2]}
        return FunctionGraph(arcs, {node: kind for node, kind in self.kinds.items() if node in ends})


### reading


def graph_of(value: Any) -> FunctionGraph:
    """A graph, or what one can be made of."""
    return value if isinstance(value, FunctionGraph) else FunctionGraph(value)


def _items(arcs: Any) -> list[Any]:
    if isinstance(arcs, str):
        return [arcs]
    try:
        return list(arcs)
    except TypeError:
        raise ParameterError(f"arcs are statements or triples, got {arcs!r:.80}") from None


def _arcs(item: Any, told: dict[str, str]) -> Iterator[Arc]:
    """The arcs of a statement or a triple; kinds that it tells are noted."""
    if isinstance(item, str):
        for statement in filter(str.strip, re.split(r"[;\n]", item)):
            yield from _statement(statement.strip(), told)
    elif isinstance(item, tuple | list) and len(item) == 3:
        source, target, sign = item
        value = SIGNS.get(sign, sign) if isinstance(sign, str) else sign
        if isinstance(value, bool) or value not in (1, -1):
            raise ParameterError(f"the sign of an arc is + or -, got {sign!r:.40} in {item!r:.80}")
        yield Arc(_name(source), _name(target), int(value))
    else:
        raise ParameterError(f"an arc is a statement or a triple (source, target, sign), got {item!r:.80}")


def _statement(text: str, told: dict[str, str]) -> Iterator[Arc]:
    found = STATEMENT.match(text)
    if found is None:
        raise FormatError(
            f"{text!r:.120} is no influence", hint="write 'A, B ->+ C' or 'A ->- C', with a kind if you like: 'A:flow'"
        )
    sources, targets = ([_noted(name, told) for name in found[side].split(",")] for side in ("sources", "targets"))
    for source in sources:
        for target in targets:
            yield Arc(source, target, SIGNS[found["sign"]])


def _noted(word: str, told: dict[str, str]) -> str:
    """A name; its kind, where one follows, is noted."""
    name, colon, kind = (part.strip() for part in word.partition(":"))
    if colon:
        _tell(told, name, kind)
    return _name(name)


def _tell(told: dict[str, str], node: Any, kind: Any) -> None:
    _name(node)
    if not isinstance(kind, str) or not kind.strip() or len(kind) > LONGEST_NAME:
        raise ParameterError(f"the kind of {node!r} is a word, got {kind!r:.80}")
    if told.setdefault(node, kind) != kind:
        raise ConflictingInfluenceError(f"{node!r} is said to be both {told[node]!r} and {kind!r}")


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name or name != name.strip() or len(name) > LONGEST_NAME:
        raise ParameterError(f"the name of a quantity is a word of at most {LONGEST_NAME} letters, got {name!r:.80}")
    if found := re.search(r"[,;:\n→]|->", name):
        raise ParameterError(f"{name!r} cannot be the name of a quantity: {found[0]!r} has a meaning in statements")
    return name


def _mapping(kinds: Mapping[str, str] | None) -> dict[str, str]:
    try:
        return dict(kinds or {})
    except (TypeError, ValueError):
        raise ParameterError(f"kinds are told by quantity, {{'Q1': 'flow'}}, got {kinds!r:.80}") from None


def _digest(value: Any) -> str:
    return blake2b(repr(value).encode(), digest_size=12).hexdigest()


### cases


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
