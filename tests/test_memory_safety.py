"""Arrays of a caller or of a file that would lead a kernel out of its memory are refused; each in its own process."""

from __future__ import annotations

import pytest

from tests.subprocesses import run_python

pytestmark = pytest.mark.thorough  # a process for each trial

#: What every program begins with: `refused` prints the error that a call must raise.
BEGIN = """
import gzip, json, sys
import numpy as np
from scipy import sparse
from bayeslearn.errors import BayeslearnError

def refused(call):
    try:
        call()
    except BayeslearnError as error:
        print(type(error).__name__, error.message)
    else:
        sys.exit("nothing was refused")
"""


def messages(code: str, *arguments: str) -> list[str]:
    return run_python(BEGIN + code, *arguments).splitlines()


### lengths that wrap


def test_word_lengths_of_a_text_model_that_wrap(tmp_path):
    code = """
from bayeslearn.naive_bayes.text import TextModel, fit_text

path = sys.argv[1]
fit_text(["ab cd", "ef gh"], ["x", "y"]).save(path)
whole = json.loads(gzip.open(path).read())

def read(part, key, values):
    head = whole | {part: whole[part] | {key: None}}
    head["arrays"] = [{"path": [part, key], "type": "<i8", "shape": [len(values)]}]
    with gzip.open(path, "wb") as file:
        file.write(json.dumps(head).encode() + b"\\n" + np.array(values, "<i8").tobytes())
    refused(lambda: TextModel.load(path))

read("vocabulary", "lengths", [2**62, 2**62, 2**62, 2**62 + 8])
read("vocabulary", "lengths", [2**63 - 1, 2**63 - 1, 1, 9])
read("words", "sizes", [2**62, 2**62, 2**62, 2**62 + 4])
read("words", "classes", [0, 0, 1, 2**40])
"""
    said = messages(code, str(tmp_path / "model"))
    assert len(said) == 4
    assert all(": `" in line for line in said)
    assert "`lengths` add up to 1.84467e+19, but there are 8 letters" in said[0]


@pytest.mark.parametrize(
    "call", ["fit_hmm(x, 2, lengths=wrong)", "model.decode(x, lengths=wrong)", "model.log_likelihood(x, lengths=wrong)"]
)
def test_lengths_of_sequences_that_wrap(call):
    code = f"""
from bayeslearn.hmm import fit_hmm

rows = np.random.default_rng(0).normal(size=(50, 1))
model, x = fit_hmm(rows, 2, max_iter=5), rows[:5]
model = getattr(model, "model", model)
for wrong in ([2**62] * 4 + [5], [2**63 - 1, 2**63 - 1, 7], np.array([2**64 - 1, 6], np.uint64)):
    refused(lambda: {call})
"""
    assert [line.split()[0] for line in messages(code)] == ["ShapeError", "ShapeError", "ParameterError"]


def test_sequences_that_are_made_by_hand():
    code = """
from bayeslearn.hmm import CategoricalEmissions, HiddenMarkovModel, Sequences
from bayeslearn.tables import DiscreteVariable

half = np.full((2, 2), 0.5)
model = HiddenMarkovModel(("a", "b"), half[0], half, CategoricalEmissions(DiscreteVariable("x", ["u", "v"]), half))
cells = np.zeros(5, np.int32)
refused(lambda: Sequences(cells, np.array([2**62] * 4 + [5]), (0,)))
refused(lambda: Sequences(cells, np.array([5]), (0,), order=np.arange(5) + 10**6))
refused(lambda: Sequences(cells, np.array([5]), (0,), known_states=np.zeros(3, np.int32)))
refused(lambda: model.decode(Sequences(cells + 10**8, np.array([5]), (0,))))
refused(lambda: model.decode(Sequences(np.zeros((5, 1)), np.array([5]), (0,))))
refused(lambda: model.expected_statistics(Sequences(cells + 10**8, np.array([5]), (0,))))
refused(lambda: model.decode(Sequences(cells, np.array([5]), (0,), known_states=np.full(5, 10**8, np.int32))))
"""
    assert len(messages(code)) == 7


