"""Where a climb begins: at the prior, at random, at a network, or where another one was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files, validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.cpt import Cpt
from bayeslearn.network.learning.evidence import require_same_states
from bayeslearn.network.learning.expectation import normalised
from bayeslearn.network.network import BayesianNetwork

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.learning.expectation import Tables

#: How far a start for hidden variables is from symmetry: the weight of a random table against the start.
BROKEN = 0.5


def fixed_cells(frame: BayesianNetwork, frozen: Iterable[str], structure: object, start: object) -> NDArray[np.bool_]:
    """The cells of tables that are to stay."""
    names = list(frozen)
    for name in names:
        frame[name]
    if names and not (isinstance(structure, BayesianNetwork) or isinstance(start, BayesianNetwork)):
        raise ParameterError(
            f"the tables of {listed(names)} cannot stay as they are: a graph has none",
            hint="give a network as structure or as start",
        )
    return np.concatenate([np.full(cpt.p.size, cpt.name in names) for cpt in frame])


def given_numbers(start: BayesianNetwork, cpt: Cpt) -> NDArray[np.float64]:
    """The table of another network, with parents and states in the order of this one."""
    variables = (*cpt.parents, cpt.variable)
    for variable in variables:
        require_same_states(variable, start[variable.name].variable)
    states = np.ix_(*([start.states(v.name).index(state) for state in v.states] for v in variables))
    return start[cpt.name].over(v.name for v in cpt.parents)[states]


def all_starts(
    frame: BayesianNetwork,
    model: Tables,
    alpha: NDArray[np.float64],
    start: str | BayesianNetwork,
    unseen: set[str],
    restarts: int,
    rng: np.random.Generator,
) -> Iterator[NDArray[np.float64]]:
    """The numbers that each climb begins with."""
    compiled = model.compiled
    given = compiled.cpt
    if isinstance(start, BayesianNetwork):
        if start.dag != frame.dag:
            raise ParameterError(
                "the network to start from has another graph",
                hint="start from a network with the same arcs, or leave out `start`",
            )
        given = np.concatenate([given_numbers(start, cpt).reshape(-1) for cpt in frame])
    else:
        validation.choice("start", start, ["prior", "random"])
    fixed = np.zeros(len(given), np.bool_) if model.fixed is None else model.fixed
    even = normalised(compiled, np.ones(len(given)), otherwise=given)
    around = np.concatenate(
        [np.full(cpt.p.size, bool(unseen & {v.name for v in (*cpt.parents, cpt.variable)})) for cpt in frame]
    )
    for number in range(restarts):
        luck = normalised(compiled, rng.standard_gamma(1.0, len(given)) + 1e-3, otherwise=even)
        if number > 0 or start == "random":
            p = luck
        elif isinstance(start, BayesianNetwork):
            p = given
        else:
            p = normalised(compiled, alpha, otherwise=even)
            p = np.where(around, (1 - BROKEN) * p + BROKEN * luck, p)
        yield np.where(fixed, given, p)


### checkpoints


def writer(frame: BayesianNetwork, path: str | os.PathLike[str]) -> Callable[[Tables], None]:
    """Writes the tables on the way, as a model file."""
    from bayeslearn.network.formats.files import write_network  # noqa: PLC0415 - loads when files are written

    files.destination(path)  # better now than after an hour

    def write(model: Tables) -> None:
        parts = np.split(model.p, model.compiled.cpt_start[1:-1])
        cpts = [Cpt(c.variable, c.parents, p.reshape(c.shape)) for c, p in zip(frame, parts, strict=True)]
        write_network(BayesianNetwork(tuple(cpts), frame.name), path, format="json")

    return write


def written(path: str | os.PathLike[str] | None, otherwise: Any) -> Any:
    """The tables that were written last, if any were."""
    from bayeslearn.network.formats.files import read_network  # noqa: PLC0415 - as above

    if path is None:
        raise ParameterError("there is nothing to resume from", hint="name the model file: checkpoint=PATH")
    return read_network(path, format="json") if Path(path).exists() else otherwise
