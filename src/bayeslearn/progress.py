"""How far a long call is: one callback type, and a bar.

    fit_mixture(data, 3, progress=True)                      a bar in the terminal or the notebook, after two seconds
    fit_mixture(data, 3, progress=lambda now: print(now))    a call with a `Progress` at every step
    raise StopIteration in the callback                      the call ends early, with the best result so far

A public function that takes `progress` is decorated with `reports_progress`; inside, `progress` is a `Reporter`, or
None without a callback. A function that calls another passes a part of its range on:

    @reports_progress("Fitting a mixture")
    def fit_mixture(data, n_components, *, progress=None):
        for i, start in enumerate(starts):
            run(start, progress=part(progress, i / len(starts), (i + 1) / len(starts)))
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn.errors import ParameterError
from bayeslearn.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Progress", "ProgressCallback", "Reporter", "part", "reports_progress", "should_stop", "shown"]


def __dir__() -> list[str]:
    return __all__


#: Seconds before a bar is shown, and between two changes of it.
PATIENCE, PAUSE = 2.0, 0.1

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Progress:
    """How far a call is.

    Attributes
    ----------
    fraction
        The share that is done, from 0 to 1; it never falls. Where the end is not known, as in EM, it is an estimate.
    message
        What is being done: "iteration 12, log-likelihood -1034.2".
    seconds
        The time since the call began.
    detail
        What the learner reports of this step, for instance an :class:`~bayeslearn.em.EMStep`, or None.
    """

    fraction: float
    message: str = ""
    seconds: float = 0.0
    detail: Any = None

    def __str__(self) -> str:
        return f"{self.fraction:4.0%}  {self.seconds:6.1f} s  {one_line(self.message)}".rstrip()


ProgressCallback = Callable[[Progress], object]


class Reporter:
    """Reports the steps of a call to a callback, as `Progress`; `part` is for a step that has steps itself."""

    def __init__(
        self, callback: ProgressCallback, *, start: float = 0.0, stop: float = 1.0, message: str = "", root: Any = None
    ) -> None:
        self.callback, self.start, self.stop, self.message = callback, start, stop, message
        self.root: Reporter = self if root is None else root
        if root is None:
            self.began, self.furthest = time.perf_counter(), 0.0

    def __call__(self, fraction: float, message: str = "", detail: Any = None) -> None:
        """Report that this share of the range is done."""
        root, inside = self.root, min(max(float(fraction), 0.0), 1.0)
        root.furthest = max(root.furthest, self.start + (self.stop - self.start) * inside)
        words = ": ".join(filter(None, (self.message, message)))
        self.callback(Progress(root.furthest, words, time.perf_counter() - root.began, detail))

    def part(self, start: float, stop: float, message: str = "") -> Reporter:
        """Return a reporter of a part of the range, which counts from 0 to 1."""
        wide = self.stop - self.start
        words = ": ".join(filter(None, (self.message, message)))
        return Reporter(
            self.callback, start=self.start + wide * start, stop=self.start + wide * stop, message=words, root=self.root
        )


def part(progress: Reporter | None, start: float, stop: float, message: str = "") -> Reporter | None:
    """Return the part of a reporter that may be None."""
    return None if progress is None else progress.part(start, stop, message)


def should_stop(progress: Reporter | None, fraction: float, message: str = "", detail: Any = None) -> bool:
    """Report a step; return whether the callback asks to stop, which it does by raising StopIteration."""
    if progress is None:
        return False
    try:
        progress(fraction, message, detail)
    except StopIteration:
        return True
    return False


### at the entry of public functions


def reports_progress(message: str) -> Callable[[F], F]:
    """Decorate a function whose parameter `progress` is a callback, True for a bar, or None."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            if not options.keys() <= known:
                refuse(function.__name__, next(name for name in options if name not in known))
            given = options.get("progress")
            if given is None or isinstance(given, Reporter):
                return function(*arguments, **options)
            with opened(given, message) as reporter:
                return function(*arguments, **{**options, "progress": reporter})

        known = require_keyword(function)
        return run  # type: ignore[return-value]

    return decorate