### sparse matrices


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("method", ["fit", "predict", "of"])
def test_a_sparse_matrix_whose_indices_leave_its_shape(kind, method):
    code = f"""
from bayeslearn import TextClassifier
from bayeslearn.naive_bayes.text import DocumentCounts

whole = np.array([[1, 2, 0], [3, 4, 5]])
model = TextClassifier().fit(whole, [0, 1])
call = {{"fit": lambda X: model.fit(X, [0, 1]), "predict": model.predict, "of": DocumentCounts.of}}["{method}"]

def spoilt(change):
    X = getattr(sparse, "{kind}_array")(whole)
    change(X)
    refused(lambda: call(X))

def put(name, value):
    def change(X):
        getattr(X, name)[...] = value
    return change

if "{kind}" == "coo":
    for name in ("row", "col"):
        for value in (10**8, -1, -(10**8)):
            spoilt(put(name, value))
else:
    for value in (10**8, -1):
        spoilt(put("indices", value))
    for value in (0, 10**8, -5):
        spoilt(lambda X, v=value: X.indptr.__setitem__(-1, v))
        spoilt(lambda X, v=value: X.indptr.__setitem__(0, v + 1))
    spoilt(lambda X: X.indptr.__setitem__(slice(None), X.indptr[::-1].copy()))
    spoilt(lambda X: setattr(X, "indptr", X.indptr[:-1]))
    spoilt(lambda X: setattr(X, "indices", X.indices[:1]))
"""
    said = messages(code)
    assert len(said) >= 6
    assert all(line.startswith("DataError the sparse matrix is damaged: ") for line in said)


def test_counts_that_are_made_by_hand():
    code = """
from bayeslearn.naive_bayes.text import DocumentCounts, collect

indptr, indices, counts = np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.int32)
good = DocumentCounts(indptr, indices, counts, 2)
assert len(good) == 2
refused(lambda: DocumentCounts(indptr, indices + 10**8, counts, 2))
refused(lambda: DocumentCounts(indptr, -1 - indices, counts, 2))
refused(lambda: DocumentCounts(indptr * 2**40, indices, counts, 2))
refused(lambda: DocumentCounts(indptr[::-1], indices, counts, 2))
refused(lambda: DocumentCounts(indptr, indices, counts[:1], 2))
refused(lambda: DocumentCounts(indptr, indices, counts * np.nan, 2))
indices[:] = 10**8  # what was made keeps its own
collect(good, ["a", "b"])
"""
    assert len(messages(code)) == 6


def test_a_matrix_that_says_it_is_canonical_is_looked_at():
    code = """
from bayeslearn.naive_bayes.text import DocumentCounts

X = sparse.csr_array((np.array([1, 2, 3]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
X.has_canonical_format = X.has_sorted_indices = True
found = DocumentCounts.of(X)
print(found.indices.tolist(), found.counts.tolist())
"""
    assert messages(code) == ["[0, 1] [2, 4]"]


### arrays that change later


def test_a_table_does_not_see_what_becomes_of_its_arrays():
    code = """
from bayeslearn import DiscreteVariable, NumericVariable, Schema, Table, contingency_tables

codes, values, weights = np.zeros((1, 1000), np.int8), np.zeros((1, 1000)), np.ones(1000)
locked = codes.view()
locked.flags.writeable = False  # a view that cannot be written to, of an array that can
for given in (codes, locked, codes[:, ::1], np.frombuffer(bytearray(1000), np.int8).reshape(1, 1000)):
    table = Table(Schema([DiscreteVariable("a", ["x", "y"]), NumericVariable("b")]), given, values, weights)
    codes[:], values[:], weights[:] = 120, np.inf, np.nan
    if given.base is not None and not given.base is codes:
        given[:] = 120
    assert contingency_tables(table, [["a"]])[0].counts.tolist() == [1000, 0]
    assert table.values.max() == 0 and table.sample_weight.max() == 1
    codes[:], values[:], weights[:] = 0, 0, 1
print("unmoved")
"""
    assert messages(code) == ["unmoved"]


def test_a_dictionary_of_arrow_whose_cells_point_outside():
    code = """
import pyarrow as pa
from bayeslearn import as_table

def column(indices, **how):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(["a", "b"]), **how)

schema = as_table(pa.table({"x": column([0, 1] * 9)})).schema
for wrong in ([0, 1, 10**8] * 9, [0, 1, -(10**8)] * 9):
    data = pa.table({"x": column(wrong, safe=False)})
    refused(lambda: as_table(data))
    refused(lambda: as_table(data, schema=schema))
"""
    said = messages(code)
    assert len(said) == 4
    assert all("column 'x' cannot be read" in line for line in said)


def test_experts_of_a_table_do_not_follow_the_codes_of_another():
    code = """
from bayeslearn import DiscreteVariable, Schema, Table
from bayeslearn.online import TableExperts

experts = TableExperts(Schema([DiscreteVariable("x", ["a", "b"]), DiscreteVariable("y", ["n", "p"])]), "y")
n = np.arange(20_000)
more = Table(Schema([DiscreteVariable("x", range(20_000)), DiscreteVariable("y", range(20_000))]), np.stack([n, n]), [])
refused(lambda: experts.advise(more))
"""
    assert messages(code) == ["MismatchError column 'x' has other states than those that the experts were made for"]
