"""Cases and variants become a matrix of everything that is known."""

from __future__ import annotations

from typing import Any

from fabricated_results import read, results

from webgpu_kernels.tools.report.matrix import Matrix, details, matrices
from webgpu_kernels.tools.report.runs import runs_of
from webgpu_kernels.tools.report.text import MINUS, TIMES

ADD = ("ai.onnx.Add",)


def document(*changes: dict[str, Any], device: str = "lavapipe", cases: int = 3) -> dict[str, Any]:
    """Return results of Add, the first tests changed."""
    made = results(device, cases=cases, benches=0, packages=ADD)
    for test, changed in zip(made["tests"], changes, strict=False):
        test.update(changed)
    return made


def matrix_of(*changes: dict[str, Any]) -> Matrix:
    return matrices(runs_of([read(document(*changes))]))[0]


def test_each_case_is_a_row_and_each_variant_a_column() -> None:
    """In the file's and the manifest's order; None where the variant does not take the case."""
    matrix = matrix_of()
    assert [column.name for column in matrix.columns] == ["flat_vec4", "rows_vec4", "elements"]
    assert [column.cases for column in matrix.columns] == [1, 2, 3]
    assert [row.case for row in matrix.rows] == ["sd15_float32_000", "sdxl_float16_001", "vae_float32_002"]
    assert [[cell is not None for cell in row.cells] for row in matrix.rows] == [
        [True, True, True],
        [False, True, True],
        [False, False, True],
    ]
    assert [cell.chosen for cell in matrix.rows[0].cells if cell] == [True, False, False]


def test_what_came_to_no_variant_has_a_column_of_its_own() -> None:
    """Such as a case that expects an error; it stands first."""
    matrix = matrix_of({"variant": ""})
    assert [column.name for column in matrix.columns] == ["", "flat_vec4", "rows_vec4", "elements"]
    assert matrix.columns[0].cases == 1


def test_a_variant_that_the_package_does_not_list_is_shown() -> None:
    """Results may be older than the package."""
    matrix = matrix_of({"variant": "gone"})
    assert [column.name for column in matrix.columns] == ["flat_vec4", "rows_vec4", "elements", "gone"]


def test_a_cell_knows_everything() -> None:
    """Down to the worst element, exactly, and the command that runs it alone."""
    worst = {
        "output": "C",
        "index": [3, 0],
        "got": "NaN",
        "expected": -0.1234567891,
        "difference": "NaN",
        "allowed": 2e-5,
    }
    change = {"outcome": "failed", "case": "odd [1]", "reason": "2 wrong\nof 9", "errorOfAllowed": 31.7, "worst": worst}
    cell = details([matrix_of(change)])[0]
    assert cell.worst == (
        ("element", "C[3, 0]"),
        ("got", "NaN"),
        ("expected", f"{MINUS}0.123456789"),
        ("apart by", "NaN"),
        ("allowed", f"2e{MINUS}05"),
    )
    assert (cell.outcome, cell.error, cell.reason) == ("failed", f"{TIMES}32", "2 wrong\nof 9")
    assert cell.command == "webgpu-kernels test ai.onnx.Add --filter 'odd [[]1]' --variant flat_vec4"


def test_the_command_names_the_engine() -> None:
    """Where it is not the usual one."""
    matrix = matrices(runs_of([read(document(device="chromium"))]))[0]
    assert details([matrix])[0].command.endswith(" --engine chromium")


def test_the_worst_outcome_decides_where_a_row_stands() -> None:
    """Failures, errors, skipped, passed."""
    matrix = matrix_of({}, {"outcome": "skipped"}, {"outcome": "failed"})
    assert [row.rank for row in matrix.rows] == [0, 3, 3]
    assert matrix.counts == (("failed", 1), ("skipped", 1), ("passed", 4))


def test_the_devices_of_a_package_stand_together() -> None:
    """And cells are numbered through all of them."""
    files = [read(results(device, cases=2, benches=0)) for device in ("lavapipe", "h200")]
    found = matrices(runs_of(files))
    assert [(matrix.package, matrix.run.index) for matrix in found] == [
        ("com.microsoft.SkipGroupNorm", 0),
        ("com.microsoft.SkipGroupNorm", 1),
        ("com.microsoft.GatherBlockQuantized", 0),
        ("com.microsoft.GatherBlockQuantized", 1),
        ("ai.onnx.Add", 0),
        ("ai.onnx.Add", 1),
    ]
    assert [cell.index for cell in details(found)] == list(range(sum(len(file.tests) for file in files)))


def test_integers_are_told_whole() -> None:
    """One digit may be what is wrong, also beyond 2**53."""
    worst = {"output": "C", "index": [], "got": str(2**60 + 1), "expected": 2, "difference": 1, "allowed": 0}
    assert details([matrix_of({"worst": worst})])[0].worst[:2] == (("element", "C"), ("got", "1152921504606846977"))
