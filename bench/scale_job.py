"""One job of `bench scale` in a process of its own, whose memory may be limited: what it took, as one JSON object.

python -m bench.scale_job 'cases-*.parquet' --limit 1GiB --iterations 5
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--limit", help="the memory that the process may have for data (RLIMIT_DATA)")
    parser.add_argument("--iterations", type=int, default=5)
    asked = parser.parse_args()
    if asked.limit:
        from bayeslearn.sources.engines import bytes_of

        resource.setrlimit(resource.RLIMIT_DATA, (bytes_of(asked.limit),) * 2)
    print(json.dumps(job(asked.data, asked.iterations)))


def job(data: list[str], iterations: int) -> dict[str, float]:
    """Scan, count every table of the network, and climb a few steps of EM."""
    from bayeslearn import fit_parameters, scan
    from bayeslearn.errors import ConvergenceWarning
    from bayeslearn.sources import count_cells
    from bench.scale_data import network

    net, told = network(), {}
    families = [[v.name for v in (*cpt.parents, cpt.variable)] for cpt in net]

    begin = time.perf_counter()
    source = scan(data, schema=net.schema)
    count_cells(source, families)
    told["count"] = time.perf_counter() - begin

    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = fit_parameters(net.dag, source, states={v.name: v.states for v in net.schema}, tol=0, max_iter=iterations)
    told["em"] = time.perf_counter() - begin
    told |= {
        "rows": fit.fit_info.n_rows,
        "iterations": fit.fit_info.n_iter,
        "log_likelihood": fit.fit_info.log_likelihood,
    }
    return told | {"peak_mib": peak_mib()}


def peak_mib() -> float:
    """The most memory that this process held; getrusage would tell that of the one which started it."""
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


if __name__ == "__main__":
    main()
