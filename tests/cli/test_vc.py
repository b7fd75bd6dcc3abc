"""``bayeslearn bound vc-dimension``: the dimension of a table of zeros and ones."""

import pytest

from tests.cli.asking import ask, fail, result, tell

INTERVALS = "h,x,y,z\nnone,0,0,0\nx,1,0,0\ny,0,1,0\nz,0,0,1\nxy,1,1,0\nyz,0,1,1\nall,1,1,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "intervals.csv"
    path.write_text(INTERVALS)
    return path


def test_dimension_and_who_labels_how(table):
    lines = ask("bound", "vc-dimension", str(table), "--max-points", "9").splitlines()
    assert "VC dimension  2" in lines
    assert "shattered     x, y" in lines
    assert [line.split() for line in lines[7:11]] == [
        ["0", "0", "none"],
        ["0", "1", "y"],
        ["1", "0", "x"],
        ["1", "1", "xy"],
    ]
    assert lines[-1].split() == ["3", "7", "8", "7"]


def test_json(table):
    answer = result(ask("bound", "vc-dimension", str(table), "--max-points", "3", "--json"))
    assert answer["vc_dimension"] == 2
    assert answer["shattered"] == ["x", "y"]
    assert answer["witness"][3] == {"labels": [1, 1], "hypothesis": "xy"}
    assert answer["growth_function"] == [1, 2, 4, 7]


def test_many_labelings_are_not_all_told(tmp_path):
    path = tmp_path / "cube.csv"
    path.write_text("\n".join(",".join(f"{i:05b}") for i in range(32)))
    answer = ask("bound", "vc-dimension", str(path))
    assert "VC dimension  5" in answer
    assert answer.endswith("and 16 more\n")


def test_picture(table, tmp_path):
    code, _, said = tell("bound", "vc-dimension", str(table), "--plot", str(tmp_path / "growth.png"))
    assert code == 0
    assert "wrote" in said
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is empty"), ("0,1\n2,1\n", "cell '2', not 0 or 1"), ("0,1\n1\n", "has 1 cells, not 2")],
)
def test_refused(tmp_path, content, message):
    (tmp_path / "bad.csv").write_text(content)
    code, said = fail("bound", "vc-dimension", str(tmp_path / "bad.csv"))
    assert code == 1
    assert message in said
