"""Compile every kernel for the usual types and cache the result: ``python -m bayeslearn.kernels``."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from bayeslearn.kernels.threads import thread_count
from bayeslearn.kernels.warming import WARMERS, warm

if __name__ == "__main__":
    with ProcessPoolExecutor(thread_count()) as pool:  # a process compiles one thing at a time
        list(pool.map(warm, range(len(WARMERS))))
