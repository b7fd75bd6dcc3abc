"""Faults placed where they hurt: Ctrl-C, a kill, a full disk. Files stay whole, and no traceback reaches a person."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.thorough,  # a process for each trial
    pytest.mark.skipif(not hasattr(os, "fork"), reason="faults are those of POSIX"),
]

#: Runs the command line after a fault was put in the place of a function: `PLACE` is module:name or module:class.name.
PROGRAM = """
import importlib, sys
place, fault, times, *arguments = sys.argv[1:]
module, _, name = place.partition(":")
owner = importlib.import_module(module)
*path, name = name.split(".")
for part in path:
    owner = getattr(owner, part)
real, calls = getattr(owner, name), 0

def placed(*given, **options):
    global calls
    calls += 1
    if calls == int(times):
        import os, signal
        os.write(2, b"here is the fault\\n")
        if fault == "interrupt":
            signal.raise_signal(signal.SIGINT)
        elif fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault == "full":
            raise OSError(28, "No space left on device")
        elif fault == "late full":
            real(*given, **options)
            raise OSError(28, "No space left on device")
    return real(*given, **options)

setattr(owner, name, placed)
sys.argv = ["bayeslearn", *arguments]
from bayeslearn.cli import main
main()
"""

ROWS = "a,b,c\n" + "\n".join(f"{'xy'[i % 2]},{'uvw'[i % 3]},{'' if i % 7 == 0 else i % 5}" for i in range(400)) + "\n"

#: Verbs that learn, and the functions that they pass through one after the other.
VERBS = {
    "learn": ["fit", "network", "DATA", "-o", "OUT"],
    "fit": ["fit", "parameters", "[a][b|a][c|b]", "DATA", "-o", "OUT"],
    "cluster": ["fit", "mixture", "DATA", "--n-components", "2", "-o", "OUT"],
}
STAGES = {
    "learn": [
        "bayeslearn.tables:as_table",
        "bayeslearn.network.structure.fit:fit_network",
        "bayeslearn.network.formats.read_write:write_network",
        "pathlib:Path.replace",
    ],
    "fit": [
        "bayeslearn.tables:as_table",
        "bayeslearn.network.parameters.fit:fit_parameters",
        "bayeslearn.em:run",
        "bayeslearn.network.formats.read_write:write_network",
        "pathlib:Path.replace",
    ],
    "cluster": [
        "bayeslearn.tables:as_table",
        "bayeslearn.em:run",
        "bayeslearn.codec:write",
        "pathlib:Path.replace",
    ],
}


@pytest.fixture
def run(tmp_path):
    """Run a verb with a fault at a place; the model of before, and what is there afterwards."""
    (tmp_path / "data.csv").write_text(ROWS)
    out = tmp_path / "out"
    out.mkdir()
    model = out / "model.json"
    model.write_text('{"before": 1}')

    def call(verb, place, fault, times=1):
        words = [word.replace("DATA", str(tmp_path / "data.csv")).replace("OUT", str(model)) for word in VERBS[verb]]
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, place, fault, str(times), *words],
            capture_output=True, text=True, check=False, timeout=120,
            env=os.environ | {"BAYESLEARN_QUIET": "1"},
        )  # fmt: skip

    call.model = model
    return call


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def is_before(model):
    return model.read_text() == '{"before": 1}'


def is_whole(model):
    return "format" in json.loads(model.read_text())


@pytest.mark.parametrize(("verb", "place"), [(verb, place) for verb, places in STAGES.items() for place in places])
def test_ctrl_c_at_each_stage(run, verb, place):
    done = run(verb, place, "interrupt")
    assert "here is the fault" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in {0, 130}
    assert is_whole(run.model) if done.returncode == 0 else is_before(run.model)
    assert names(run.model.parent) == ["model.json"]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("place", ["pathlib:Path.write_bytes", "pathlib:Path.replace"])
def test_a_kill_before_and_after_writing_leaves_the_file_of_before(run, verb, place):
    done = run(verb, place, "kill")
    assert done.returncode == -signal.SIGKILL
    assert is_before(run.model)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("place", "fault"),
    [("pathlib:Path.write_bytes", "full"), ("pathlib:Path.write_bytes", "late full"), ("pathlib:Path.replace", "full")],
)
def test_a_full_disk_leaves_the_file_of_before(run, verb, place, fault):
    done = run(verb, place, fault)
    assert done.returncode == 1
    assert re.fullmatch(r"error: cannot write '.*': no space left on device", done.stderr.splitlines()[-1])
    assert "Traceback" not in done.stderr
    assert is_before(run.model)
    assert names(run.model.parent) == ["model.json"]


@pytest.fixture
def encode(tmp_path):
    """Encode a folder onto itself, or files onto it, with a fault at a place; and its rows of before."""
    from bayeslearn import scan
    from bayeslearn.sources import encode_to_disk

    (tmp_path / "data.csv").write_text(ROWS)
    folder = tmp_path / "kept"
    encode_to_disk(scan([{"d": ["u", "v"]}] * 3), folder)

    def call(source, place, fault, times):
        words = ["scan", str(folder if source == "itself" else tmp_path / "data.csv"), "--encode", str(folder)]
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, place, fault, str(times), *words],
            capture_output=True, text=True, check=False, timeout=120,
            env=os.environ | {"BAYESLEARN_QUIET": "1"},
        )  # fmt: skip

    call.folder = folder
    call.rows = lambda: scan(folder).table().to_dict()
    return call


#: What encoding passes through: the part is written and moved, then the file that describes it.
ENCODING = [
    ("bayeslearn.sources.encoded_source:write_arrays", 1),
    ("pathlib:Path.replace", 1),
    ("pathlib:Path.write_bytes", 1),
    ("pathlib:Path.replace", 2),
]


@pytest.mark.parametrize("fault", ["kill", "full", "interrupt"])
@pytest.mark.parametrize(
    ("source", "place", "times"),
    [*(("itself", *stage) for stage in ENCODING), ("files", *ENCODING[0]), ("files", *ENCODING[-1])],
)
def test_encoding_that_fails_leaves_the_rows_of_before(encode, source, fault, place, times):
    before = names(encode.folder)
    done = encode(source, place, fault, times)
    assert "here is the fault" in done.stderr
    assert done.returncode == {"kill": -signal.SIGKILL, "full": 1, "interrupt": 130}[fault]
    assert "Traceback" not in done.stderr, done.stderr
    assert encode.rows() == {"d": ["u", "v"] * 3}
    if fault != "kill":
        assert names(encode.folder) == before
    if fault == "full":
        assert re.fullmatch(r"error: cannot write '.*': no space left on device", done.stderr.splitlines()[-1])


def test_encoding_to_a_disk_that_is_full_in_truth(tmp_path):
    program = f"""
