from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from bench.harness import report

NOT_SUBJECTS = {"__main__", "harness", "messy_data", "scale_data", "scale_job"}
ROW = "{work:46} {peer:>14} {peer_seconds:>10} s {seconds:>10} s {ratio:>9} x {goal:>6} {agree!s:>6}"


def subjects() -> list[str]:
    found = {module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])}
    return sorted(found - NOT_SUBJECTS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure bayeslearn against its peers.")
    parser.add_argument("subject", choices=[*subjects(), "all"])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats")
    parser.add_argument("--only", default="", metavar="TEXT", help="the works whose names hold this text")
    asked = parser.parse_args()

    def show(line: dict) -> None:
        print(json.dumps(line) if asked.json else ROW.format(**line), flush=True)

    if not asked.json:
        print(
            ROW.replace(" s ", "   ")
            .replace(" x ", "   ")
            .format(
                work="work",
                peer="peer",
                peer_seconds="peer s",
                seconds="ours s",
                ratio="ratio",
                goal="goal",
                agree="agree",
            )
        )
    names = subjects() if asked.subject == "all" else [asked.subject]
    modules = [importlib.import_module(f"bench.{name}") for name in names]
    # a list, so that every subject runs even after one disagreed
    works = ((work for work in m.works(quick=asked.quick) if asked.only in work.name) for m in modules)
    agreed = [report(some, 3 if asked.quick else 7, show) for some in works]
    return 0 if all(agreed) else 1


sys.exit(main())
