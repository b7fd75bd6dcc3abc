"""Our own format: JSON that keeps everything, with counts and priors of the tables.

    {"format": "bayeslearn network", "version": 1, "name": ..., "notes": [...],
     "variables": [{"name", "kind": "discrete", "states", "cuts"?, "interval_values"?, "read_as"?, "origin"?}, ...],
     "cpts": [{"variable", "parents", "p", "counts"?, "prior"?, "prior_rule"?}, ...],
     "lineage"?: {"shares": {name: share, ...}, "bases": [name, ...],
                  "parts": [{"names", "share", "n_updates", "counts": {variable: [...], ...}}, ...]}}

``p``, ``counts`` and ``prior`` (the α of a Dirichlet) are nested lists, the parents in order, the variable innermost,
with as many digits as give the same numbers back. ``prior_rule`` gives the prior of a table that gains states:
``{"per_table": 1.0}``, ``{"per_row": 2.0, "spread": [...]}`` or ``{"per_state": 1.0}``. ``lineage`` is what the
counts are made of (:mod:`bayeslearn.distributions.lineage`); files of before have ``bases``, the counts of networks
that this one was updated from. States keep their type: text, number or truth value. Unknown and repeated keys,
NaN and Infinity are refused.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Counts, Dirichlet, DirichletRule, StatisticsBundle
from bayeslearn.distributions.categorical import TablePrior
from bayeslearn.errors import FormatError, listed
from bayeslearn.network.formats.network_builder import Draft
from bayeslearn.strict_json import Step, loaded, locate
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT
    from bayeslearn.source_text import Source

LABEL = "bayeslearn network"
VERSION = 1

#: Keys of each part: those that must be there, and those that may.
KEYS = {
    "network": (("format", "version", "variables", "cpts"), ("name", "notes", "lineage", "bases", "numeric_nodes")),
    "numeric node": (("variable", "parents", "intercept", "coef", "var"), ("scale", "statistics", "prior")),
    "numeric variable": (("name", "kind"), ("read_as", "origin")),
    "moments": (("n", "mean", "scatter"), ()),
    "regression prior": (("kappa", "center", "scatter", "alpha"), ()),
    "base": (("share", "counts"), ()),
    "variable": (("name", "kind", "states"), ("cuts", "interval_values", "read_as", "origin")),
    "table": (("variable", "parents", "p"), ("counts", "prior", "prior_rule")),
    "prior rule": ((), ("per_state", "per_row", "per_table", "spread")),
}

### reading


def read_json(source: Source) -> BayesianNetwork:
    """The network of a JSON text."""
    return reader_of(source).network()


def reader_of(source: Source, document: Any = None, place: tuple[Step, ...] = ()) -> Reader:
    """The reader of a document: of states, or of states and numbers."""
    document = loaded(source) if document is None else document
    if isinstance(document, dict) and "numeric_nodes" in document:
        from bayeslearn.network.hybrid.serialization import HybridReader  # noqa: PLC0415 - most networks have no numbers

        return HybridReader(source, document, place)
    return Reader(source, document, place)


class Reader:
    """The parts of the document, each checked before it is used; a path of keys and positions is its place."""

    def __init__(self, source: Source, document: Any = None, place: tuple[Step, ...] = ()) -> None:
        self.source, self.place = source, place
        self.document = loaded(source) if document is None else document
        self.draft = Draft(source)
        self.rests: dict[str, dict[str, NDArray[np.float64]]] = {}
        self.rules: dict[str, DirichletRule] = {}

    def wrong(self, message: str, *path: Step, hint: str | None = None) -> FormatError:
        """An error at a part of the document."""
        return self.source.error(message, locate(self.source.text, (*self.place, *path)), hint=hint)

    def network(self) -> BayesianNetwork:
        """The whole document."""
        self.head()
        self.draft.name = self.text(self.document.get("name", "unknown"), "name")
        given = self.items(self.document.get("notes", []), "notes")
        notes = [self.text(note, "notes", i) for i, note in enumerate(given)]
        for i, entry in enumerate(self.items(self.document["variables"], "variables")):
            self.variable(entry, "variables", i)
        for i, entry in enumerate(self.items(self.document["cpts"], "cpts")):
            self.table(entry, "cpts", i)
        network = self.draft.network()
        new = [note for note in network.notes if note not in notes]
        cpts = tuple(self.grounded(cpt) for cpt in network)
        return replace(network, cpts=cpts, notes=(*notes, *new), lineage=self.lineage(cpts))

    def lineage(self, cpts: tuple[CPT, ...]) -> Lineage | None:
        """What the counts are made of; in files of before, the counts of networks that this one was updated from."""
        if "lineage" not in self.document and "bases" not in self.document:
            return None
        from bayeslearn.distributions.lineage import of_snapshots  # noqa: PLC0415 - most files have none
        from bayeslearn.model_values import lineage_of  # noqa: PLC0415

        if "lineage" in self.document:
            try:
                return lineage_of(
                    self.document["lineage"], lambda entry: self.all_counts(entry, cpts, "lineage"), "counts"
                )
            except ValueError as error:
                raise self.wrong(f"this lineage cannot be read: {error}", "lineage") from None
        entries = self.items(self.document.get("bases", []), "bases")
        found = [self.snapshot(entry, cpts, "bases", i) for i, entry in enumerate(entries)]
        return of_snapshots(found, StatisticsBundle({cpt.name: cpt.observed_counts for cpt in cpts if cpt.is_learned}))

    def snapshot(self, entry: Any, cpts: tuple[CPT, ...], *path: Step) -> tuple[float, StatisticsBundle]:
        """The counts of a network that this one was updated from, and the share of them that is in it."""
        self.keys(entry, "base", *path)
        share = float(self.amounts(entry["share"], (), *path, "share"))
        if share == 0:
            raise self.wrong("expected a share above 0", *path)
        return share, self.all_counts(entry["counts"], cpts, *path, "counts")

    def all_counts(self, counts: Any, cpts: tuple[CPT, ...], *path: Step) -> StatisticsBundle:
        """Counts of every table that was learned."""
        shapes = {cpt.name: cpt.shape for cpt in cpts if cpt.is_learned}
        if not isinstance(counts, dict) or set(counts) != set(shapes):
            raise self.wrong(f"expected the counts of {listed(shapes)}", *path)
        return StatisticsBundle(
            {name: Counts(self.amounts(counts[name], shape, *path)) for name, shape in shapes.items()}
        )

    def head(self) -> None:
        """The format and its version."""
        label = self.document.get("format") if isinstance(self.document, dict) else None
        if label != LABEL:
            raise self.wrong(f'expected {{"format": {LABEL!r}, ...}}, found {self.document!r:.60}')
        version = self.document.get("version")
        if version != VERSION or isinstance(version, bool):
            raise self.wrong(
                f"expected version {VERSION}, found {version!r}",
                *(["version"] if "version" in self.document else []),
                hint="a newer bayeslearn may have written this file",
            )
        self.keys(self.document, "network")

    # -- kinds of values

    def keys(self, entry: Any, what: str, *path: Step) -> dict[str, Any]:
        """An object with the keys it must have, and no others."""
        needed, allowed = KEYS[what]
        if not isinstance(entry, dict):
            raise self.wrong(f"expected the object of a {what}, found {entry!r:.60}", *path)
        missing = [key for key in needed if key not in entry]
        odd = [key for key in entry if key not in {*needed, *allowed}]
        if missing or odd:
            problem = f"lacks {listed(missing)}" if missing else f"has the unknown key {odd[0]!r}"
            raise self.wrong(f"this {what} {problem}", *path, hint=f"its keys are {listed((*needed, *allowed))}")
        return entry

    def items(self, value: Any, *path: Step) -> list[Any]:
        """A list."""
        if not isinstance(value, list):
            raise self.wrong(f"expected a list, found {value!r:.60}", *path)
        return value

    def text(self, value: Any, *path: Step) -> str:
        """A string."""
        if not isinstance(value, str):
            raise self.wrong(f"expected text, found {value!r:.60}", *path)
        return value

    def array(self, value: Any, shape: tuple[int, ...], *path: Step) -> NDArray[np.float64]:
        """Nested lists of numbers with this shape, or an array that stands behind the document."""
        behind = getattr(value, "array", None)
        if behind is not None:
            if behind.shape != shape or not np.isfinite(behind).all():
                raise self.wrong(f"expected finite numbers of shape {shape}, found an {value!r}", *path)
            return behind.astype(np.float64)
        level = [value]
        for size in shape:
            if not all(isinstance(part, list) and len(part) == size for part in level):
                raise self.wrong(f"expected nested lists of shape {shape}, found {value!r:.60}", *path)
            level = [item for part in level for item in part]
        odd = [item for item in level if type(item) not in {float, int} or not math.isfinite(item)]
        if odd:
            raise self.wrong(f"expected numbers, found {odd[0]!r:.60}", *path)
        return np.array(level, dtype=np.float64).reshape(shape)

    # -- parts

    def variable(self, entry: Any, *path: Step) -> None:
        """One variable."""
        self.keys(entry, "variable", *path)
        key = self.text(entry["name"], *path, "name")
        states = self.items(entry["states"], *path, "states")
        if any(isinstance(state, float) and not math.isfinite(state) for state in states):
            raise self.wrong("a state that is a number must be finite", *path, "states")
        cuts = [] if entry.get("cuts") is None else self.items(entry["cuts"], *path, "cuts")
        self.array(cuts, (len(cuts),), *path, "cuts")
        if key in self.draft.variables:
            raise self.wrong(f"variable {key!r} is declared twice", *path)
        try:
            variable = variable_from_dict(entry)
        except FormatError as error:
            raise self.wrong(error.message, *path, hint=error.hint) from None
        if not isinstance(variable, DiscreteVariable):
            raise self.wrong(f"expected a discrete variable, found {entry['kind']!r}", *path, "kind")
        self.draft.variables[key] = variable
        self.draft.marks[key] = partial(locate, self.source.text, (*self.place, *path))

    def table(self, entry: Any, *path: Step) -> None:
        """One conditional table, with its counts and prior."""
        self.keys(entry, "table", *path)
        child = self.text(entry["variable"], *path, "variable")
        given = self.items(entry["parents"], *path, "parents")
        parents = [self.text(name, *path, "parents", i) for i, name in enumerate(given)]
        mark = partial(locate, self.source.text, (*self.place, *path))
        shape = self.draft.shape(child, parents, mark)
        self.draft.fill(child, parents, self.array(entry["p"], shape, *path, "p"), mark)
        rests = {key: entry[key] for key in ("counts", "prior") if entry.get(key) is not None}
        self.rests[child] = {key: self.amounts(value, shape, *path, key) for key, value in rests.items()}
        if entry.get("prior_rule") is not None:
            self.rules[child] = self.rule(entry["prior_rule"], shape, self.rests[child], *path, "prior_rule")

    def rule(
        self, entry: Any, shape: tuple[int, ...], rests: dict[str, NDArray[np.float64]], *path: Step
    ) -> DirichletRule:
        """What a prior follows; it must give the prior that is there."""
        self.keys(entry, "prior rule", *path)
        rates = {key: float(self.amounts(entry[key], (), *path, key)) for key in entry if key != "spread"}
        spread = self.amounts(entry["spread"], shape[-1:], *path, "spread") if "spread" in entry else None
        if len(rates) != 1 or (spread is not None and "per_row" not in rates):
            raise self.wrong(f"expected one of per_state, per_row and per_table, found {listed(entry)}", *path)
        rule = DirichletRule(rates.get("per_state"), rates.get("per_row"), rates.get("per_table"), spread)
        if "prior" not in rests or not np.allclose(rule.of(shape).alpha, rests["prior"], rtol=1e-9, atol=0):
            raise self.wrong("the prior of this table does not follow its rule", *path)
        return rule

    def amounts(self, value: Any, shape: tuple[int, ...], *path: Step) -> NDArray[np.float64]:
        """Counts or prior cases: not negative."""
        array = self.array(value, shape, *path)
        if (array < 0).any():
            raise self.wrong(f"expected numbers that are not negative, found {array.min():g}", *path)
        return array

    def grounded(self, cpt: CPT) -> CPT:
        """The table with its counts and its prior."""
        rests = self.rests[cpt.name]
        if not rests:
            return cpt
        counts = Counts(rests["counts"]) if "counts" in rests else None
        prior = Dirichlet(rests["prior"]) if "prior" in rests else None
        if cpt.name in self.rules:
            prior = TablePrior(rests["prior"], self.rules[cpt.name])
        return replace(cpt, counts=counts, prior=prior)


### writing


def document_of(network: BayesianNetwork) -> dict[str, Any]:
    """The network as values of JSON, and arrays."""
    for cpt in network:
        require_small_numbers(cpt.variable)
    return {
        "name": network.name,
        "notes": list(network.notes),
        "variables": [cpt.variable.to_dict() for cpt in network],
        "cpts": [table_entry(cpt) for cpt in network],
        **lineage_entry(network),
    }


def write_json(network: BayesianNetwork) -> str:
    """The network as JSON, a line for each variable and each table."""
    document = network.to_document()
    lineage = document.pop("lineage", None)
    head = {"format": LABEL, "version": VERSION, "name": document["name"], "notes": document["notes"]}
    lines = [f"  {json.dumps(key)}: {dumped(value)}," for key, value in head.items()]
    lines += ['  "variables": [', *listing(document["variables"]), "  ],"]
    nodes = document.get("numeric_nodes")
    lines += ['  "cpts": [', *listing(document["cpts"]), "  ]" + ("," if lineage or nodes else "")]
    if nodes is not None:
        lines += ['  "numeric_nodes": [', *listing(nodes), "  ]" + ("," if lineage else "")]
    if lineage is not None:
        first = [f"    {json.dumps(key)}: {dumped(lineage[key])}," for key in ("shares", "bases")]
        lines += ['  "lineage": {', *first, '    "parts": [', *listing(lineage["parts"]), "    ]", "  }"]
    return "\n".join(["{", *lines, "}"]) + "\n"


def table_entry(cpt: CPT) -> dict[str, Any]:
    """One table as plain values and arrays."""
    entry: dict[str, Any] = {"variable": cpt.name, "parents": [v.name for v in cpt.parents], "p": cpt.probabilities}
    if cpt.counts is not None:
        entry["counts"] = finite(cpt, cpt.counts.n)
    if cpt.prior is not None:
        entry["prior"] = finite(cpt, cpt.prior.alpha)
    if isinstance(cpt.prior, TablePrior):
        rates = {field.name: getattr(cpt.prior.rule, field.name) for field in fields(cpt.prior.rule)}
        entry["prior_rule"] = {key: plain(value) for key, value in rates.items() if value is not None}
    return entry


def plain(value: Any) -> Any:
    """A number, or an array as a list."""
    return value.tolist() if isinstance(value, np.ndarray) else float(value)


def lineage_entry(network: BayesianNetwork) -> dict[str, Any]:
    """What the counts are made of; nothing for most networks."""
    if network.lineage is None:
        return {}

    def counts_of(statistics: StatisticsBundle) -> dict[str, Any]:
        return {name: finite(network[name], counts.n) for name, counts in statistics.items()}

    from bayeslearn.model_values import plain_lineage  # noqa: PLC0415 - most networks have none

    return plain_lineage(network.lineage, counts_of, "counts")


def finite(cpt: CPT, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts or prior cases, which JSON can hold."""
    if not np.isfinite(array).all():
        raise FormatError(f"the counts or the prior of {cpt.name!r} are not finite, and JSON has no such numbers")
    return array


def listing(entries: Any) -> list[str]:
    """Entries of a list, one per line."""
    lines = [f"    {dumped(entry)}" for entry in entries]
    return [line + "," for line in lines[:-1]] + lines[-1:]


def dumped(value: Any) -> str:
    """JSON on one line; letters of every script are not escaped, lone surrogates are."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=np.ndarray.tolist)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=np.ndarray.tolist)
    return text


def require_small_numbers(variable: DiscreteVariable) -> None:
    """Raise an error for a state that is a number beyond 64 bits, which a reader rejects."""
    large = [s for s in variable.states if type(s) is int and abs(s) >= 2**63]
    if large:
        raise FormatError(
            f"variable {variable.name!r} has a state beyond 64 bits, which cannot be written",
            hint="name the states by text",
        )
