"""Tables with classes to predict: of scikit-learn, shipped, shared, generated, and of a folder of CSV files."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

#: The markers of missing values in files.
MARKERS = ["?", "", "NA", "N/A", "NaN", "nan"]

#: The share of the cells that the variants with missing values lack.
MISSING = 0.1

#: The rows of a table in a quick run.
QUICK_ROWS = 600

SHARED = Path(__file__).parents[2] / "shared" / "data" / "tables"

#: The target of each shared or shipped table, and its columns that number or name the rows.
SHARED_TARGETS: dict[str, tuple[str, list[str]]] = {
    "breast-cancer-wisconsin": ("class", ["id"]),
    "car": ("class", []),
    "house-votes-84": ("class", []),
    "mushroom": ("class", []),
    "nursery": ("class", []),
    "titanic": ("survived", ["name", "ticket", "cabin"]),
    "zoo": ("type", ["animal_name"]),
}
SHIPPED_TARGETS: dict[str, tuple[str, list[str]]] = {"chest-clinic": ("dysp", ["patient"])}


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, the label of each row, and a name."""

    name: str
    X: pd.DataFrame
    y: NDArray[Any]

    def taken(self, rows: Any, name: str | None = None) -> Problem:
        return Problem(name or self.name, self.X.iloc[rows].reset_index(drop=True), self.y[rows])


def problems(*, quick: bool, only: str, folder: Path | None, max_rows: int | None) -> Iterator[Problem]:
    """The tables whose names hold a text; of a quick run smaller ones, and none with cells removed."""
    makers = of_folder(folder) if folder else all_makers(quick=quick)
    most = min(max_rows or QUICK_ROWS, QUICK_ROWS) if quick else max_rows
    for name, make in makers.items():
        if only in name:
            yield sampled(without_single_classes(make()), most)


def all_makers(*, quick: bool) -> dict[str, Callable[[], Problem]]:
    complete = {**of_scikit_learn(), **of_files(), **GENERATED}
    found: dict[str, Callable[[], Problem]] = {}
    for name, make in complete.items():
        found[name] = make
        if not quick:
            found[f"{name}, missing"] = lambda make=make: with_missing(make())  # type: ignore[misc]
    return found


### rows


def without_single_classes(problem: Problem) -> Problem:
    """The rows of classes that have two rows at least: the others cannot be learned and judged."""
    labels, of_row, counts = np.unique(problem.y, return_inverse=True, return_counts=True)
    return problem if counts.min() > 1 or len(labels) < 3 else problem.taken(np.flatnonzero(counts[of_row] > 1))


def sampled(problem: Problem, most: int | None) -> Problem:
    """At most so many rows, drawn by the name of the table, each class in its share and with two rows at least."""
    n = len(problem.y)
    if most is None or n <= most:
        return problem
    rng = np.random.default_rng(zlib.crc32(problem.name.encode()))
    _, of_row, counts = np.unique(problem.y, return_inverse=True, return_counts=True)
    order = rng.permutation(n)
    rank = np.empty(n, np.int64)
    for k in range(len(counts)):
        rows = order[of_row[order] == k]
        rank[rows] = np.arange(len(rows))
    limit = np.maximum(np.round(counts * most / n), 2)
    return problem.taken(np.flatnonzero(rank < limit[of_row]))


def with_missing(problem: Problem) -> Problem:
    """The same rows, each cell missing with a fixed probability, decided by the name of the table."""
    rng = np.random.default_rng(zlib.crc32(problem.name.encode()))
    gone = rng.random(problem.X.shape) < MISSING
    columns = {name: problem.X[name].mask(gone[:, j]) for j, name in enumerate(problem.X.columns)}
    return Problem(f"{problem.name}, missing", pd.DataFrame(columns), problem.y)


### from files


def of_folder(folder: Path) -> dict[str, Callable[[], Problem]]:
    """The CSV files of a folder, each with a column `target`."""
    return {path.stem: lambda path=path: read(path, "target", []) for path in sorted(folder.glob("*.csv"))}  # type: ignore[misc]


def of_files() -> dict[str, Callable[[], Problem]]:
    """The tables that ship, and those shared with the project where they are present."""
    from bayeslearn import datasets

    paths = {name: (datasets.table_path(name), *how) for name, how in SHIPPED_TARGETS.items()}
    paths |= {name: (SHARED / f"{name}.csv", *how) for name, how in SHARED_TARGETS.items()}
    return {name: lambda how=how: read(*how) for name, how in paths.items() if how[0].is_file()}  # type: ignore[misc]


def read(path: Path, target: str, dropped: list[str]) -> Problem:
    frame = pd.read_csv(path, na_values=MARKERS, keep_default_na=False, skipinitialspace=True)
    frame = frame[frame[target].notna()].drop(columns=dropped)
    y = frame[target].astype(str).to_numpy(dtype=str)
    return Problem(path.stem, frame.drop(columns=target).reset_index(drop=True), y)


