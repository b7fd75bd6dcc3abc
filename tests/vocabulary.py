"""Every public name, and what the naming rules forbid in it.

python -m tests.vocabulary        print the names that break a rule, each with the name that takes its place
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.main import get_command

import bayeslearn
from bayeslearn import codec
from bayeslearn.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ANSWERS = Path(__file__).parent / "golden" / "answers"

#: Words that no public name contains, words with which none begins, and pairs of words.
BANNED = re.compile(r"told|tells?|said|says|speaks?|spoke|heard|holes?|doubts?|doubtful|faint|sourced|contest")
PAIRS = re.compile(r"(\w+_)?left_out(_\w+)?")
LEADING = ("most", "least")
#: British spellings, and words that only look like one.
BRITISH = re.compile(
    r"neighbours?|centres?|centred|colours?|labell\w*|unlabelled|behaviour|\w+(ise|ised|iser|ising|isation)"
)
AMERICAN = {
    "noise", "otherwise", "pairwise", "stepwise", "raise", "precise", "promise", "exercise", "supervised",
    "unsupervised", "advise", "advised",
}  # fmt: skip

#: Superlatives, in which `most` is no limit.
SUPERLATIVES = re.compile(r"most_?(probable|likely|confused|similar|frequent)", re.IGNORECASE)

#: Parameters that have another name, and where they are right.
FORBIDDEN = {
    "rng": "random_state", "seed": "random_state", "weights": "sample_weight", "cases": "", "bins": "n_bins",
    "folds": "cv", "k": "n_*",
}  # fmt: skip
ALLOWED = {"weights": ("neighbors", "fit neighbors", "MixtureModel"), "k": ("k_cnf", "KCNF"), "cases": ("case_based",)}

#: Verbs with which public functions begin, and names of quantities and of files that need none.
VERBS = re.compile(
    r"as|broadcast|build|calibrate|choose|collect|compare|count|cross|descend|describe|design|discretize|encode|evaluate"
    r"|explain|find|fit|format|is|keep|list|load|parse|plot|query|read|register|retrieve|run|sample|save|scan|select"
    r"|simulate|with|write"
)
QUANTITIES = re.compile(
    r"\w+_(bound|bounds|path|curve|function|tables|weights|intervals|counts|lengths|bits|dimension|learners|rows)"
    r"|all_conjunctions|case_base_path|class_indicators|concept_space|leave_one_out|log_marginal_likelihood|lowess|shd"
    r"|missing_beliefs|standard_class|largest_shattered|query_interval"
)

#: Members that have a settled name, by their classes.
SETTLED = {
    "BayesianNetwork": {"names": "variables"},
    "Bound": {"sentence": "summary()"},
    "CPT": {"over": "reorder_parents", "seen": "observed_counts", "learned": "is_learned"},
    "CaseUse": {"tells": "n_influences", "surplus": "extra"},
    "Categorical": {"size": "n_states"},
    "Design": {"certain": "is_exact", "left_open": "uncovered", "surplus": "extra"},
    "DiscreteVariable": {"size": "n_states"},
    "Distance": {"learn": "fit"},
    "Features": {"learn": "fit"},
    "HiddenMarkovModel": {
        "start": "startprob", "transitions": "transmat", "permuted": "reorder_states", "unrolled": "to_network",
        "durations": "expected_durations", "stationary": "stationary_distribution", "learn": "fit_hmm",
    },
    "HypothesisPosterior": {"map": "map_hypotheses", "ml": "ml_hypotheses"},
    "LinearFit": {"learn": "fit"},
    "LogisticFit": {"learn": "fit"},
    "Match": {"likeness": "similarity", "certain": "is_exact", "left_open": "uncovered", "surplus": "extra"},
    "OnlineEM": {"learn": "update"},
    "ParameterFitInfo": {"passes": "n_passes", "iterations": "n_iter"},
    "StructureFitInfo": {
        "scored_by": "criterion", "stopped": "stopped_early", "expectation": "structural_em",
        "tests": "independence_tests", "prepared": "prepared_data", "passes": "n_passes", "bits": "description_length",
    },
    "StructurePosterior": {
        "fair": "symmetrized", "arc": "arc_probability", "edge": "edge_probability", "networks": "model_average",
        "gap": "max_chain_difference", "taken": "acceptance_rate", "stopped": "stopped_early",
    },
}  # fmt: skip

#: Options of the command line that are no parameters.
COMMAND_LINE = {
    "help", "version", "json", "output", "seed", "scheduler", "plot", "install_completion", "show_completion",
}  # fmt: skip


### what is public


@functools.cache
def public_modules() -> list[Any]:
    """Packages and modules whose names are public."""
    packages = pkgutil.walk_packages(bayeslearn.__path__, "bayeslearn.")
    names = ["bayeslearn", *(found.name for found in packages if found.ispkg)]
    names += [f"bayeslearn.{name}" for name in ("em", "errors", "validation")]
    return [importlib.import_module(name) for name in names if name not in {"bayeslearn.kernels", "bayeslearn.cli"}]


@functools.cache
def public_objects() -> dict[str, list[Any]]:
    """Public functions and classes by their names; several of one name where there are several."""
    found: dict[str, list[Any]] = {}
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if is_ours(value) and not any(value is other for other in found.setdefault(name, [])):
                found[name].append(value)
    return {name: values for name, values in found.items() if values}


def is_ours(value: Any) -> bool:
    """Whether a function or a class is defined in this package."""
    own = inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, functools.partial)
    return own and str(getattr(value, "__module__", "")).startswith("bayeslearn")


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public attributes of a class that are defined here: methods, properties, fields."""
    for home in cls.__mro__:
        if home.__module__.startswith("bayeslearn"):
            yield from ((name, value) for name, value in vars(home).items() if not name.startswith("_"))
    if dataclasses.is_dataclass(cls):
        yield from ((field.name, None) for field in dataclasses.fields(cls) if not field.name.startswith("_"))


