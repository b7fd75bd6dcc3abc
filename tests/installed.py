"""Verbs run one after the other by an installation, each twice, with the functions that it compiles.

    python -m tests.installed                          the environment of this process
    python -m tests.installed --python venv/bin/python another one; exit 1 if a verb compiles or its first run is slow

Each run is a separate process, and code that was compiled is written to an empty folder, so that a first run finds
only what came with the package.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: CPU seconds that a first run may take more than a second one.
WAIT = 5.0

#: Runs a verb and writes the CPU seconds of the process and the functions that numba compiled in it.
PROGRAM = """
import atexit, json, sys, time
sys.path[:0] = {path!r}
compiled = []
def watch():
    from numba.core import event
    class Watch(event.Listener):
        def on_start(self, happening):
            compiled.append(str(happening.data["dispatcher"].py_func.__qualname__) + str(happening.data["args"]))
        def on_end(self, happening):
            pass
    event.register("numba:compile", Watch())
import importlib.abc
class Finder(importlib.abc.MetaPathFinder):  # watch from the moment on that the verb imports numba
    def find_spec(self, name, path=None, target=None):
        if name == "bayeslearn.kernels._jit":
            sys.meta_path.remove(self)
            watch()
sys.meta_path.insert(0, Finder())
def report():
    with open({report!r}, "w") as file:
        json.dump(dict(seconds=time.process_time(), compiled=compiled), file)
atexit.register(report)
sys.argv = ["bayeslearn", *{arguments!r}]
from bayeslearn.cli import main
main()
"""

#: A name for each job and the arguments of its verb.
JOBS = {
    "fit network": "fit network chest-clinic -o net.json",
    "fit network, numbers": "fit network table.csv -o table.json",
    "fit network, many rows": "fit network rentals -o rentals.json --bootstrap 5",
    "fit network, K2": "fit network words.csv -o words.json --algorithm k2 --order letter,color,kind,size",
    "fit network, tan": "fit network words.csv -o tan.json --algorithm tan --target size",
    "fit network, PC": "fit network words.csv -o pc.json --algorithm pc",
    "query": "query asia smoke=yes",
    "query, learned": "query net.json smoke=yes --variables lung",
    "query, alarm": "query alarm HR=LOW",
    "explain": "explain asia smoke=yes xray=yes --target lung",
    "query, sampled": "query asia smoke=yes --method likelihood_weighting --seed 1",
    "predict": "predict net.json chest-clinic --target lung -o lung.csv",
    "fit parameters": "fit parameters '[color][kind][size|color:kind]' words.csv --extra-columns ignore -o fitted.json",
    "fit parameters, missing values": "fit parameters '[color][class|color]' table.csv --extra-columns ignore "
    "-o missing.json",
    "impute": "impute net.json chest-clinic -o full.csv",
    "impute, numbers": "impute table.json table.csv -o numbers.csv",
    "score": "score net.json chest-clinic",
    "update": "update net.json chest-clinic -o updated.json",
    "sample": "sample asia --n-samples 50 --seed 1 -o sample.csv",
    "fit naive-bayes": "fit naive-bayes table.csv --target class -o naive.json",
    "predict, naive Bayes": "predict naive.json table.csv -o naive.csv",
    "fit mixture": "fit mixture table.csv --n-components 2 -o groups.json --seed 1",
    "fit hmm": "fit hmm steps.csv --n-states 2 --id run -o chain.json --seed 1",
    "fit hmm, words": "fit hmm letters.csv --n-states 2 --id run -o letters.json --seed 1",
    "fit text": "fit text texts.csv --target folder -o texts.model",
    "predict, text": "predict texts.model texts.csv",
    "fit regression": "fit regression table.csv --target y -o line.json",
    "fit regression, local": "fit regression table.csv --target y --method local -o local.json",
    "predict, regression": "predict local.json table.csv",
    "fit neighbors": "fit neighbors table.csv --target class -o neighbors.json",
    "predict, neighbors": "predict neighbors.json table.csv",
    "fit forest": "fit forest table.csv --target class -o forest.json --n-estimators 5 --seed 1",
    "predict, forest": "predict forest.json table.csv",
    "compare-models": "compare-models table.csv --target class",
    "online": "online words.csv --target size",
    "structure-posterior": "structure-posterior words.csv --n-samples 20",
}


def write_tables(folder: Path) -> None:
    """Write a table of numbers, words and missing values, one of words, sequences, and texts."""
    rng = random.Random(1)

    def write(name: str, header: str, rows: list[list[object]]) -> None:
        lines = [header, *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n")

    table, words = [], []
    for _ in range(300):
        kind = rng.choice(["a", "b", "c"])
        x, z = rng.gauss("abc".index(kind), 1), rng.gauss(0, 1)
        y = 2 * x - z + rng.gauss(0, 0.1)
        color = rng.choice(["red", "blue", None])
        table.append([f"{x:.3f}", f"{z:.3f}", f"{y:.3f}", color, kind])
        words.append([rng.choice("pq"), color or "red", kind, "large" if y > 1 else "small"])
    write("table.csv", "x,z,y,color,class", table)
    write("words.csv", "letter,color,kind,size", words)
    steps = [[i // 20, f"{rng.gauss(3 * (i // 7 % 2), 1):.3f}"] for i in range(200)]
    write("steps.csv", "run,value", steps)
    write("letters.csv", "run,letter", [[i // 20, rng.choice("xy" if i // 7 % 2 else "yz")] for i in range(200)])
    subjects = {"sport": "ball goal team run", "food": "bread soup salt oven"}
    texts = [[f'"{" ".join(rng.choices(subjects[s].split(), k=6))}"', s] for s in subjects for _ in range(20)]
    write("texts.csv", "text,folder", texts)


def run(job: str, folder: Path, *, python: str, path: list[str], cache: Path | None) -> dict[str, object]:
    """Run a job in a folder, after the jobs whose output it reads; return its CPU seconds and what it compiled."""
    arguments = shlex.split(JOBS[job])
    for other, line in JOBS.items():
        output = line.partition(" -o ")[2].split()[:1]
        if other != job and output and output[0] in arguments and not (folder / output[0]).exists():
            run(other, folder, python=python, path=path, cache=folder / "cache-of-others")
    report = folder / "report.json"
    code = PROGRAM.format(path=path, report=str(report), arguments=arguments)
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "BAYESLEARN_QUIET"}}
    if cache:
        environment["BAYESLEARN_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [python, "-c", code], cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{JOBS[job]} ended with {done.returncode}:\n{done.stderr}")
    found = json.loads(report.read_text()) | {"stderr": done.stderr}
    if cache and cache.is_dir():  # other processes may have compiled for this one
        found["compiled"] += sorted(path.name for path in cache.glob("*.nbc"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.installed", description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the installation")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"all, or some of: {', '.join(JOBS)}")
    asked = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        for job in asked.jobs or JOBS:
            cache = folder / f"cache-{job}"
            first, second = (run(job, folder, python=asked.python, path=[], cache=cache) for _ in range(2))
            slower = first["seconds"] - second["seconds"]
            good = not first["compiled"] and slower < WAIT
            failed += [] if good else [job]
            verdict = "" if good else "  FAILED"
            print(
                f"{job:24} first {first['seconds']:6.2f} s  second {second['seconds']:6.2f} s  "
                f"compiled {len(first['compiled'])}{verdict}",
                flush=True,
            )
            for function in first["compiled"][:5]:
                print(f"    {function[:300]}")
    print(f"{len(asked.jobs or JOBS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
