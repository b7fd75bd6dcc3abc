"""The jobs whose answers are kept: every verb with `--json` on small data, and a saved model of every kind.

    python -m tests.golden.jobs NAME ...        run all of them, or some, and write answers/ and models/ anew

``answers/`` holds what each job answered, ``models/`` a file of every kind of model that a job wrote. They are written
anew only where a change is meant to change them, and the difference is read in the commit.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import warnings
from contextlib import chdir
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from bayeslearn.cli.app import app
from tests.installed import write_tables

FOLDER = Path(__file__).parent
ANSWERS, MODELS = FOLDER / "answers", FOLDER / "models"

#: How the names of entries end that differ from run to run.
CLOCKS = ("seconds", "per_second")

#: Rows of written tables that are kept.
MAX_ROWS = 25

#: Verbs that write data or text only.
WITHOUT_JSON = {"sample", "convert", "demo"}

#: Endings of the formats of networks.
FORMATS = (".json", ".bif", ".xmlbif", ".net", ".xdsl", ".agrum.xdsl", ".uai", ".agrum.uai")

#: Models of every kind, by the name of the file that holds them.
LEARNED = {
    "network.json": "fit network words.csv -o network.json --seed 1",
    "network-numbers.json": "fit network table.csv -o network-numbers.json --seed 1",
    "network-missing.json": "fit parameters '[color][class|color]' table.csv --extra-columns ignore "
    "-o network-missing.json",
    "network-updated.json": "update MODELS/network.json words.csv -o network-updated.json",
    "network-merged.json": "merge MODELS/network.json MODELS/network-updated.json -o network-merged.json",
    "naive.json": "fit naive-bayes table.csv --target class --distribution gaussian --no-calibrate -o naive.json",
    "naive-cut.json": "fit naive-bayes table.csv --target class --distribution x=binned:4 --distribution gaussian"
    " --no-calibrate -o naive-cut.json",
    "naive-auto.json": "fit naive-bayes table.csv --target class -o naive-auto.json",
    "mixture.json": "fit mixture table.csv --n-components 2 -o mixture.json --seed 1",
    "mixture-full.json": "fit mixture table.csv --n-components 2 --columns x,y,z -o mixture-full.json --seed 1",
    "hmm-gaussian.json": "fit hmm steps.csv --n-states 2 --id run -o hmm-gaussian.json --seed 1",
    "hmm-full.json": "fit hmm table.csv --n-states 2 --columns x,z --covariance-type full -o hmm-full.json --seed 1",
    "hmm-symbols.json": "fit hmm letters.csv --n-states 2 --id run -o hmm-symbols.json --seed 1",
    "hmm-counts.json": "fit hmm counts.csv --n-states 2 --emissions poisson -o hmm-counts.json --seed 1",
    "hmm-mixture.json": "fit hmm table.csv --n-states 2 --columns x,z --n-mixtures 2 -o hmm-mixture.json --seed 1",
    "linear.json": "fit regression table.csv --target y -o linear.json",
    "rbf.json": "fit regression table.csv --target y --method rbf -o rbf.json --seed 1",
    "local.json": "fit regression table.csv --target y --method local -o local.json",
    "sigmoid.json": "fit regression table.csv --target class --method logistic -o sigmoid.json",
    "neighbors.json": "fit neighbors table.csv --target class -o neighbors.json",
    "neighbors-numbers.json": "fit neighbors table.csv --target y -o neighbors-numbers.json",
    "texts.model": "fit text texts.csv --target folder --likelihood multinomial -o texts.model",
    "texts-bernoulli.model": "fit text texts.csv --target folder --likelihood bernoulli -o texts-bernoulli.model",
    "schema.json": "scan table.csv -o schema.json",
}

#: Questions, by a name; those that name a file in MODELS read a model of before.
ASKED = {
    "bayes": "bayes cancer-test -e positive -e positive",
    "concept": "concept enjoy-sport --target enjoy_sport",
    "structure-posterior": "structure-posterior words.csv --n-samples 50 --seed 1",
    "compare-models": "compare-models table.csv --target class",
    "online": "online words.csv --target size",
    "scan": "scan table.csv",
    "show": "show MODELS/network.json",
    "show support": "show MODELS/network.json --support",
    "query": "query asia smoke=yes",
    "query network": "query MODELS/network.json size=large",
    "query numbers": "query MODELS/network-numbers.json 'x=0.5'",
    "query updated": "query MODELS/network-updated.json size=large",
    "query merged": "query MODELS/network-merged.json size=large",
    "query missing": "query MODELS/network-missing.json color=red",
    "query weighted": "query asia smoke=yes --method likelihood_weighting --seed 1",
    "explain": "explain asia dysp=yes xray=yes --target lung",
    "predict": "predict MODELS/network.json words.csv --target size -o out.csv",
    "compare-networks": "compare-networks MODELS/network.json MODELS/network-updated.json",
    "score": "score MODELS/network.json words.csv",
    "impute": "impute MODELS/network-numbers.json table.csv -o out.csv",
    "sample": "sample MODELS/network.json -n 20 --seed 1",
    "bound vc-dimension": "bound vc-dimension points.csv --max-points 3",
    "bound pac": "bound pac --n-hypotheses conjunctions:10 --epsilon .1 --delta .05",
    "bound agnostic": "bound agnostic --n-hypotheses conjunctions:10 --delta .05 -m 1000",
    "bound vc": "bound vc --dimension 3 --epsilon 0.1 --delta 0.05",
    "bound mistakes": "bound mistakes --n-hypotheses conjunctions:10",
    "bound error-interval": "bound error-interval 12 40",
    "case-based retrieve": "case-based retrieve plumbing faucet",
    "case-based design": "case-based design plumbing faucet",
    "case-based show": "case-based show plumbing T-junction",
    "predict naive": "predict MODELS/naive.json table.csv -o out.csv",
    "predict naive-cut": "predict MODELS/naive-cut.json table.csv -o out.csv",
    "predict mixture": "predict MODELS/mixture.json table.csv -o out.csv",
    "predict mixture-full": "predict MODELS/mixture-full.json table.csv -o out.csv",
    "predict hmm": "predict MODELS/hmm-gaussian.json steps.csv --id run -o out.csv",
    "score hmm": "score MODELS/hmm-gaussian.json steps.csv --id run",
    "score hmm-full": "score MODELS/hmm-full.json table.csv",
    "score hmm-symbols": "score MODELS/hmm-symbols.json letters.csv --id run",
    "score hmm-counts": "score MODELS/hmm-counts.json counts.csv",
    "score hmm-mixture": "score MODELS/hmm-mixture.json table.csv",
    "predict text": "predict MODELS/texts.model 'ball goal soup'",
    "predict text-bernoulli": "predict MODELS/texts-bernoulli.model 'ball goal soup'",
    "evaluate text": "evaluate text texts.csv --target folder --likelihood multinomial --seed 1",
    "predict linear": "predict MODELS/linear.json table.csv -o out.csv",
    "predict rbf": "predict MODELS/rbf.json table.csv -o out.csv",
    "predict local": "predict MODELS/local.json table.csv -o out.csv",
    "predict sigmoid": "predict MODELS/sigmoid.json table.csv -o out.csv",
    "predict neighbors": "predict MODELS/neighbors.json table.csv -o out.csv",
    "predict neighbors-numbers": "predict MODELS/neighbors-numbers.json table.csv -o out.csv",
    **{f"convert {ending[1:]}": f"convert MODELS/network.json out{ending}" for ending in FORMATS},
    "demo": "demo",
}


def write_data(folder: Path) -> None:
    """Write the tables that the jobs read."""
    write_tables(folder)
    (folder / "counts.csv").write_text("n\n" + "\n".join(str(i * i % 7 + 5 * (i // 10 % 2)) for i in range(80)) + "\n")
    (folder / "points.csv").write_text("p,q,r\n0,0,0\n1,0,0\n0,1,0\n1,1,0\n0,0,1\n")


def run(line: str) -> dict[str, Any]:
    """Run a job in the folder at hand: its exit code, its answer, and the rows that it wrote."""
    for old in Path().glob("out.*"):
        old.unlink()
    words = [word.replace("MODELS", str(MODELS)) for word in shlex.split(line)]
    words += [] if words[0] in WITHOUT_JSON else ["--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = CliRunner().invoke(app, words)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    found: dict[str, Any] = {"exit": outcome.exit_code, "answer": parsed(outcome.stdout)}
    for written in Path().glob("out.*") if words[0] == "convert" else ():
        found["text"] = written.read_text(encoding="utf-8").splitlines()
    if Path("out.csv").exists():
        rows = Path("out.csv").read_text(encoding="utf-8").splitlines()
        found |= {"n_rows": len(rows) - 1, "rows": [parsed_row(row) for row in rows[:MAX_ROWS]]}
    return found


def parsed(text: str) -> Any:
    """The result in the JSON of a verb, without times, or else the lines of a text."""
    try:
        return without_clocks(json.loads(text.replace(str(MODELS), "MODELS"))["result"])
    except json.JSONDecodeError:
        return [line for line in text.splitlines() if not line.startswith("Seconds ")]


def parsed_row(row: str) -> list[Any]:
    """The cells of a row, numbers as numbers."""
    return [as_number(cell) for cell in row.split(",")]


def as_number(cell: str) -> Any:
    """A number where a cell is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def without_clocks(value: Any) -> Any:
    """An answer without the entries that differ from run to run."""
    if isinstance(value, dict):
        return {key: without_clocks(entry) for key, entry in value.items() if not key.endswith(CLOCKS)}
    return [without_clocks(entry) for entry in value] if isinstance(value, list) else value


def file_name(job: str) -> str:
    """The name of the file of an answer."""
    return job.replace(" ", "-").replace(".", "-") + ".json"


def main(names: list[str]) -> None:
    """Write all answers and models anew, or those of some jobs."""
    ANSWERS.mkdir(exist_ok=True)
    MODELS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_data(Path())
        for name, line in (LEARNED | ASKED).items():
            if names and name not in names:
                continue
            found = run(line)
            if found["exit"]:
                sys.exit(f"{line} ended with {found['exit']}: {found['answer']}")
            if name in LEARNED:
                Path(name).replace(MODELS / name)
            text = json.dumps(found, indent=1, ensure_ascii=False)
            (ANSWERS / file_name(name)).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