def public_functions() -> dict[str, Any]:
    """Public functions by their names; those of `validation` have the names of what they return."""
    found = {name: value for name, values in public_objects().items() for value in values if not inspect.isclass(value)}
    return {name: value for name, value in found.items() if value.__module__ != "bayeslearn.validation"}


def callables() -> Iterator[tuple[str, Any]]:
    """Public functions, constructors and methods by their names."""
    for name, values in public_objects().items():
        for value in values:
            yield name, value
            if inspect.isclass(value):
                own = {m: getattr(value, m, None) for m, _ in members(value)}
                yield from ((f"{name}.{m}", v) for m, v in own.items() if inspect.isroutine(v))


def parameters(value: Any) -> list[str]:
    """The names of the parameters of a callable."""
    if inspect.isclass(value) and getattr(value, "_is_protocol", False):
        return []
    try:
        return [p for p in inspect.signature(value).parameters if not p.startswith("_") and p not in {"self", "cls"}]
    except (TypeError, ValueError):
        return []


def options() -> Iterator[tuple[str, str]]:
    """The options of every verb, with `_` for `-`, and the verb."""

    def walk(command: Any, path: str) -> Iterator[tuple[str, str]]:
        for parameter in command.params:
            yield from ((path, word[2:].replace("-", "_")) for word in parameter.opts if word.startswith("--"))
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{path} {name}".strip())

    yield from walk(get_command(app), "")


