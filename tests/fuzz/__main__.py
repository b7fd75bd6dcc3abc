"""Fuzz the library: python -m tests.fuzz [TARGET ...] [--minutes 30] [--trials N] [--seed 0], or --try FILE."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from itertools import count, islice
from pathlib import Path
from random import randrange

from tests.fuzz import runner, trials

#: Seconds that a target has in a turn, before another target has its own.
TURN = 30.0
#: Findings of one target in one run, after which the others go on without it.
MAX_FINDINGS = 10


def main() -> None:
    """Run the targets in turns on all cores until the time is over."""
    asked = arguments()
    if asked.retry:
        sys.exit(retry(Path(asked.retry)))
    chosen = [t for t in trials.all_targets() if not asked.targets or t.name.startswith(tuple(asked.targets))]
    print(f"the first trials have the seed {asked.seed}", flush=True)
    campaign = Campaign(chosen, asked.seed, asked.trials, time.monotonic() + 60 * asked.minutes)
    threads = [threading.Thread(target=campaign.work) for _ in range(asked.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    campaign.report()
    sys.exit(bool(campaign.findings))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="targets, or the first letters of several: networks, tables/csv")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--trials", type=int, default=None, help="the most trials of each target")
    parser.add_argument("--seed", type=int, default=randrange(1 << 40), help="of the first trial; another each time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--try", dest="retry", metavar="FILE", help="run one file of the corpus again, in this process")
    return parser.parse_args()


def retry(path: Path) -> int:
    """Run a file of the corpus in this process, so that a debugger can follow it."""
    target = trials.target_of(str(path.resolve().parent.relative_to(trials.CORPUS)))
    target.run(path.read_bytes())
    print(f"{target.name}: passes")
    return 0


class Campaign:
    """Targets that take turns; each goes on with the seed at which its last turn ended."""

    def __init__(self, targets: list[trials.Target], seed: int, max_trials: int | None, until: float) -> None:
        self.waiting = list(targets)
        self.seeds = {target.name: count(seed) for target in targets}
        self.max_trials = max_trials
        self.until = until
        self.run: dict[str, int] = {target.name: 0 for target in targets}
        self.findings: list[runner.Finding] = []
        self.lock = threading.Lock()

    def work(self) -> None:
        """Take the target that waits longest, again and again."""
        while time.monotonic() < self.until:
            with self.lock:
                if not self.waiting:
                    return
                target = self.waiting.pop(0)
            if self.turn(target):
                with self.lock:
                    self.waiting.append(target)

    def turn(self, target: trials.Target) -> bool:
        """Run trials of a target for a while; return whether it has more to try."""
        ends = min(time.monotonic() + TURN, self.until)
        left = None if self.max_trials is None else self.max_trials - self.run[target.name]
        for found in runner.run(target, islice(self.seeds[target.name], left)):
            self.run[target.name] += 1
            if found:
                self.keep(found)
            if time.monotonic() > ends:
                break
        return self.run[target.name] != self.max_trials and self.n_findings(target.name) < MAX_FINDINGS

    def n_findings(self, name: str) -> int:
        """How many trials of a target found something."""
        return sum(found.target.name == name for found in self.findings)

    def keep(self, found: runner.Finding) -> None:
        """Keep what was found and show it; of findings of one kind, the first."""
        with self.lock:
            known = {(other.target.name, other.kind) for other in self.findings}
            self.findings.append(found)
            if (found.target.name, found.kind) in known:
                return
            path = found.keep().relative_to(runner.ROOT)
            print(f"{found.target.name}, trial {found.trial}: {path}\n{found.what}\n", flush=True)

    def report(self) -> None:
        """Write a line for each target, and the sum."""
        for name, n in sorted(self.run.items()):
            print(f"{name:40} {n:9,} trials {self.n_findings(name):4} findings")
        print(f"{sum(self.run.values()):,} trials, {len(self.findings)} findings")


if __name__ == "__main__":
    main()
