"""A progress bar on stderr, for what takes longer than a person likes to wait."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.cli.streams import unchecked
from bayeslearn.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.cli.interrupt import Stop
    from bayeslearn.progress import Progress
    from bayeslearn.sources.file_source import ScanProgress
    from bayeslearn.tables import Table

#: Seconds of silence before a bar is shown, and between two words of a pass.
PATIENCE, PAUSE = 2.0, 0.1


@dataclass
class Passes:
    """How often data that stay where they are were read, reported to the bar that is open."""

    number: int = 0
    #: When the last pass began, how long it took, and when it was told of.
    begun: float = -1.0
    seconds: float = 0.0
    told: float = 0.0
    tell: Callable[[float, str], None] | None = None

    def __call__(self, now: ScanProgress) -> None:
        """More was read, in the same pass or in another."""
        self.number += now.begun != self.begun
        self.begun, self.seconds = now.begun, now.seconds
        moment = time.monotonic()
        if self.tell is not None and (moment - self.told > PAUSE or now.shards == now.of_shards):
            self.told = moment
            share = now.rows / now.of if now.of else now.shards / max(now.of_shards, 1)
            self.tell(share, f"pass {self.number}: {read(now)}")


def read(now: ScanProgress) -> str:
    """Rows and rows per second; files whose rows are not counted are reported themselves."""
    if not now.rows:
        return f"{now.shards} of {now.of_shards} files"
    return f"{now.rows:,} rows, {now.rate:,.0f} a second"


class Bars:
    """Bars on stderr; rich is loaded when the first of them is shown."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown: Any = None
        self.tasks: dict[str, Any] = {}

    def tell(self, bar: str, words: str, share: float) -> None:
        """Move a bar, after some seconds of silence."""
        if time.monotonic() - self.started <= PATIENCE:
            return
        if self.shown is None:
            from rich.console import Console
            from rich.progress import Progress as Rich

            console = Console(file=unchecked(sys.stderr))
            self.shown = Rich(
                console=console, transient=True, auto_refresh=False, redirect_stdout=False,
                disable=not console.is_terminal,
            )  # fmt: skip
            self.shown.start()
        if bar not in self.tasks:
            self.tasks[bar] = self.shown.add_task(one_line(words), total=1.0)
        self.shown.update(self.tasks[bar], description=one_line(words), completed=min(share, 1.0), refresh=True)

    def end(self) -> None:
        """Remove all bars."""
        if self.shown is not None:
            self.shown.stop()


@contextmanager
def bar(what: str, *, silent: bool = False, passes: Passes | None = None) -> Iterator[Callable[..., None]]:
    """A function to call with the share that is done, and with other words; the bar is gone when the block ends.

    Below it is a bar of the pass over files that is under way, where there are passes.
    """
    if silent or not (sys.stderr.isatty() or os.environ.get("FORCE_COLOR")):
        yield lambda *_: None
        return
    bars = Bars()

    def tell(share: float, words: str = what) -> None:
        bars.tell("job", words, share)

    if passes is not None:
        passes.tell = lambda share, words: bars.tell("pass", words, share)
    try:
        yield tell
    finally:
        bars.end()
        if passes is not None:
            passes.tell = None


def following(tell: Callable[..., None], stop: Stop) -> Callable[[Progress], None]:
    """Return a callback that moves a bar, and ends the call where the user asks for it."""
    last = -PAUSE

    def callback(now: Progress) -> None:
        nonlocal last
        stop.heed()
        if now.seconds - last >= PAUSE or now.fraction >= 1:
            last = now.seconds
            tell(now.fraction, now.message)

    return callback


def watched(tables: Iterable[Table], n: int, what: str, *, silent: bool = False) -> Iterator[Table]:
    """The tables, which have n rows together, with a bar that follows them."""
    done = 0
    with bar(what, silent=silent) as tell:
        for table in tables:
            yield table
            done += table.n_rows
            tell(done / n)