def json_keys(value: Any) -> Iterator[str]:
    """The keys of an answer that stand for themselves: those of objects whose keys are words."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from [key] if key.isidentifier() else []
            yield from json_keys(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from json_keys(entry)


### what is wrong


def words(name: str) -> list[str]:
    """The words of a name: parts between underscores, and those that begin with a capital letter."""
    return [w.lower() for part in re.split(r"[_.\-]", name) for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", part)]


def is_wrong(name: str) -> bool:
    """Whether a name has a word that is banned, or is British."""
    found = words(SUPERLATIVES.sub("best", name)) or [""]
    banned = any(BANNED.fullmatch(w) for w in found)
    british = any(BRITISH.fullmatch(w) and w not in AMERICAN for w in found)
    return banned or british or found[0] in LEADING or bool(PAIRS.fullmatch(name.lower()))


def violations() -> dict[str, str]:
    """Everything that is wrong, each by a line, with the name that takes its place where a rule says so."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(bayeslearn.__path__, "bayeslearn."):
        found |= {f"module {module.name}": "" for _ in [0] if is_wrong(module.name.removeprefix("bayeslearn."))}
    for name, value in callables():
        found |= {f"name {name}": "" for _ in [0] if is_wrong(name.rpartition(".")[2])}
        found |= of_parameters(name, value)
    for name, values in public_objects().items():
        for value in values:
            if inspect.isclass(value):
                found |= {f"name {name}.{m}": "" for m, _ in members(value) if is_wrong(m)}
    found |= of_classes(public_objects()) | of_functions(public_functions()) | of_members(public_objects())
    return found | of_learners(public_functions()) | of_options(options()) | of_json(ANSWERS)


def of_classes(objects: dict[str, list[Any]]) -> dict[str, str]:
    """Names that several classes have."""
    return {f"several classes {name}": "" for name, values in objects.items() if sum(map(inspect.isclass, values)) > 1}


def of_members(objects: dict[str, list[Any]]) -> dict[str, str]:
    """Members whose settled name is another one."""
    found = {}
    for name, settled in SETTLED.items():
        own = {member for cls in objects.get(name, []) for member, _ in members(cls)}
        found |= {f"name {name}.{old}": new for old, new in settled.items() if old in own}
    return found


def of_functions(functions: dict[str, Any]) -> dict[str, str]:
    """Functions whose names have no verb, and name no quantity."""
    return {
        f"no verb {name}": ""
        for name in functions
        if not VERBS.fullmatch(words(name)[0]) and not QUANTITIES.fullmatch(name)
    }


def of_parameters(name: str, value: Any) -> dict[str, str]:
    """Parameters that are forbidden, or have a banned word."""
    found = {}
    for parameter in parameters(value):
        home = f"{getattr(value, '__module__', '')}.{name}"
        right = any(place in home for place in ALLOWED.get(parameter, ()))
        if is_wrong(parameter) or (parameter in FORBIDDEN and not right):
            found[f"parameter {name}({parameter})"] = FORBIDDEN.get(parameter, "")
    return found


def of_learners(functions: dict[str, Any]) -> dict[str, str]:
    """Functions that learn and return no model, or have another verb than `fit`."""
    models = {codec.class_of(kind).__name__ for kind in codec.KINDS}
    found = {}
    for name, value in functions.items():
        returned = str(inspect.signature(value).return_annotation) if words(name)[0] in {"fit", "learn"} else ""
        if name == "learn" or name.startswith("learn_"):
            found[f"learner {name} -> {returned}"] = "fit_*"
        elif name.startswith("fit_") and returned not in models:
            found[f"learner {name} -> {returned}"] = "the model"
    return found


def of_options(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Options that have a banned word, or are no parameter of anything."""
    known = {p for _, value in callables() for p in parameters(value)} | COMMAND_LINE
    known |= {name.rpartition(".")[2] for name, _ in callables()}  # --explain is the method of this name
    known |= {name.replace("keep_", "no_", 1) for name in known if name.startswith("keep_")}
    forbidden = FORBIDDEN.keys() - {"seed"}
    return {
        f"option {verb} --{name.replace('_', '-')}": ""
        for verb, name in given
        if is_wrong(name) or name not in known or (name in forbidden and verb not in ALLOWED.get(name, ()))
    }


def of_json(folder: Path) -> dict[str, str]:
    """Keys of answers that have a banned word."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        answer = json.loads(path.read_text(encoding="utf-8")).get("answer")
        found |= {f"key {path.stem}: {key}": "" for key in json_keys(answer) if is_wrong(key)}
    return found


if __name__ == "__main__":
    for wrong, right in sorted(violations().items()):
        print(f"{wrong} => {right}" if right else wrong)  # noqa: T201
