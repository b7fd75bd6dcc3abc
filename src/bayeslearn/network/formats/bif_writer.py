"""BIF as R bnlearn writes it, which every program reads; names are quoted where they need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.formats.names import require_printable, state_names, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network import BayesianNetwork


def write_bif(network: BayesianNetwork) -> str:
    """The network as BIF, with a row for each state of the parents; names are quoted where they need it."""
    states = {cpt.name: state_names(cpt.variable) for cpt in network}
    for name, own in states.items():
        require_printable([network.name, name, *own], "BIF")
    lines = [f"network {word(network.name)} {{", "}"]
    for name, own in states.items():
        listing = ", ".join(word(state) for state in own)
        lines += [f"variable {word(name)} {{", f"  type discrete [ {len(own)} ] {{ {listing} }};", "}"]
    for cpt in network:
        parents = [v.name for v in cpt.parents]
        given = f" | {', '.join(word(name) for name in parents)}" if parents else ""
        lines += [f"probability ( {word(cpt.name)}{given} ) {{"]
        lines += written_rows(cpt.p, [states[name] for name in parents])
        lines += ["}"]
    return "\n".join(lines) + "\n"


def written_rows(p: NDArray[np.float64], states: Sequence[Sequence[str]]) -> Iterator[str]:
    """``table`` for a variable without parents, otherwise one row after another."""
    if not states:
        yield f"  table {', '.join(map(repr, p.tolist()))};"
        return
    words = [[word(state) for state in own] for own in states]
    for place in np.ndindex(p.shape[:-1]):
        labels = ", ".join(own[i] for own, i in zip(words, place, strict=True))
        yield f"  ({labels}) {', '.join(map(repr, p[place].tolist()))};"
