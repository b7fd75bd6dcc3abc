"""A progress bar on stderr, for what takes longer than a person likes to wait."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.tables import Table

#: Seconds of silence before a bar is shown.
PATIENCE = 2.0


@contextmanager
def bar(what: str, *, silent: bool = False) -> Iterator[Callable[..., None]]:
    """A function to call with the share that is done, and with other words; the bar is gone when the block ends."""
    if silent:
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    started, console = time.monotonic(), Console(stderr=True)
    shown = Progress(
        console=console, transient=True, auto_refresh=False, redirect_stdout=False, disable=not console.is_terminal
    )
    with shown:
        task = shown.add_task(what, total=1.0, visible=False)

        def tell(share: float, words: str = what) -> None:
            late = time.monotonic() - started > PATIENCE
            shown.update(task, description=words, completed=min(share, 1.0), visible=late, refresh=late)

        yield tell


def watched(tables: Iterable[Table], n: int, what: str, *, silent: bool = False) -> Iterator[Table]:
    """The tables, which have n rows together, with a bar that follows them."""
    done = 0
    with bar(what, silent=silent) as tell:
        for table in tables:
            yield table
            done += table.n_rows
            tell(done / n)