import resource
from bayeslearn import scan
from bayeslearn.errors import UnwritableFileError
from bayeslearn.sources import encode_to_disk
encode_to_disk(scan([{{"d": ["u", "v"]}}]), {str(tmp_path / "kept")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    encode_to_disk(scan([{{"d": ["u", "v"] * 40_000}}]), {str(tmp_path / "kept")!r})
except UnwritableFileError as error:
    print(error.message)
print(scan({str(tmp_path / "kept")!r}).n_rows)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"cannot write '.*\.part': file too large\n2\n", done.stdout)
    assert len(names(tmp_path / "kept")) == 2


@pytest.mark.parametrize("redirect", ["> /dev/full", ">&-", "2>&-", ">&- 2>&-", "| head -c 1 > /dev/null"])
@pytest.mark.parametrize("words", ["show asia", "query asia --json", "sample asia -n 100000"])
def test_streams_that_are_full_or_closed(words, redirect):
    done = subprocess.run(
        f"{sys.executable} -m bayeslearn {words} {redirect}", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if "full" in redirect:
        assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    "moment",
    [
        "bayeslearn.cli", "bayeslearn.cli.command", "bayeslearn.errors", "bayeslearn.printable",
        "bayeslearn.cli.option_hints", "bayeslearn.cli.app", "bayeslearn.cli.streams", "numba", "scipy",
        "numpy", "typer",
    ],
)  # fmt: skip
def test_ctrl_c_during_imports(tmp_path, moment):
    program = f"""
import sys, signal
class Finder:
    def find_spec(self, name, *_):
        if name == {moment!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["bayeslearn", "fit", "network", "chest-clinic", "-o", {str(tmp_path / "out.json")!r}]
import runpy
runpy.run_module("bayeslearn", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 130 or "ending with the best network so far" in done.stderr
