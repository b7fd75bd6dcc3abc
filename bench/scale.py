"""Beyond memory: a pass over files beside the same pass in memory, two workers beside one, and how cost grows.

The data are cases of a network of 20 variables, 5 % of the cells missing, as Parquet files of words. They are written
once, into the folder that ``BAYESLEARN_SCALE`` names, where they stay, or into a temporary one.

A ratio is the other's time / ours: 0.67 or more means that a pass over files costs at most 1.5 times one in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayeslearn
from bayeslearn import scan
from bayeslearn.components.rows import read
from bayeslearn.em import expect
from bayeslearn.mixture import fit_mixture
from bayeslearn.mixture.inputs import FoldedRows
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.training_cases import Passes, gathered
from bayeslearn.sources import DaskEngine, count_cells, encode_to_disk
from bench.harness import Work
from bench.scale_data import FILE_ROWS, network, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.sources import FileSource
    from bayeslearn.tables import Source

#: Rows up to which cost is measured, and what the measured job may take of memory.
MOST, LIMIT = 50_000_000, "1GiB"


def works(*, quick: bool) -> Iterator[Work]:
    with folder() as where:
        source = scan(write(where, FILE_ROWS if quick else 4 * FILE_ROWS), schema=network().schema)
        table = source.table()
        with tempfile.TemporaryDirectory() as kept:
            encoded = encode_to_disk(source, kept)
            for data, of in ((source, "of files"), (encoded, "encoded")):
                yield e_step_pass(data, table, of)
                yield counting_pass(data, table, of)
                yield mixture_pass(data, table, of)
        yield gathering_pass(source, table)
        yield from workers(source)
        tiny(where, quick=quick)
        if not quick:
            grow(where)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    kept = os.environ.get("BAYESLEARN_SCALE")
    if kept:
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


### a pass


def e_step_pass(source: Source, table: Source, of: str) -> Work:
    """Expected counts under the network that drew the cases: rows are read, taken apart and inferred."""
    model = Tables(Compiled(network()))
    return beside_memory(f"E step, {of}", source, table, lambda data: e_step(model, data))


def e_step(model: Tables, data: Source) -> Any:
    return expect(model, Passes(model.compiled, data), 0).statistics.n


def gathering_pass(source: Source, table: Source) -> Work:
    """What EM climbs on, in one pass; all its iterations are then in memory. Then one E step, for an answer."""
    model = Tables(Compiled(network()))

    def answer(data: Source) -> Any:
        return expect(model, gathered(model.compiled, data, None)[0], 0).statistics.n

    return beside_memory("gathering, one E step, of files", source, table, answer)


def counting_pass(source: Source, table: Source, of: str) -> Work:
    families = [[v.name for v in (*cpt.parents, cpt.variable)] for cpt in network()]

    def answer(data: Source) -> Any:
        return np.concatenate([c.counts.ravel() for c in count_cells(data, families)])

    return beside_memory(f"counting 20 families, {of}", source, table, answer)


def mixture_pass(source: Source, table: Source, of: str) -> Work:
    """An E step of four classes over all columns; in memory the rows are in their working form already."""
    model = fit_mixture(table.take(range(20_000)), 4, tol=10.0)
    working = read(model.parts, table)

    def answer(data: Any) -> Any:
        return expect(model, working if data is table else FoldedRows(data, model.parts), 0).log_likelihood

    return beside_memory(f"four classes, E step, {of}", source, table, answer)


def beside_memory(name: str, source: Source, table: Source, answer: Any) -> Work:
    return Work(
        f"{name}, {table.n_rows:,} x 20", "memory", bayeslearn.__version__, lambda: answer(source),
        lambda: answer(table), lambda a, b: bool(np.allclose(a, b, rtol=1e-10, atol=0)), round(1 / 1.5, 2), most=3,
    )  # fmt: skip


### workers


def workers(source: FileSource) -> Iterator[Work]:
    model = Tables(Compiled(network()))
    with DaskEngine.local(1) as one, DaskEngine.local(2) as two:
        yield Work(
            f"E step, {source.n_rows:,} x 20, two workers", "one worker", bayeslearn.__version__,
            lambda: e_step(model, source.with_engine(two)), lambda: e_step(model, source.with_engine(one)),
            lambda a, b: bool(np.array_equal(a, b)), 1.6, most=3,
        )  # fmt: skip


def tiny(where: Path, *, quick: bool) -> None:
    """What a pass costs before any data: ten files of a hundred rows."""
    few = scan(write(where, FILE_ROWS), schema=network().schema).table().take(range(100))
    model = Tables(Compiled(network()))
    with tempfile.TemporaryDirectory() as small:
        for number in range(10):
            write_rows(Path(small) / f"{number}.parquet", few)
        source = scan(f"{small}/*.parquet", schema=network().schema)
        with DaskEngine.local(2) as cluster:
            for name, asked in (("files", source), ("two workers", source.with_engine(cluster))):
                e_step(model, asked)
                times = [timed(lambda asked=asked: e_step(model, asked)) for _ in range(3 if quick else 10)]
                print(f"# a pass over ten files of 100 rows, {name}: {min(times):.3f} s, at most 0.2", flush=True)


def write_rows(path: Path, table: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table.to_dict()), path)


def timed(job: Any) -> float:
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


### growth


def grow(where: Path) -> None:
    """Counting and five steps of EM in a process of its own with little memory, for more and more rows."""
    write(where, MOST)
    files = sorted(where.glob("cases-*.parquet"))
    with tempfile.TemporaryDirectory() as small:
        table = scan(str(files[0]), schema=network().schema).table()
        write_rows(Path(small) / "few.parquet", table.take(range(100_000)))
        sets = {100_000: [f"{small}/few.parquet"], **{n: files[: n // FILE_ROWS] for n in (10**6, 10**7, MOST)}}
        print(f"# {'rows':>12} {'count s':>9} {'ns a row':>9} {'EM s':>9} {'ns a row':>9} {'peak MiB':>9}")
        told = {}
        for n_rows, paths in sets.items():
            told[n_rows] = found = job([str(p) for p in paths])
            each = [found["count"] / n_rows * 1e9, found["em"] / n_rows * 1e9]
            print(
                f"# {n_rows:>12,} {found['count']:>9.2f} {each[0]:>9.0f} {found['em']:>9.2f} {each[1]:>9.0f} "
                f"{found['peak_mib']:>9.0f}",
                flush=True,
            )

    picture(told, where / "growth.svg")


def picture(told: dict[int, dict[str, float]], path: Path) -> None:
    """Seconds by rows, and the line that the largest job leads back to zero."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    for name, label in (("em", "five steps of EM"), ("count", "counting all tables")):
        [line] = axes.plot(list(told), [found[name] for found in told.values()], "o-", label=label)
        last = max(told)
        axes.plot([10**6, 10**8], [told[last][name] / last * n for n in (10**6, 10**8)], ":", color=line.get_color())
    axes.legend(title="dotted: linear in rows", frameon=False)
    figure.savefig(path, metadata={"Date": None})
    print(f"# drew {path}")


def job(paths: list[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.scale_job", *paths, "--limit", LIMIT]
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own module
    return json.loads(found.stdout)