def of_scikit_learn() -> dict[str, Callable[[], Problem]]:
    from sklearn import datasets

    def load(name: str) -> Problem:
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        return Problem(name.replace("_", "-"), found.data, found.target.to_numpy().astype(str))

    return {
        name.replace("_", "-"): lambda name=name: load(name) for name in ("iris", "wine", "breast_cancer", "digits")
    }  # type: ignore[misc]


### generated


def numbers(name: str, X: NDArray[np.float64], y: NDArray[Any]) -> Problem:
    return Problem(name, pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), np.asarray(y).astype(str))


def waveform() -> Problem:
    """Three classes: mixtures of two of three triangular waves, with noise, 21 columns."""
    rng, n, t = np.random.default_rng(1), 2000, np.arange(1, 22)
    waves = np.array([np.maximum(6 - abs(t - center), 0) for center in (7, 15, 11)])
    y, u = rng.integers(3, size=n), rng.random((n, 1))
    pairs = np.array([[0, 1], [0, 2], [1, 2]])[y]
    return numbers("waveform", u * waves[pairs[:, 0]] + (1 - u) * waves[pairs[:, 1]] + rng.normal(size=(n, 21)), y)


def rings() -> Problem:
    """Two classes by the distance from the center, in 6 of 10 columns."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 10))
    return numbers("rings", X, (X[:, :6] ** 2).sum(axis=1) + rng.normal(size=2000) > 5.35)


def heavy_tails() -> Problem:
    """Skewed columns, columns that are mostly zero, and outliers; three classes."""
    rng, n = np.random.default_rng(3), 1500
    y = rng.integers(3, size=n)
    skewed = np.exp(rng.normal(0.5 * y[:, None], 1.0, (n, 4)))
    mostly_zero = np.where(rng.random((n, 4)) < 0.8 - 0.15 * y[:, None], 0.0, rng.exponential(1 + y[:, None], (n, 4)))
    outliers = rng.standard_t(1.5, (n, 4)) + 0.4 * y[:, None]
    return numbers("heavy-tails", np.hstack([skewed, mostly_zero, outliers]), y)


def parity() -> Problem:
    """The class is the parity of three of ten categorical columns, one label in ten wrong."""
    rng = np.random.default_rng(4)
    bits = rng.integers(2, size=(1500, 10))
    y = (bits[:, :3].sum(axis=1) + (rng.random(1500) < 0.1)) % 2
    frame = pd.DataFrame({f"x{j}": np.array(["no", "yes"])[bits[:, j]] for j in range(10)})
    return Problem("parity", frame, y.astype(str))


def thresholds() -> Problem:
    """Rules of thresholds over mixed columns: what trees find; 4,000 rows."""
    rng, n = np.random.default_rng(5), 4000
    X, kind = rng.random((n, 6)), rng.integers(4, size=n)
    score = np.where(X[:, 0] > 0.6, 2.0 * (X[:, 1] > 0.3), -2.0 * (X[:, 2] > 0.7)) + 1.5 * (kind == 2) * (X[:, 3] > 0.5)
    y = score + rng.logistic(size=n) * 0.5 > 0.4
    frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(6)} | {"kind": np.array(list("abcd"))[kind]})
    return Problem("thresholds", frame, y.astype(str))


def rare() -> Problem:
    """Two classes, one of 4 % of the rows, Gaussian clusters in 8 columns."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        2500, 8, n_informative=5, n_clusters_per_class=3, weights=[0.96], flip_y=0.01, random_state=6
    )
    return numbers("rare", X, y)


def many_classes() -> Problem:
    """Twelve classes of Gaussian clusters in 15 columns."""
    from sklearn.datasets import make_classification

    X, y = make_classification(1800, 15, n_informative=8, n_classes=12, n_clusters_per_class=1, random_state=7)
    return numbers("many-classes", X, y)


def alarm() -> Problem:
    """Rows of the network alarm: the left ventricular end-diastolic volume from the measurements of the monitor."""
    from bayeslearn.network.formats import read_network

    table = read_network("alarm").sample(2000, random_state=8)
    names = [name for name in table.schema.names if name not in {"LVEDVOLUME", "HYPOVOLEMIA", "LVFAILURE"}]
    return Problem(
        "alarm", pd.DataFrame({name: table.column(name) for name in names}), table.column("LVEDVOLUME").astype(str)
    )


GENERATED: dict[str, Callable[[], Problem]] = {
    "waveform": waveform,
    "rings": rings,
    "heavy-tails": heavy_tails,
    "parity": parity,
    "thresholds": thresholds,
    "rare": rare,
    "many-classes": many_classes,
    "alarm": alarm,
}
