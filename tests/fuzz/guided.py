"""Fuzz a target guided by coverage, with atheris: python -m tests.fuzz.guided networks/bif [--minutes 5].

Mutations of the bytes are kept where they reach new lines of the package, so that deep branches of parsers are found
that mutations without a guide never reach. Needs the extra ``fuzz``. What is found is written to the corpus.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

#: Examples of the target that the mutations start from.
N_SEEDS = 200


def main() -> None:
    """Run libFuzzer on one target."""
    import atheris

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--minutes", type=float, default=5.0)
    asked = parser.parse_args()
    with atheris.instrument_imports(include=["bayeslearn"]):
        from tests.fuzz import trials

        target = trials.target_of(asked.target)
        target.run(target.data(0))  # modules that load when they are used are loaded here
    found = trials.CORPUS / target.name
    found.mkdir(parents=True, exist_ok=True)
    seeds = Path(tempfile.mkdtemp(prefix="fuzz-seeds-"))
    for seed in range(N_SEEDS):
        (seeds / str(seed)).write_bytes(target.data(seed))
    options = [
        f"-max_total_time={60 * asked.minutes:.0f}",
        f"-timeout={target.seconds:.0f}",
        "-rss_limit_mb=3000",
        "-max_len=20000",
        f"-artifact_prefix={found}/",
        str(seeds),
        str(found),
    ]
    atheris.Setup([sys.argv[0], *options], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
