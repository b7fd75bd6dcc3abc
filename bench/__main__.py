from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from bench import quality
from bench.harness import measure_ours, report
from bench.revisions import compare

NOT_SUBJECTS = {
    "__main__", "harness", "messy_data", "quality_data", "quality_learners", "revisions", "scale_data", "scale_job",
    "text_quality",
}  # fmt: skip
#: The subjects that measure how good predictions are, not seconds.
OF_QUALITY = {"quality"}
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
    parser.add_argument("--ours", action="store_true", help="measure bayeslearn alone")
    parser.add_argument("--before", type=Path, metavar="TREE", help="compare with another checkout of bayeslearn")
    quality.add_options(parser)
    asked = parser.parse_args()
    if asked.subject in OF_QUALITY:
        return quality.run(asked)
    names = sorted({*subjects()} - OF_QUALITY) if asked.subject == "all" else [asked.subject]
    if asked.before:
        options = [*(["--quick"] if asked.quick else []), *(["--only", asked.only] if asked.only else [])]
        for name in names:
            compare(name, asked.before, options, lambda line: print(json.dumps(line), flush=True))
        return 0

    def show(line: dict) -> None:
        print(json.dumps(line) if asked.json else ROW.format(**line), flush=True)

    if not (asked.json or asked.ours):
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
    modules = [importlib.import_module(f"bench.{name}") for name in names]
    if asked.ours:
        for module in modules:
            for work in module.works(quick=asked.quick):
                if asked.only in work.name:
                    print(json.dumps(measure_ours(work, 3 if asked.quick else 7)), flush=True)
        return 0
    # a list, so that every subject runs even after one disagreed
    works = ((work for work in m.works(quick=asked.quick) if asked.only in work.name) for m in modules)
    agreed = [report(some, 3 if asked.quick else 7, show) for some in works]
    return 0 if all(agreed) else 1


sys.exit(main())
