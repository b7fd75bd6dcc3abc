"""A case base: cases and rewrite rules.

    base + base      the cases and rules of both; two different cases of one name are an error

Files may be written by hand, too:

    {"cases": [{"name": "T-junction",
                "function": ["Q1, Q2 ->+ Q3", "T1, T2 ->+ T3"],       statements, or one text of them
                "kinds": {"Q1": "flow", ...},                         optional; or in statements: "Q1:flow"
                "structure": ...,                                     any JSON; without it, a specification
                "attributes": {"material": "copper"}}],               optional
     "rules": [{"name": ..., "pattern": [...], "replacement": [...], "kinds": {...}}]}                  optional
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeslearn import codec, datasets, files, lazy_imports
from bayeslearn.case_based.function_graph import Case, FunctionGraph, arcs_text, many
from bayeslearn.case_based.retrieval import CaseIndex
from bayeslearn.case_based.rewrite_rules import Rule
from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    FormatError,
    InputFileNotFoundError,
    MismatchError,
    ParameterError,
    UnknownColumnError,
    listed,
)
from bayeslearn.reports import Grid, Report, Reported, Words
from bayeslearn.source_text import Source
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TypeVar

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

    Named = TypeVar("Named", Case, Rule)

#: The most cases and rules of a base.
MAX_CASES, MAX_RULES = 100_000, 100

YAML = (".yaml", ".yml")

yaml: Any = lazy_imports.Optional("yaml", "case bases in YAML", "yaml", otherwise=", or write the same as JSON")

#: The most bytes of YAML, which takes more time and memory than JSON.
MAX_YAML = 1 << 24

#: The parts of a case and of a rule in a file; those that are True are required.
CASE = {"name": True, "function": True, "kinds": False, "structure": False, "attributes": False}
RULE = {"name": True, "pattern": True, "replacement": True, "kinds": False}


class CaseBase(codec.Saved, Reported, kind="cases"):
    """Cases and specifications (cases without a structure) by name, in alphabetical order.

    >>> pipes = CaseBase([Case("pipe", "in ->+ out", "a tube")])
    >>> base = pipes + CaseBase([Case("seesaw", "left ->- right", "a plank")])
    >>> base
    CaseBase(2 cases)
    >>> base["seesaw"].structure
    'a plank'
    """

    __slots__ = ("__dict__", "_entries", "rules")

    def __init__(self, cases: Iterable[Case] = (), rules: Iterable[Rule] = ()) -> None:
        self._entries = _by_name(cases, Case, MAX_CASES)
        #: The rewrite rules that come with the cases.
        self.rules = tuple(_by_name(rules, Rule, MAX_RULES).values())

    # -- files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CaseBase:
        """Read a file in JSON or YAML, or one that ships, by its name; and check all of it."""
        place = Path(path)
        if not place.exists() and str(place) in datasets.list_case_bases():
            place = datasets.case_base_path(str(place))
        if not place.is_file():
            hint = f"case bases that ship: {', '.join(datasets.list_case_bases())}"
            raise InputFileNotFoundError(f"cannot read {str(place)!r}: there is no such file", hint=hint, path=place)
        if place.suffix.lower() not in YAML:
            return super().load(place)
        expected = (cls.file_kind, cls.from_document, cls.file_version)
        return codec.built(*codec.checked_head(str(place), yaml_document(place), Source("", str(place)), expected))

    def to_document(self) -> dict[str, Any]:
        """Return the case base as plain values; see the module for how such files, also by hand, are written."""
        cases = [
            {
                "name": case.name,
                **plain_graph(case.function, "function"),
                **({} if case.is_open else {"structure": case.structure}),
                **({"attributes": dict(case.attributes)} if case.attributes else {}),
            }
            for case in self
        ]
        rules = [
            {
                "name": rule.name,
                **plain_graph(rule.pattern, "pattern"),
                **plain_graph(rule.replacement, "replacement"),
                "kinds": {**rule.pattern.kinds, **rule.replacement.kinds},
            }
            for rule in self.rules
        ]
        return {"cases": cases, "rules": rules}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> CaseBase:
        """Return the case base of a document; errors name the case."""
        check_keys(reader, document, {"cases": True, "rules": False}, "a document")
        lists = {part: document.get(part, []) for part in ("cases", "rules")}
        for part, entries in lists.items():
            if not isinstance(entries, list):
                reader.wrong(f"{part!r} is a list, found {entries!r:.60}")
        cases = [read_case(reader, i, entry) for i, entry in enumerate(lists["cases"])]
        rules = [read_rule(reader, i, entry) for i, entry in enumerate(lists["rules"])]
        names = [case.name for case in cases]
        if len(set(names)) < len(names):
            reader.wrong(f"two cases are named {next(name for name in names if names.count(name) > 1)!r}")
        return cls(cases, rules)

    # -- as a value

    def __add__(self, other: CaseBase) -> CaseBase:
        if not isinstance(other, CaseBase):
            return NotImplemented
        return CaseBase([*self._entries.values(), *other._entries.values()], [*self.rules, *other.rules])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CaseBase):
            return NotImplemented
        return self._entries == other._entries and self.rules == other.rules

    def __hash__(self) -> int:
        return hash((tuple(self._entries.values()), self.rules))

    def __reduce__(self) -> tuple[Any, ...]:
        return CaseBase, (tuple(self._entries.values()), self.rules)

    def __repr__(self) -> str:
        parts = {"case": self.cases, "specification": self.open, "rule": self.rules}
        found = [many(len(items), name) for name, items in parts.items() if items or name == "case"]
        return f"CaseBase({', '.join(found)})"

    # -- reports

    def report(self) -> Report:
        """Return the cases with their functions, specifications last, and the rules."""
        rows = [(case.name, "case", arcs_text(case.function.arcs)) for case in self.cases]
        rows += [(case.name, "specification", arcs_text(case.function.arcs)) for case in self.open]
        rules = Words([str(rule) for rule in self.rules], "Rules") if self.rules else None
        return Report(repr(self)[9:-1], Grid(["Name", "Kind", "Function"], rows), rules)

    def to_dict(self) -> dict[str, Any]:
        """Return all cases and rules as plain values."""
        return {"cases": [case.to_dict() for case in self], "rules": [str(rule) for rule in self.rules]}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each case: name, function, attributes."""
        names = sorted({name for case in self for name in case.attributes})
        rows = ((c.name, str(c.function), c.is_open, *(c.attributes.get(name) for name in names)) for c in self)
        return frame_of_rows(["name", "function", "is_open", *names], rows, backend)

    # -- cases

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Case:
        if name not in self._entries:
            near = get_close_matches(str(name), self._entries)
            hint = f"did you mean {listed(near)}?" if near else f"there is {listed(self._entries)}"
            raise UnknownColumnError(f"there is no case {name!r}", hint=hint)
        return self._entries[name]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases with a structure."""
        return tuple(case for case in self if not case.is_open)

    @cached_property
    def open(self) -> tuple[Case, ...]:
        """The specifications, whose structure is unknown."""
        return tuple(case for case in self if case.is_open)

    @cached_property
    def index(self) -> CaseIndex:
        """Counts of the features of the cases, by which few of them are compared."""
        return CaseIndex(self.cases)


def _by_name(items: Iterable[Named], kind: type[Named], max_items: int) -> dict[str, Named]:
    """All items in the order of their names; equal items are merged, different ones of one name are refused."""
    found: dict[str, Named] = {}
    for item in items:
        if not isinstance(item, kind):
            raise ParameterError(f"expected a {kind.__name__}, got {item!r:.80}")
        if found.setdefault(item.name, item) != item:
            raise MismatchError(
                f"two different {kind.__name__.lower()}s are named {item.name!r}",
                hint="give one of them another name",
                differs="cases",
            )
        if len(found) > max_items:
            raise CapacityError(f"a case base holds at most {max_items:,} {kind.__name__.lower()}s")
    return dict(sorted(found.items()))


### files


def plain_graph(graph: FunctionGraph, name: str) -> dict[str, Any]:
    """A function graph as statements, and the kinds of its quantities."""
    return {name: [str(arc) for arc in graph.arcs], **({"kinds": dict(graph.kinds)} if graph.kinds else {})}


def check_keys(reader: Reader, entry: Any, keys: Mapping[str, bool], what: str) -> None:
    """Refuse a value that is no object, lacks a part, or has an unknown one."""
    if not isinstance(entry, dict):
        reader.wrong(f"{what} is an object, found {entry!r:.60}")
    for key, needed in keys.items():
        if needed and key not in entry:
            reader.wrong(f"{what} has no {key!r}")
    if unknown := [key for key in entry if key not in keys]:
        reader.wrong(f"{what} has an unknown part {unknown[0]!r:.40}; there is {', '.join(keys)}")


def read_case(reader: Reader, i: int, entry: Any) -> Case:
    """One case."""
    what = f"case {name_of(entry, i)}"
    check_keys(reader, entry, CASE, what)
    graph = read_graph(reader, entry, "function", entry.get("kinds"), what)
    try:
        return Case(entry["name"], graph, entry.get("structure"), entry.get("attributes"))
    except BayeslearnError as error:
        reader.wrong(error.message)


def read_rule(reader: Reader, i: int, entry: Any) -> Rule:
    """One rule, with kinds of the quantities of both sides."""
    what = f"rule {name_of(entry, i)}"
    check_keys(reader, entry, RULE, what)
    kinds = entry.get("kinds") or {}
    sides = [read_graph(reader, entry, side, None, what) for side in ("pattern", "replacement")]
    if not isinstance(kinds, dict) or not set(kinds) <= {node for side in sides for node in side.nodes}:
        reader.wrong(f"{what} has kinds of quantities that it does not name: {kinds!r:.80}")
    known = {**kinds, **sides[1].kinds, **sides[0].kinds}
    try:
        graphs = [FunctionGraph(g.arcs, {node: known[node] for node in g.nodes if node in known}) for g in sides]
        return Rule(entry["name"], *graphs)
    except BayeslearnError as error:
        reader.wrong(f"{what}: {error.message.removeprefix(f'{what}: ')}")


def read_graph(reader: Reader, entry: dict[str, Any], key: str, kinds: Any, what: str) -> FunctionGraph:
    """A function graph; an error names the case and the arc."""
    try:
        return FunctionGraph(entry[key], kinds)
    except BayeslearnError as error:
        kind = FormatError if type(error) is ParameterError else type(error)
        message = f"{reader.path!r}: {what}: {error.message}"
        raise kind(message, hint=error.hint, path=reader.path, **error.details) from None


def name_of(entry: Any, i: int) -> str:
    """The name of an entry, or its number."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return repr(name) if isinstance(name, str) else f"number {i + 1}"


def yaml_document(place: Path) -> Any:
    """The document of a YAML file, which holds data only: no objects, and no aliases."""
    library, content, loader = yaml.load(), files.read(place, max_bytes=MAX_YAML), None

    class Loader(library.SafeLoader):  # type: ignore[misc, name-defined]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(library.AliasEvent):  # by which a small text could become a large one
                mark = self.peek_event().start_mark
                raise library.composer.ComposerError(None, None, "aliases are not read", mark)
            return super().compose_node(parent, index)

    try:
        loader = Loader(content.decode())
        return loader.get_single_data()
    except (library.YAMLError, ValueError, RecursionError) as error:
        why = f"this is not YAML: {' '.join(str(error).split())}"[:200]
        raise FormatError(f"{str(place)!r} holds no cases: {why}", path=str(place)) from None
    finally:
        if loader is not None:
            loader.dispose()
