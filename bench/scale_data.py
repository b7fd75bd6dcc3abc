"""Cases for `bench scale`: a network of 20 variables, drawn by our own sampler into Parquet files, with holes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bayeslearn.network import DAG, BayesianNetwork
from bayeslearn.network.inference.forward_sampling import Sampler
from bayeslearn.tables import DiscreteVariable, Schema

if TYPE_CHECKING:
    from pathlib import Path

#: Variables of the network, rows of a file and of its row groups.
VARIABLES, FILE_ROWS, GROUP_ROWS = 20, 1_000_000, 250_000


def network() -> BayesianNetwork:
    """Every variable has up to three parents among the four before it, and two to four states."""
    rng = np.random.default_rng(10)
    names = [f"v{i:02}" for i in range(VARIABLES)]
    sizes = 2 + np.arange(VARIABLES) % 3
    parents = [
        sorted(rng.choice(range(max(i - 4, 0), i), size=min(i, int(rng.integers(1, 4))), replace=False))
        for i in range(VARIABLES)
    ]
    dag = DAG({names[i]: [names[p] for p in parents[i]] for i in range(VARIABLES)})
    tables = {
        names[i]: rng.dirichlet(np.full(sizes[i], 0.7), size=[sizes[names.index(p)] for p in dag.parents(names[i])])
        for i in range(VARIABLES)
    }
    states = Schema(
        DiscreteVariable(name, [f"{name}-{k}" for k in range(size)]) for name, size in zip(names, sizes, strict=True)
    )
    return BayesianNetwork.from_tables(dag, tables, states=states)


def write(folder: Path, rows: int, *, holes: float = 0.05) -> list[str]:
    """So many cases as Parquet files, words under a dictionary; files that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    sampler = Sampler(network(), random_state=0)
    for number, first in enumerate(range(0, rows, FILE_ROWS)):
        path = folder / f"cases-{number:04}.parquet"
        n = min(FILE_ROWS, rows - first)
        if not path.exists():
            write_file(path, sampler, first, n, holes)
            print(f"\r# {first + n:,} rows written", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr, end="\n" if first + n == rows else "")
    return [str(folder / f"cases-{number:04}.parquet") for number in range(-(-rows // FILE_ROWS))]


def write_file(path: Path, sampler: Sampler, first: int, n: int, holes: float) -> None:
    table = sampler.rows(first, n)
    rng = np.random.default_rng(first)
    columns = {}
    for variable, codes in zip(table.schema.discrete, table.codes, strict=True):
        index = pa.array(codes.astype(np.int8), mask=rng.random(n, np.float32) < holes)
        columns[variable.name] = pa.DictionaryArray.from_arrays(index, pa.array(variable.states))
    part = path.with_suffix(".part")
    pq.write_table(pa.table(columns), part, compression="zstd", row_group_size=GROUP_ROWS)
    part.rename(path)
