"""Files of compiled kernels: a folder of the user, and below it the files that came with the package.

A file holds the machine code of one function for one signature and one processor. The name of the file is a digest of
everything that the code depends on: the sources of the function and of what it calls, the signature, the processor, the
versions of numba and Python, and whether indexes are checked (``NUMBA_BOUNDSCHECK=1``). A file is therefore never
stale, checkouts and versions share one folder, and processes that write at the same time write the same file.

    read      the user's folder, then the files of the package
    write     the user's folder: ``BAYESLEARN_CACHE_DIR``, else ``NUMBA_CACHE_DIR``, else the cache folder of the system

All kernels of a process are compiled for one processor, because kernels that must agree to the last digit would not
agree otherwise. By default that is a level (x86-64-v3: AVX2 and FMA) rather than this very processor, so that the code
is portable; where the processor lacks the level, or where ``NUMBA_CPU_NAME`` or ``BAYESLEARN_CPU=host`` asks for it, it
is the processor itself.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import platform
import re
import shutil
import sys
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
from llvmlite import binding
from numba.core import codegen, compiler
from numba.core.caching import _Cache
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from bayeslearn import files
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

#: The files that came with the package.
SHIPPED = Path(__file__).with_name("compiled")
#: Files of the user that were not used for so long are removed when others are compiled.
MAX_DAYS = 60

#: The names of files that this process has read.
used: set[str] = set()

_DAY = 86_400.0
_DIGEST = 16


### the processor


class Target(NamedTuple):
    """A processor in LLVM's words, as numba writes it into its own caches."""

    triple: str
    cpu: str
    features: str


#: The portable level of each architecture, and what a processor must have for it in LLVM's words.
LEVELS: dict[str, tuple[str, frozenset[str]]] = {
    "x86_64": (
        "x86-64-v3",
        frozenset({"avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2"}),
    ),
    "aarch64": ("generic", frozenset()),
}
_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}


@cache
def portable_level() -> str | None:
    """Return the CPU name of portable code; None where this processor cannot run it or other code is asked for."""
    machine = platform.machine().lower()
    level, needed = LEVELS.get(_ALIASES.get(machine, machine), (None, frozenset()))
    if level is None or os.environ.get("BAYESLEARN_CPU") == "host":
        return None
    if numba.config.CPU_NAME not in {None, level}:
        return None
    has = binding.get_host_cpu_features()
    return level if all(has.get(name) for name in needed) else None


@cache
def target() -> Target:
    """Return the processor that the kernels of this process are compiled for."""
    level = portable_level()
    if level:
        return Target(binding.get_process_triple(), level, "")
    cpu = numba.config.CPU_NAME or binding.get_host_cpu_name()
    features = codegen.get_host_cpu_features() if numba.config.CPU_FEATURES is None else numba.config.CPU_FEATURES
    return Target(binding.get_process_triple(), cpu, features)


def compiler_environment() -> dict[str, str]:
    """Return the variables under which numba compiles for the target; empty where it does so anyway."""
    level = portable_level()
    # cleared, not unset: without them numba takes the features of this processor
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "NUMBA_DISABLE_INTEL_SVML": "1"} if level else {}


### names and places of files


@cache
def sources(path: str) -> str:
    """Return a digest of a file of kernels and of the files of kernels that it imports."""
    text = Path(path).read_bytes()
    digest = blake2b(text, digest_size=_DIGEST)
    for name in re.findall(rb"^from bayeslearn\.kernels\.(\w+) import", text, re.MULTILINE):
        digest.update(sources(str(Path(path).with_name(f"{name.decode()}.py"))).encode())
    return digest.hexdigest()


def file_name(function: Callable[..., Any], signature: Any, target: Target) -> str:
    """Return the name of the file that holds the code of a function for a signature and a processor."""
    code = function.__code__
    digest = digest_of(sources(code.co_filename), code.co_qualname, str(signature), *target)
    return f"{Path(code.co_filename).stem}.{function.__name__}-{digest}.nbc"


