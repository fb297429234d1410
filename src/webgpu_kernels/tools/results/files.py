"""Results as JSON files."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.files import read_some, reason_of
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES
from webgpu_kernels.contract.writing import replace_text
from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.export.fields import camel_case
from webgpu_kernels.tools.results.model import FORMAT, VERSION, ResultDevice, RunResults
from webgpu_kernels.tools.results.reading import read_run

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from webgpu_kernels.tools.results.model import PackageFacts

_EXACT: Final = 2**53
_LARGER: Final = 3
"""A suite has many results: their files may be so many times as large as a manifest."""


def write_results(path: str | os.PathLike[str], results: RunResults) -> None:
    """Write a run's results; whoever reads the file meanwhile finds the old ones or the new.

    Args:
        path: the file; its folder is there.
        results: what to write.

    Raises:
        ResultsError: the file cannot be written.

    Source: docs/suites.md, "Results".
    """
    text = json.dumps(results_json(results), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        replace_text(Path(path), text + "\n")
    except (OSError, ValueError) as error:
        raise ResultsError(f"the results cannot be written: {reason_of(error)}", where=str(path)) from error


def read_results(path: str | os.PathLike[str]) -> RunResults:
    """Read a run's results.

    Args:
        path: a file that ``write_results`` wrote.

    Returns:
        The results.

    Raises:
        ResultsError: there is no such file, or it holds something else; all its defects are listed.

    Source: docs/suites.md, "Results".
    """
    where = str(path)
    try:
        content = read_some(Path(path), _LARGER * MAX_TEXT_BYTES)
    except FileNotFoundError as error:
        raise ResultsError("there is no such file", where=where) from error
    except (OSError, ValueError) as error:
        raise ResultsError(f"the file cannot be read: {reason_of(error)}", where=where) from error
    return read_document(content, read_run, what="the file of results", where=where, error=ResultsError, times=_LARGER)


def merge_results(runs: Sequence[RunResults]) -> RunResults:
    """Join runs on one device; of a case that was run again, the later result counts.

    Args:
        runs: at least one, oldest first.

    Returns:
        One run with the last one's date, command and versions.

    Raises:
        ResultsError: they are of different devices, or of different contents of one package.

    Source: docs/suites.md, "Results".
    """
    if not runs:
        raise ResultsError("no results to merge")
    last = runs[-1]
    for run in runs:
        if run.device.census != last.device.census:
            raise ResultsError(
                "results of different devices cannot be merged",
                expected=last.device.census.name,
                got=run.device.census.name,
                hint="Report them side by side.",
            )
    kinds = {run.kind for run in runs}
    return dataclasses.replace(
        last,
        kind=kinds.pop() if len(kinds) == 1 else "both",
        packages=_packages(runs),
        tests=_latest((test for run in runs for test in run.tests), ("package", "case", "variant")),
        benches=_latest((bench for run in runs for bench in run.benches), ("package", "case")),
        skipped=_latest((skipped for run in runs for skipped in run.skipped), ("package", "case")),
    )


def results_json(results: RunResults) -> dict[str, Any]:
    """Return results as the JSON document that files hold.

    Args:
        results: a run's.

    Returns:
        Plain JSON; numbers that JSON lacks are strings.

    Source: docs/suites.md, "Results".
    """
    return {"format": FORMAT, "version": VERSION, **_object(results)}


def _object(value: Any) -> dict[str, Any]:
    members = {camel_case(entry.name): _plain(getattr(value, entry.name)) for entry in dataclasses.fields(value)}
    if not isinstance(value, ResultDevice):
        return members
    return {**members.pop("census"), "software": value.census.software, **members}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _object(value)
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) > _EXACT:
        return str(value)  # a double does not hold it
    return value


def _latest(found: Iterable[Any], key: Sequence[str]) -> tuple[Any, ...]:
    kept: dict[tuple[Any, ...], Any] = {}
    for result in found:
        kept[tuple(getattr(result, name) for name in key)] = result
    return tuple(kept.values())


def _packages(runs: Sequence[RunResults]) -> tuple[PackageFacts, ...]:
    kept: dict[str, PackageFacts] = {}
    for package in (package for run in runs for package in run.packages):
        known = kept.get(package.op_id)
        if known is not None and known.digest != package.digest:
            raise ResultsError(
                "results of different contents of a package cannot be merged",
                where=package.op_id,
                hint="Report them side by side, as two runs.",
            )
        kept[package.op_id] = package
    return tuple(kept.values())
