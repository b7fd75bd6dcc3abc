"""Case bases as files, which people write by hand.

    {"format": "bayeslearn cases", "version": 1,
     "cases": [{"name": "T-junction",
                "function": ["Q1, Q2 ->+ Q3", "T1, T2 ->+ T3"],       statements, or one text of them
                "kinds": {"Q1": "flow", ...},                         may be left out, or told in statements: "Q1:flow"
                "structure": ...,                                     any JSON; a case without it is a specification
                "attributes": {"material": "copper"}}],               may be left out
     "rules": [{"name": ..., "pattern": [...], "replacement": [...], "kinds": {...}}]}         may be left out

The same in YAML, where PyYAML is installed. Nothing in a file is executed; every part is checked, with an error that
names the case; and what is read is bounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeslearn import data, model_files
from bayeslearn.cases.base import CaseBase
from bayeslearn.cases.case import Case
from bayeslearn.cases.graph import FunctionGraph
from bayeslearn.cases.rules import Rule
from bayeslearn.errors import BayeslearnError, FormatError, MissingDependencyError, MissingFileError, ParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

LABEL = "bayeslearn cases"

YAML = (".yaml", ".yml")

#: Bytes of YAML that are read at most: it takes far more time and room than JSON.
MOST_YAML = 1 << 24

#: The parts of a case and of a rule; those that are True must be there.
CASE = {"name": True, "function": True, "kinds": False, "structure": False, "attributes": False}
RULE = {"name": True, "pattern": True, "replacement": True, "kinds": False}


### writing


def write(base: CaseBase, path: str | os.PathLike[str]) -> None:
    """Write a case base to a .json or .json.gz file, all or nothing."""
    cases = [
        {
            "name": case.name,
            **_plain(case.function, "function"),
            **({} if case.is_open else {"structure": case.structure}),
            **({"attributes": dict(case.attributes)} if case.attributes else {}),
        }
        for case in base
    ]
    rules = [
        {
            "name": rule.name,
            **_plain(rule.pattern, "pattern"),
            **_plain(rule.replacement, "replacement"),
            "kinds": {**rule.pattern.kinds, **rule.replacement.kinds},
        }
        for rule in base.rules
    ]
    model_files.write(path, LABEL, {"cases": cases, "rules": rules})


def _plain(graph: FunctionGraph, name: str) -> dict[str, Any]:
    return {name: [str(arc) for arc in graph.arcs], **({"kinds": dict(graph.kinds)} if graph.kinds else {})}


### reading


def read(path: str | os.PathLike[str]) -> CaseBase:
    """Read a case base, or one that ships, by its name."""
    place = Path(path)
    if not place.exists() and str(place) in data.case_bases():
        place = data.case_base(str(place))
    if not place.is_file():
        hint = f"case bases that ship: {', '.join(data.case_bases())}"
        raise MissingFileError(f"cannot read {str(place)!r}: there is no such file", hint=hint, path=place)
    reader = Reader(str(place), LABEL)
    try:
        return reader.base(reader.document(place))
    except BayeslearnError as error:
        if "path" in error.details or isinstance(error, MissingDependencyError):
            raise
        raise FormatError(f"{str(place)!r}: {error.message}", hint=error.hint, path=str(place)) from None


class Reader(model_files.Reader):
    """The parts of a case file, each checked before it is used."""

    def base(self, document: dict[str, Any]) -> CaseBase:
        """The base that a document describes."""
        self.check(document, {"cases": True, "rules": False}, "a document")
        cases = [self.case(i, entry) for i, entry in enumerate(self.entries_of(document, "cases"))]
        rules = [self.rule(i, entry) for i, entry in enumerate(self.entries_of(document, "rules"))]
        names = [case.name for case in cases]
        if len(set(names)) < len(names):
            self.wrong(f"two cases are named {next(name for name in names if names.count(name) > 1)!r}")
        return CaseBase(cases, rules)

    def entries_of(self, document: dict[str, Any], part: str) -> list[Any]:
        """A list of entries."""
        entries = document.get(part, [])
        if not isinstance(entries, list):
            self.wrong(f"{part!r} is a list, found {entries!r:.60}")
        return entries

    def check(self, entry: Any, keys: Mapping[str, bool], what: str) -> None:
        """Refuse what is no object, lacks a part, or has one that nobody knows."""
        if not isinstance(entry, dict):
            self.wrong(f"{what} is an object, found {entry!r:.60}")
        for key, needed in keys.items():
            if needed and key not in entry:
                self.wrong(f"{what} has no {key!r}")
        if unknown := [key for key in entry if key not in keys]:
            self.wrong(f"{what} has an unknown part {unknown[0]!r:.40}; there is {', '.join(keys)}")

    def case(self, i: int, entry: Any) -> Case:
        """One case."""
        self.check(entry, CASE, f"case {_called(entry, i)}")
        graph = self.graph(entry, "function", entry.get("kinds"), f"case {_called(entry, i)}")
        try:
            return Case(entry["name"], graph, entry.get("structure"), entry.get("attributes"))
        except BayeslearnError as error:
            self.wrong(error.message)

    def rule(self, i: int, entry: Any) -> Rule:
        """One rule; kinds are told of the quantities of both sides."""
        what = f"rule {_called(entry, i)}"
        self.check(entry, RULE, what)
        kinds = entry.get("kinds") or {}
        sides = [self.graph(entry, side, None, what) for side in ("pattern", "replacement")]
        if not isinstance(kinds, dict) or not set(kinds) <= {node for side in sides for node in side.nodes}:
            self.wrong(f"{what} tells kinds of quantities that it does not name: {kinds!r:.80}")
        told = {**kinds, **sides[1].kinds, **sides[0].kinds}
        try:
            graphs = [FunctionGraph(g.arcs, {node: told[node] for node in g.nodes if node in told}) for g in sides]
            return Rule(entry["name"], *graphs)
        except BayeslearnError as error:
            self.wrong(f"{what}: {error.message.removeprefix(f'{what}: ')}")

    def graph(self, entry: dict[str, Any], key: str, kinds: Any, what: str) -> FunctionGraph:
        """A function graph; an error names the case and the arc."""
        try:
            return FunctionGraph(entry[key], kinds)
        except BayeslearnError as error:
            kind = FormatError if type(error) is ParameterError else type(error)
            message = f"{self.path!r}: {what}: {error.message}"
            raise kind(message, hint=error.hint, path=self.path, **error.details) from None

    def _loaded(self, place: Path) -> Any:
        return self._yaml(place) if place.suffix.lower() in YAML else super()._loaded(place)

    def _yaml(self, place: Path) -> Any:
        try:
            from bayeslearn.cases.yaml_text import Loader, YAMLError  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingDependencyError(
                f"{self.path!r} is YAML, and the optional package 'PyYAML' is not installed",
                hint="pip install 'bayeslearn[yaml]', or write the same as JSON",
            ) from None
        with place.open("rb") as file:
            content = file.read(MOST_YAML + 1)
        if len(content) > MOST_YAML:
            self.wrong(f"it holds more than {MOST_YAML:,} bytes of YAML")
        loader = None
        try:
            loader = Loader(content.decode())
            return loader.get_single_data()
        except (YAMLError, ValueError, RecursionError) as error:
            self.wrong(f"this is not YAML: {' '.join(str(error).split())}"[:200])
        finally:
            if loader is not None:
                loader.dispose()


def _called(entry: Any, i: int) -> str:
    """The name of an entry, or its number."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return repr(name) if isinstance(name, str) else f"number {i + 1}"
