"""Run trials in worker processes: end those that take too long, start others after a crash, keep what was found."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import IO, NamedTuple

from tests.fuzz import trials

ROOT = Path(__file__).resolve().parents[2]
#: Seconds for a worker to load its modules and kernels.
START = 300.0


class Finding(NamedTuple):
    """What a trial found: the target, the trial (a seed or a file), and what happened."""

    target: trials.Target
    trial: int | str
    what: str

    @property
    def kind(self) -> tuple[str, ...]:
        """Where it happened: the places of the traceback, without what was said."""
        return tuple(line for line in self.what.splitlines() if line.startswith(('  File "', "the process", "took")))

    def data(self) -> bytes:
        """The bytes of the trial."""
        return self.target.data(self.trial) if isinstance(self.trial, int) else Path(self.trial).read_bytes()

    def keep(self) -> Path:
        """Write the bytes of the trial to the corpus, where every test run tries them again."""
        data = self.data()
        path = trials.CORPUS / self.target.name / blake2b(data, digest_size=8).hexdigest()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


class Worker:
    """A process that runs trials; one that crashed or was ended is replaced by the next trial."""

    def __init__(self) -> None:
        self.target: trials.Target | None = None
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, target: trials.Target, trial: int | str) -> Finding | None:
        """Run one trial."""
        fresh = self.process is None or target is not self.target
        self.target = target
        process = self.process or self._start()
        asked, answers = pipes(process)
        asked.write(json.dumps([target.name, trial]).encode() + b"\n")
        asked.flush()
        seconds = target.seconds + (START if fresh else 0.0)
        ready = waited(process, answers, seconds)
        line = answers.readline() if ready else b""
        if line:
            what = json.loads(line)
            return what and Finding(target, trial, what)
        return Finding(target, trial, self._ended(process, seconds if not ready else None))

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.fuzz.worker"]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "BAYESLEARN_QUIET": "1"}
        self.errors.seek(0)
        self.errors.truncate()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT, env=environment
        )
        return self.process

    def _ended(self, process: subprocess.Popen[bytes], seconds: float | None) -> str:
        """End a process that does not answer, and say what became of it."""
        process.kill() if seconds is not None else None
        code = process.wait()
        self.process = None
        if seconds is not None:
            return f"took more than {seconds:g} seconds"
        self.errors.seek(0)
        said = self.errors.read()[-20_000:].decode(errors="replace")
        said = said.partition("\nExtension modules:")[0][-3000:]  # without the long list that faulthandler appends
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"the process ended: {name}\n{said}"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            for pipe in pipes(self.process):
                pipe.close()
            self.process.wait()
        self.errors.close()


def waited(process: subprocess.Popen[bytes], answers: IO[bytes], seconds: float) -> bool:
    """Whether a process answers within seconds of its own: on a busy machine it may take up to ten times as long."""
    before = processor_seconds(process.pid)
    ready, _, _ = select.select([answers], [], [], seconds)
    for _ in range(9):
        if ready or processor_seconds(process.pid) - before > seconds:
            break
        ready, _, _ = select.select([answers], [], [], seconds)
    return bool(ready)


def processor_seconds(pid: int) -> float:
    """The processor time of a process so far; infinite where the system does not tell."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to and from a process."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


@contextmanager
def worker() -> Iterator[Worker]:
    """A worker for a block."""
    one = Worker()
    try:
        yield one
    finally:
        one.close()


def run(target: trials.Target, asked: Iterable[int | str]) -> Iterator[Finding | None]:
    """Run trials of a target one after the other."""
    with worker() as one:
        for trial in asked:
            yield one.run(target, trial)