def digest_of(*parts: str) -> str:
    """Return a digest of strings, and of the versions and the flag of the compiler that code depends on."""
    versions = (numba.__version__, sys.implementation.cache_tag, getattr(sys, "abiflags", ""))
    if numba.config.BOUNDSCHECK:  # NUMBA_BOUNDSCHECK=1: an index out of range raises IndexError
        parts = ("boundscheck", *parts)
    return blake2b("\0".join((*versions, *parts)).encode(), digest_size=_DIGEST).hexdigest()


@cache
def named_folder() -> Path | None:
    """Return the folder that is named for compiled code, whether it is there or not; None where there is no home."""
    given = os.environ.get("BAYESLEARN_CACHE_DIR")
    of_numba = os.environ.get("NUMBA_CACHE_DIR")
    try:
        if given:
            return Path(given).expanduser()
        if of_numba:
            return Path(of_numba) / "bayeslearn"
        return Path(AppDirs("bayeslearn", appauthor=False).user_cache_dir) / "kernels"
    except RuntimeError:
        return None


@cache
def user_folder() -> Path | None:
    """Return the folder of the user for compiled code; None where there is none that can be written to and trusted."""
    folder = named_folder()
    if folder is None:
        return None
    with contextlib.suppress(OSError):  # read-only, full, or below a file
        make_private(folder)
        with NamedTemporaryFile(dir=folder, prefix=".try-"):
            return folder if is_trusted(folder) else None
    return None


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents; no other user writes to them, whatever the umask."""
    for place in [*reversed(folder.parents), folder]:
        if not place.is_dir():
            place.mkdir(exist_ok=True, mode=0o700)


def is_trusted(path: Path, descriptor: int | None = None) -> bool:
    """Whether a file or folder of code is ours and no other user can write to it; another one is reported."""
    found = path.stat() if descriptor is None else os.fstat(descriptor)
    if not hasattr(os, "geteuid"):
        return True
    if found.st_uid != os.geteuid():
        say_once(f"{path} belongs to another user, so that it is not used; set BAYESLEARN_CACHE_DIR")
    elif found.st_mode & 0o022:
        say_once(f"other users can write to {path}, so that it is not used; chmod go-w, or set BAYESLEARN_CACHE_DIR")
    else:
        return True
    return False


@cache
def say_once(sentence: str) -> None:
    """Write a sentence about the files of code to stderr, once for each process."""
    if not os.environ.get("BAYESLEARN_QUIET"):
        sys.stderr.write(f"bayeslearn: {sentence}\n")


@cache
def writable_folder() -> Path | None:
    """Return the folder that code is written to: the user's, or one that ends with this process."""
    folder = user_folder()
    if folder is None:
        with contextlib.suppress(OSError):
            folder = Path(mkdtemp(prefix="bayeslearn-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def where_kept() -> str:
    """Return where code is kept, for messages."""
    folder = user_folder()
    return f"kept in {folder}" if folder else "for this process only; set BAYESLEARN_CACHE_DIR to keep the code"


def readable_folders() -> list[Path]:
    """Return the folders that files are looked for in, in this order; one that is read-only is read too."""
    written, named = writable_folder(), named_folder()
    read_only = named is not None and named != written and named.is_dir() and is_trusted(named)
    return [folder for folder in (written, named if read_only else None, SHIPPED) if folder and folder.is_dir()]


def find(name: str) -> Path | None:
    """Return the file of a name, from the first folder that holds it; None where none does."""
    return next((folder / name for folder in readable_folders() if (folder / name).is_file()), None)


### reading and writing


def load(name: str) -> Any | None:
    """Return what a file holds; None where no folder has the file whole.

    A file that is damaged is removed, so that it is compiled again, and reported.
    """
    for folder in readable_folders():
        path = folder / name
        try:
            content = read_trusted(path) if folder != SHIPPED else path.read_bytes()
        except OSError:
            continue
        if content is None:
            continue
        value = value_of(content)
        if value is not None:
            _note_use(path)
            used.add(name)
            return value
        say_once(f"files of compiled code in {folder} are damaged, removed and compiled again")
        with contextlib.suppress(OSError):
            path.unlink()
    return None


def read_trusted(path: Path) -> bytes | None:
    """Return the content of a file that no other user can write to; None for another one."""
    with path.open("rb") as file:
        return file.read() if is_trusted(path, file.fileno()) else None


def value_of(content: bytes) -> Any | None:
    """Return the value of a file whose digest is right; None where it is not, or where it cannot be read."""
    if blake2b(content[_DIGEST:], digest_size=_DIGEST).digest() != content[:_DIGEST]:
        return None
    try:
        return pickle.loads(content[_DIGEST:])  # noqa: S301 - our own files: they are code in any case
    except (pickle.UnpicklingError, AttributeError, ImportError, EOFError, ValueError):
        return None


def _note_use(path: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


def save(name: str, value: Any) -> None:
    """Write a file whole; nothing happens where nothing can be written."""
    content = dumps(value)
    write(name, blake2b(content, digest_size=_DIGEST).digest() + content)


def write(name: str, content: bytes) -> None:
    """Write bytes to a file of a folder that can be written to, atomically."""
    folder = writable_folder()
    if folder is not None:
        # the folder may be gone, full or no longer ours
        with contextlib.suppress(OSError, ParameterError), files.beside(folder / name) as place:
            place.chmod(0o600)  # code that is executed: nobody else writes it, whatever the umask
            place.write_bytes(content)


#: The names of our own files: code, marks of groups that were compiled, and what a kill left of these.
_OWN_NAME = re.compile(r"[\w.]+-[0-9a-f]{32}\.(nbc|done)|\.[0-9a-f]{16}\.tmp|\.try-\w+").fullmatch


def remove_unused() -> None:
    """Remove files of the user's folder that no process has used for a long time; those of others stay."""
    folder = user_folder()
    limit = time.time() - MAX_DAYS * _DAY
    for path in folder.iterdir() if folder else ():
        with contextlib.suppress(OSError):
            if _OWN_NAME(path.name) and path.stat().st_mtime < limit:
                path.unlink()


### what numba asks


class KernelCache(_Cache):
    """The cache of one compiled function; numba asks it before it compiles a signature and hands it the result.

    Parameters
    ----------
    function
        The Python function.
    compile_elsewhere
        Compiles a signature of the function in a process whose target is ours, and writes the file.
    """

    def __init__(self, function: Callable[..., Any], compile_elsewhere: Callable[[Any, Any], None]) -> None:
        self._function = function
        self._compile_elsewhere = compile_elsewhere
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder that code is written to."""
        return str(writable_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any | None:
        """Return the compiled function for a signature; None where no file has it."""
        target_context.refresh()
        if not self._enabled:
            return None
        name, own = file_name(self._function, sig, target()), Target(*target_context.codegen().magic_tuple())
        found = load(name)
        if found is None and own != target():
            self._compile_elsewhere(self._function, sig)
            found = load(name)
        if found is None and own != target():
            found = load(file_name(self._function, sig, own))  # no process could be started: this one compiles
        return None if found is None else compiler.CompileResult._rebuild(target_context, *found)  # noqa: SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function of a signature, unless it holds addresses of this process."""
        if self._enabled and not data.lifted and not data.library.has_dynamic_globals:
            save(file_name(self._function, sig, Target(*data.codegen.magic_tuple())), data._reduce())  # noqa: SLF001

    def enable(self) -> None:
        """Use files again."""
        self._enabled = True

    def disable(self) -> None:
        """Use no files."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: names identify what files hold, so no file is stale."""
