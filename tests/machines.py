"""The tests as other machines run them: ``make test-machines``.

The last digits of results differ between processors: OpenBLAS has kernels for each core type, NumPy loops for AVX2 and
AVX-512, LLVM compiles for each CPU name, and threads add in another order. Each configuration is one that some machine
has. Configurations that this processor cannot execute are skipped.

    python -m tests.machines            run every configuration, one line for each, and fail if one of them fails
    python -m tests.machines --list     print the configurations
    python -m tests.machines --other    print a core type that OpenBLAS does not choose here by itself, if any
    python -m tests.machines -- -x tests/regression      hand arguments on to pytest
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: What a processor must have for the kernels of an OpenBLAS core type, in LLVM's words.
CORES = {
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "Sandybridge": {"avx"},
}
#: Loops of NumPy that a processor of this core type lacks, by the beginning of their names.
NO_LOOPS = {"SkylakeX": (), "Haswell": ("AVX512", "X86_V4"), "Zen": ("AVX512", "X86_V4"), "Sandybridge": ("",)}
#: The same as `CORES` for the CPU names that LLVM compiles for; "host" is the processor itself.
CPUS = {"host": set(), "x86-64-v3": {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}, "generic": set()}


@dataclass(frozen=True)
class Configuration:
    """A machine to imitate; interpreted kernels have no CPU name, so theirs is "host"."""

    core: str
    cpu: str
    threads: int
    compiled: bool

    def __str__(self) -> str:
        how = f"compiled for {self.cpu}" if self.compiled else "interpreted"
        return f"{self.core:<12} {how:<23} {self.threads} thread{'s' * (self.threads > 1)}"

    def missing(self, features: set[str]) -> set[str]:
        """Return what the configuration needs and the processor lacks."""
        return (CORES[self.core] | CPUS[self.cpu]) - features

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the configuration.

        A CPU name alone keeps the features of the host, AVX-512 among them, so they are cleared.
        """
        variables = {
            "OPENBLAS_CORETYPE": self.core,
            "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in numpy_loops() if f.startswith(NO_LOOPS[self.core])),
            "OPENBLAS_NUM_THREADS": str(self.threads),
            "BAYESLEARN_THREADS": str(self.threads),
            "BAYESLEARN_QUIET": "1",
        }
        if not self.compiled:
            return variables | {"NUMBA_DISABLE_JIT": "1"}
        if self.cpu == "host":
            return variables | {"BAYESLEARN_CPU": "host"}
        return variables | {"NUMBA_CPU_NAME": self.cpu, "NUMBA_CPU_FEATURES": ""}


#: Every core type, CPU name and number of threads at least once, compiled and interpreted.
CONFIGURATIONS = [
    Configuration("SkylakeX", "host", 2, compiled=True),
    Configuration("Haswell", "x86-64-v3", 1, compiled=True),
    Configuration("Zen", "generic", 2, compiled=True),
    Configuration("Sandybridge", "host", 1, compiled=True),
    Configuration("SkylakeX", "host", 1, compiled=False),
    Configuration("Haswell", "host", 2, compiled=False),
    Configuration("Zen", "host", 1, compiled=False),
    Configuration("Sandybridge", "host", 2, compiled=False),
]


def host_features() -> set[str]:
    """Return the features that this processor can execute."""
    from llvmlite import binding

    return {name for name, there in binding.get_host_cpu_features().items() if there}


def numpy_loops() -> list[str]:
    """Return the features that NumPy has loops for beyond its baseline and that this processor can execute."""
    from numpy._core import _multiarray_umath as umath

    return [feature for feature in umath.__cpu_dispatch__ if umath.__cpu_features__.get(feature)]


def own_core() -> str | None:
    """Return the core type that NumPy's OpenBLAS chooses here; None where there is no OpenBLAS."""
    import numpy  # noqa: F401, ICN001 - loads OpenBLAS
    from threadpoolctl import threadpool_info

    return next((str(i.get("architecture")) for i in threadpool_info() if i.get("internal_api") == "openblas"), None)


def other_core(own: str | None, features: set[str]) -> str | None:
    """Return a core type whose kernels this processor can execute and OpenBLAS does not choose."""
    own = "Haswell" if own == "Zen" else own  # they share their kernels
    choices = [core for core in ("Haswell", "SkylakeX", "Sandybridge") if CORES[core] <= features and core != own]
    return choices[0] if choices and own else None


def run(configuration: Configuration, arguments: list[str]) -> bool:
    """Run the tests, print a line, and after a failure what pytest says of it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | configuration.environment()
    started = time.monotonic()
    tests = ["tests.interpreted"]
    if configuration.compiled:
        subprocess.run([sys.executable, "-m", "bayeslearn.kernels"], cwd=ROOT, env=environment, check=True)
        tests = ["pytest", "-m", "not slow"]
    command = [sys.executable, "-m", *tests, "-q", "-n", "auto", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    summary = re.sub(r"^=+ | =+$", "", lines[-1]) if lines else ""
    verdict = "passed" if done.returncode == 0 else "FAILED"
    sys.stdout.write(f"{configuration}  {verdict}  {time.monotonic() - started:.0f} s  {summary}\n")
    if done.returncode:
        sys.stdout.write(done.stdout + done.stderr)
    sys.stdout.flush()
    return done.returncode == 0


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.machines", description="The tests as other machines run them."
    )
    parser.add_argument("--list", action="store_true", help="print the configurations")
    parser.add_argument("--other", action="store_true", help="print a core type that is not the machine's own")
    parser.add_argument("arguments", nargs="*", help="arguments of pytest")
    asked, features = parser.parse_args(words), host_features()
    if asked.other:
        sys.stdout.write(f"{other_core(own_core(), features) or ''}\n")
        return 0
    passed = True
    for configuration in CONFIGURATIONS:
        if missing := configuration.missing(features):
            sys.stdout.write(f"{configuration}  skipped: this processor has no {', '.join(sorted(missing))}\n")
        elif asked.list:
            sys.stdout.write(f"{configuration}\n")
        else:
            passed &= run(configuration, asked.arguments)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