def require_keyword(function: Callable[..., Any]) -> frozenset[str]:
    """Return the parameters of a function; refuse to decorate one that could be given `progress` by its place."""
    parameters = inspect.signature(function).parameters
    assert parameters["progress"].kind is inspect.Parameter.KEYWORD_ONLY, function
    return frozenset(parameters)


def refuse(function: str, name: str) -> None:
    """Raise the TypeError for a keyword that a function does not have, with the name in this package."""
    from bayeslearn.other_names import PARAMETERS  # noqa: PLC0415 - loads when a call is wrong

    meant = f"; did you mean {PARAMETERS[name]}?" if name in PARAMETERS else ""
    raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{meant}")


@contextmanager
def opened(progress: Any, message: str) -> Iterator[Reporter | None]:
    """What a function reports to: the callback, or a bar."""
    if progress is False or progress is None:
        yield None
    elif progress is True:
        with shown(message) as reporter:
            yield reporter
    elif callable(progress):
        yield Reporter(progress)
    else:
        raise ParameterError(
            f"`progress` must be True, a function or None, got {progress!r:.60}",
            hint="progress=True shows a bar; a function is called with a Progress (fraction, message, seconds, detail)",
        )


### bars


@contextmanager
def shown(message: str, *, disabled: bool = False) -> Iterator[Reporter]:
    """Show a bar after two seconds: by rich in a terminal, as HTML in a notebook, nothing elsewhere."""
    bar: Any = NoBar() if disabled else NotebookBar(message) if in_notebook() else TerminalBar(message)
    with bar:
        yield Reporter(Paused(bar.update))


class Paused:
    """A callback that is called after two seconds, and no more often than ten times a second."""

    def __init__(self, update: ProgressCallback) -> None:
        self.update, self.last = update, -PAUSE

    def __call__(self, now: Progress) -> None:
        """Pass the progress on, if it is time."""
        if now.seconds >= PATIENCE and (now.seconds - self.last >= PAUSE or now.fraction >= 1):
            self.last = now.seconds
            self.update(now)


class NoBar:
    """Shows nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, now: Progress) -> None:
        """Show nothing."""


class TerminalBar:
    """A bar by rich on stderr, which is gone when the call ends; nothing if stderr is no terminal."""

    def __init__(self, message: str, *, file: Any = None) -> None:
        self.message, self.file = message, file
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, now: Progress) -> None:
        """Move the bar."""
        if self.bar is None:
            self.start()
        words = one_line(now.message or self.message)
        self.bar.update(self.task, completed=now.fraction, description=words, refresh=True)

    def start(self) -> None:
        """Show the bar; rich is loaded when it is needed first."""
        from rich.console import Console  # noqa: PLC0415 - heavy
        from rich.progress import (  # noqa: PLC0415 - heavy
            BarColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as RichProgress  # noqa: PLC0415 - heavy

        console = Console(file=self.file or sys.stderr)
        self.bar = RichProgress(
            TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
            console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False,
            disable=not console.is_terminal,
        )  # fmt: skip
        self.task = self.bar.add_task(one_line(self.message), total=1.0)
        self.bar.start()


class NotebookBar:
    """A bar as HTML below the cell of a notebook."""

    def __init__(self, message: str) -> None:
        self.message, self.handle = message, None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            self.handle.update(html_of(""))

    def update(self, now: Progress) -> None:
        """Move the bar."""
        now = now if now.message else replace(now, message=self.message)
        if self.handle is None:
            self.handle = ipython_display().display(html_of(bar_html(now)), display_id=True)
        else:
            self.handle.update(html_of(bar_html(now)))


def in_notebook() -> bool:
    """Whether the interpreter is that of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def html_of(text: str) -> Any:
    """An object that a notebook shows as this HTML."""
    return ipython_display().HTML(text)


def ipython_display() -> Any:
    """The module of IPython that shows objects in notebooks."""
    return importlib.import_module("IPython.display")


def bar_html(now: Progress) -> str:
    """The progress as HTML; every name in its message is escaped."""
    return (
        f"<progress value='{now.fraction:.4f}' max='1' style='width:20em'></progress> {now.fraction:.0%} "
        f"<span>{escape(one_line(now.message))}</span> <span style='color:gray'>{now.seconds:.0f} s</span>"
    )
