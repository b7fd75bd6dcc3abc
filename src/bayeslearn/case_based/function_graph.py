"""Function graphs (signed influences among quantities) and cases, which have a function and a structure.

    A →+ B    more of A is more of B            the signs of a chain multiply:    + · + = +
    A →− B    more of A is less of B                                              + · − = −    − · − = +

A graph may have cycles: A →+ B →− A is feedback. A quantity that influences itself directly, and one that influences
another with both signs, are refused.

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

from bayeslearn import lazy_imports
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
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The kind of the source of an arc, its sign, and the kind of its target; None if a kind is not given.
Key: TypeAlias = tuple[str | None, int, str | None]

#: The largest graph, and the longest name.
MAX_NODES, MAX_ARCS, MAX_NAME_LENGTH = 200, 400, 200

#: A statement: names, an arrow, a sign, names.
STATEMENT = re.compile(r"^(?P<sources>[^→]+?)\s*(?:→|->)\s*(?P<sign>[+−-])\s*(?P<targets>[^→]+)$")

SIGNS = {"+": 1, "-": -1, "−": -1}


class Arc(NamedTuple):
    """An influence: source, target, and sign 1 or −1."""

    source: str
    target: str
    sign: int

    def __str__(self) -> str:
        return printable(f"{self.source} →{'+' if self.sign > 0 else '−'} {self.target}")


@dataclass(frozen=True, repr=False)
class FunctionGraph(Reported):
    """A function as signed influences among quantities of some kinds.

    Arcs are statements, ``"Q1, Q2 ->+ Q3; T ->- Q3"``, or triples (source, target, sign). A quantity without a kind may
    be of any kind. The order of the arcs has no effect.

    >>> pipe = FunctionGraph("Q1:flow, Q2:flow ->+ Q3:flow")
    >>> print(pipe)
    Q1 →+ Q3; Q2 →+ Q3
    >>> pipe.kinds["Q3"]
    'flow'
    """

    arcs: tuple[Arc, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __init__(self, arcs: Any, kinds: Mapping[str, str] | None = None) -> None:
        known: dict[str, str] = {}
        triples = sorted({arc for item in _items(arcs) for arc in _arcs(item, known)})
        for node, kind in _mapping(kinds).items():
            _note(known, node, kind)
        object.__setattr__(self, "arcs", tuple(triples))
        object.__setattr__(self, "kinds", MappingProxyType(dict(sorted(known.items()))))
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
                    hint=f"name a quantity between: {arc.source} ->+ x, x ->- {arc.target}",
                    cycle=[arc.source, arc.target],
                )
        if unknown := sorted(set(self.kinds) - set(self.nodes)):
            raise ParameterError(f"kinds are given for {listed(unknown)}, which no arc names")
        if len(self.nodes) > MAX_NODES or len(self.arcs) > MAX_ARCS:
            size = f"{len(self.nodes)} quantities and {len(self.arcs)} arcs"
            raise CapacityError(f"a graph of {size}: at most {MAX_NODES} and {MAX_ARCS} are allowed")

    def __hash__(self) -> int:
        return hash((self.arcs, tuple(self.kinds.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return FunctionGraph, (self.arcs, dict(self.kinds))  # a mapping proxy cannot be sent to another process

    def __str__(self) -> str:
        return printable("; ".join(map(str, self.arcs)))

    def __repr__(self) -> str:
        return f"FunctionGraph({str(self)!r}{f', {dict(self.kinds)!r}' if self.kinds else ''})"

    def report(self) -> Report:
        """Return the arcs with the kinds of their ends."""
        rows = [(a, self.kinds.get(a), "+" if sign > 0 else "−", b, self.kinds.get(b)) for a, b, sign in self.arcs]
        title = f"Function of {many(len(self.nodes), 'quantity').replace('ys', 'ies')} and {many(len(self), 'arc')}"
        return Report(title, Grid(["Source", "Kind", "Sign", "Target", "Kind of target"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return arcs as statements, and kinds, as plain values."""
        return {"function": [str(arc) for arc in self.arcs], "kinds": dict(self.kinds)}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each arc: source, target, sign."""
        return frame_of_rows(["source", "target", "sign"], map(tuple, self.arcs), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the graph (:func:`bayeslearn.plots.plot_function_graph`)."""
        return plots.plot_function_graph(self, ax=ax)

    def __len__(self) -> int:
        return len(self.arcs)

    ### arcs and quantities

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The quantities, in the order of the alphabet."""
        return tuple(sorted({node for arc in self.arcs for node in arc[:2]}))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The position of each quantity."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def kind_list(self) -> list[str | None]:
        """The kind of each quantity, None if it may be any."""
        return [self.kinds.get(node) for node in self.nodes]

    @cached_property
    def signs(self) -> dict[tuple[int, int], int]:
        """The sign of each arc, by the positions of its ends."""
        return {(self.numbers[a], self.numbers[b]): sign for a, b, sign in self.arcs}

    @cached_property
    def keys(self) -> Counter[Key]:
        """The number of arcs of each (kind, sign, kind)."""
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

    ### changed copies

    def rename(self, names: Mapping[str, str]) -> FunctionGraph:
        """Return the graph with other names; quantities without an entry keep theirs."""
        new = {node: names.get(node, node) for node in self.nodes}
        if len(set(new.values())) < len(new):
            raise ParameterError(f"two quantities of {self} would have one name")
        arcs = [(new[a], new[b], sign) for a, b, sign in self.arcs]
        return FunctionGraph(arcs, {new[node]: kind for node, kind in self.kinds.items()})

    def part(self, arcs: Iterable[Arc]) -> FunctionGraph:
        """Return the graph of some arcs, with the kinds of their ends."""
        arcs = list(arcs)
        ends = {node for arc in arcs for node in arc[:2]}
        return FunctionGraph(arcs, {node: kind for node, kind in self.kinds.items() if node in ends})


### reading


def graph_of(value: Any) -> FunctionGraph:
    """A graph, or the graph of statements or triples."""
    return value if isinstance(value, FunctionGraph) else FunctionGraph(value)


def _items(arcs: Any) -> list[Any]:
    if isinstance(arcs, str):
        return [arcs]
    try:
        return list(arcs)
    except TypeError:
        raise ParameterError(f"arcs are statements or triples, got {arcs!r:.80}") from None


def _arcs(item: Any, kinds: dict[str, str]) -> Iterator[Arc]:
    """The arcs of a statement or a triple; their kinds are added to `kinds`."""
    if isinstance(item, str):
        for statement in filter(str.strip, re.split(r"[;\n]", item)):
            yield from _statement(statement.strip(), kinds)
    elif isinstance(item, tuple | list) and len(item) == 3:
        source, target, sign = item
        value = SIGNS.get(sign, sign) if isinstance(sign, str) else sign
        if isinstance(value, bool) or value not in (1, -1):
            raise ParameterError(f"the sign of an arc is + or -, got {sign!r:.40} in {item!r:.80}")
        yield Arc(_name(source), _name(target), int(value))
    else:
        raise ParameterError(f"an arc is a statement or a triple (source, target, sign), got {item!r:.80}")


def _statement(text: str, kinds: dict[str, str]) -> Iterator[Arc]:
    found = STATEMENT.match(text)
    if found is None:
        raise FormatError(
            f"{text!r:.120} is no influence", hint="write 'A, B ->+ C' or 'A ->- C', with a kind if you like: 'A:flow'"
        )
    sources, targets = ([_noted(name, kinds) for name in found[side].split(",")] for side in ("sources", "targets"))
    for source in sources:
        for target in targets:
            yield Arc(source, target, SIGNS[found["sign"]])


def _noted(word: str, kinds: dict[str, str]) -> str:
    """A name; its kind, if one follows, is added to `kinds`."""
    name, colon, kind = (part.strip() for part in word.partition(":"))
    if colon:
        _note(kinds, name, kind)
    return _name(name)


def _note(kinds: dict[str, str], node: Any, kind: Any) -> None:
    _name(node)
    if not isinstance(kind, str) or not kind.strip() or len(kind) > MAX_NAME_LENGTH:
        raise ParameterError(f"the kind of {node!r} is a word, got {kind!r:.80}")
    if kinds.setdefault(node, kind) != kind:
        raise ConflictingInfluenceError(f"{node!r} has two kinds, {kinds[node]!r} and {kind!r}")


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name or name != name.strip() or len(name) > MAX_NAME_LENGTH:
        raise ParameterError(f"the name of a quantity is a word of at most {MAX_NAME_LENGTH} letters, got {name!r:.80}")
    if found := re.search(r"[,;:\n→]|->", name):
        raise ParameterError(f"{name!r} cannot be the name of a quantity: {found[0]!r} has a meaning in statements")
    return name


def _mapping(kinds: Mapping[str, str] | None) -> dict[str, str]:
    try:
        return dict(kinds or {})
    except (TypeError, ValueError):
        raise ParameterError(f"kinds are given by quantity, {{'Q1': 'flow'}}, got {kinds!r:.80}") from None


def _digest(value: Any) -> str:
    return blake2b(repr(value).encode(), digest_size=12).hexdigest()


### cases


#: Letters of the JSON of a structure, and attributes, at most.
MAX_LETTERS, MAX_ATTRIBUTES = 1 << 22, 100


@dataclass(frozen=True, init=False, repr=False)
class Case(Reported):
    """A named function with its structure (None: unknown) and attributes.

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
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise ParameterError(f"the name of a case is text of 1 to {MAX_NAME_LENGTH} letters, got {name!r:.80}")
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
        """The structure, as a new copy each time."""
        return json.loads(self._text)

    @property
    def is_open(self) -> bool:
        """Whether this is a specification: a function without a structure."""
        return self._text == "null"

    def report(self) -> Report:
        """Return the arcs, the kinds, the attributes and the structure."""
        structure = "unknown (a specification)" if self.is_open else shortened(self._text)
        kinds = ", ".join(f"{node}: {kind}" for node, kind in self.function.kinds.items())
        pairs = {"Function": arcs_text(self.function.arcs), "Kinds": kinds, **self.attributes, "Structure": structure}
        return Report(self.name, Pairs({name: value for name, value in pairs.items() if value != ""}))

    def to_dict(self) -> dict[str, Any]:
        """Return name, function, kinds, attributes and structure as plain values."""
        attributes = {"attributes": dict(self.attributes), "structure": self.structure}
        return {"name": self.name, **self.function.to_dict(), **attributes}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the function (:func:`bayeslearn.plots.plot_function_graph`)."""
        return plots.plot_function_graph(self, ax=ax)

    def __hash__(self) -> int:
        return hash((self.name, self.function, self._text))

    def __reduce__(self) -> tuple[Any, ...]:
        return Case, (self.name, self.function, self.structure, dict(self.attributes))

    def __repr__(self) -> str:
        return f"Case({self.name!r}, {str(self.function)!r})"


def specification(value: Any, name: str = "specification") -> Case:
    """The specification of a case, a function graph, or statements."""
    return value if isinstance(value, Case) else Case(name, value)


def many(n: int, what: str) -> str:
    """A number of things, in words."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def arcs_text(arcs: Iterable[Arc]) -> str:
    """Arcs in one line."""
    return "; ".join(map(str, arcs))


