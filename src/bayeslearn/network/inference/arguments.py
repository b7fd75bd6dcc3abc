"""Arguments of queries in whatever form a caller has them.

evidence     {"smoke": "yes"}, [("smoke", "yes")], "smoke=yes, delay>17.5", ["smoke=yes"], or a row of a data frame
variables    "lung", or ["lung", "bronc"]
engine       an engine, or the network itself
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.network.structures import as_network

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.network.inference.exact import Exact


def as_evidence(network: BayesianNetwork, evidence: Any) -> dict[str, Any]:
    """Return values by name of variable, the parts of a date in its place."""
    found = as_mapping(network, evidence)
    for name in found:
        if name not in network:
            from bayeslearn.network.inference.dates import with_date_parts  # noqa: PLC0415 - loads when a name is odd

            return with_date_parts(network, found)
    return found


def as_mapping(network: BayesianNetwork, evidence: Any) -> dict[str, Any]:
    """Return values by name as they are given; a missing value in a row of a data frame is not observed."""
    if type(evidence) is dict:  # recognized fastest
        return evidence.copy()
    if evidence is None or isinstance(evidence, Mapping):
        return dict(evidence or {})
    if isinstance(evidence, str):
        return _parsed(network, evidence)
    if hasattr(evidence, "columns") or hasattr(evidence, "schema"):
        raise ParameterError(
            f"evidence is one observation, got a {type(evidence).__name__} of several rows",
            hint="`network.exact.cases(data)` and `network.predict(data, target)` take a table",
        )
    if hasattr(evidence, "items"):  # a row of a data frame
        return {str(name): value for name, value in evidence.items() if not is_missing(value)}
    items = list(evidence) if isinstance(evidence, Iterable) else None
    if items and all(isinstance(item, str) for item in items):
        return _parsed(network, items)
    if items is None or not all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        raise _not_evidence(evidence)
    return dict(items)


def as_names(names: Iterable[str] | str) -> list[str]:
    """Return a list of names; one name stands for a list of one."""
    return [names] if isinstance(names, str) else list(names)


def as_engine(engine: Exact | BayesianNetwork) -> Exact:
    """Return exact inference of a network, or the engine as it is."""
    from bayeslearn.network.inference.exact import Exact  # noqa: PLC0415 - engines read their arguments here

    return engine if isinstance(engine, Exact) else as_network(engine).exact


def _parsed(network: BayesianNetwork, text: str | list[str]) -> dict[str, Any]:
    from bayeslearn.network.inference.evidence_text import has_sign, parse_evidence  # noqa: PLC0415 - evidence as text

    pieces = [text] if isinstance(text, str) else text
    odd = [piece for piece in pieces if not has_sign(piece)]
    if odd:
        raise _not_evidence(odd[0])
    return parse_evidence(network, text)


def is_missing(value: Any) -> bool:
    """Return whether a value of a row stands for a missing one: None, NaN, NaT or NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN
    except TypeError:  # neither equal nor different: pandas' NA
        return True


def _not_evidence(given: Any) -> ParameterError:
    return ParameterError(
        f"evidence must map variables to their states, got {given!r:.80}",
        hint='query({"smoke": "yes"}), or "smoke=yes"; variables to query are named by `ask`: query(ask=["lung"])',
    )