def mapping_text(mapping: Mapping[str, str]) -> str:
    """A mapping of quantities in one line."""
    return ", ".join(f"{a}→{b}" for a, b in mapping.items())


def shortened(text: str, max_length: int = 400) -> str:
    """The beginning of a text."""
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def _json_text(structure: Any) -> str:
    """The structure as JSON, which reads back as an equal value."""
    try:
        text = json.dumps(structure, allow_nan=False)
        same = json.loads(text) == structure
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"the structure must be JSON: {error}"[:200]) from None
    if not same:
        raise ParameterError(
            f"the structure does not read back from JSON as an equal value: {structure!r:.80}",
            hint="use dicts with text as keys, lists, text and numbers",
        )
    if len(text) > MAX_LETTERS:
        raise ParameterError(f"the structure has {len(text):,} letters as JSON; at most {MAX_LETTERS:,} are allowed")
    return text


def _attributes(value: Any) -> dict[str, Any]:
    try:
        pairs = dict(value or {})
    except (TypeError, ValueError):
        raise ParameterError(f"attributes are given by name, got {value!r:.80}") from None
    for name, what in pairs.items():
        fits = isinstance(what, str | int | bool) or (isinstance(what, float) and math.isfinite(what))
        if not isinstance(name, str) or not fits:
            raise ParameterError(f"attribute {name!r:.40} must be text or a finite number, got {what!r:.80}")
    if len(pairs) > MAX_ATTRIBUTES:
        raise ParameterError(f"{len(pairs)} attributes; at most {MAX_ATTRIBUTES} are allowed")
    return dict(sorted(pairs.items()))
