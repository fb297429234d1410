"""What a package's outputs should be: the values of the case, else what the package's own reference computes.

``reference.py`` lies at a package's root, outside of what is published. It is Python that somebody wrote, so it is run
for folders and bundled packages only, never for a package of the Hub.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.contract import Unset
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.suites.generators import make_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from webgpu_kernels.contract import Package
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.suites.model import Case

REFERENCE_FILE: Final = "reference.py"
_BUILD: Final = ("build", "webgpu")


def reference_path(package: Package) -> Path | None:
    """Return where a package's reference is.

    Args:
        package: any.

    Returns:
        The file at the package's root, or None: there is none, or the package is of the Hub.

    Source: docs/suites.md, "Expected values".
    """
    return beside_package(package, REFERENCE_FILE)


def beside_package(package: Package, name: str) -> Path | None:
    """Return where a file of Python lies that belongs to a package and is not published with it.

    Args:
        package: any.
        name: the file's.

    Returns:
        The file at the package's root, or None: there is none, or the package is of the Hub.

    Source: docs/suites.md, "Expected values".
    """
    if package.revision is not None:
        return None
    root = package.root.parents[1] if package.root.parts[-2:] == _BUILD else package.root
    path = root / name
    return path if path.is_file() else None


class Reference:
    """The function ``reference(inputs, attrs, outputs)`` of a package, loaded at its first use.

    Args:
        package: whose.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        self._function: Callable[..., Any] | None = None

    @property
    def there(self) -> bool:
        """Whether the package has a reference that may be run."""
        return self._function is not None or reference_path(self._package) is not None

    def expected(
        self, case: Case, inputs: Mapping[str, Array], attrs: Mapping[str, Any], outputs: Mapping[str, TensorSpec]
    ) -> dict[str, Array]:
        """Return what a case expects of each output that it names.

        Args:
            case: the case.
            inputs: its arrays.
            attrs: attributes with their defaults, and scalar arguments.
            outputs: every output that a call computes.

        Returns:
            Output name to array.

        Raises:
            SuiteError: there is neither a value nor a reference, or the reference fails.

        Source: docs/suites.md, "Expected values".
        """
        found = {}
        for name, output in case.outputs.items():
            if output.data is not None and output.shape is not None and output.dtype is not None:
                found[name] = make_array(output.data, TensorSpec(output.shape, output.dtype))
        missing = [name for name in case.outputs if name not in found]
        if missing:
            computed = self._call(case, inputs, attrs, tuple(outputs))
            found.update({name: self._array(computed, name) for name in missing})
        return found

    def _call(
        self, case: Case, inputs: Mapping[str, Array], attrs: Mapping[str, Any], outputs: Sequence[str]
    ) -> Mapping[str, Any]:
        function = self._loaded()
        given = {name: value for name, value in {**case.call.args, **attrs}.items() if not isinstance(value, Unset)}
        try:
            # A reference shows what an overflow or NaN does to it by its results; warnings would only repeat that.
            with np.errstate(all="ignore"):
                computed = function({name: array.copy() for name, array in inputs.items()}, given, outputs)
        except (Exception, SystemExit) as error:
            raise SuiteError(
                f"{REFERENCE_FILE} fails: {_told(error, REFERENCE_FILE)}", where=self._package.where
            ) from error
        if not hasattr(computed, "items"):
            raise SuiteError(
                f"{REFERENCE_FILE} gives no mapping of outputs", where=self._package.where, got=type(computed).__name__
            )
        values: Mapping[str, Any] = computed
        return values

    def _array(self, computed: Mapping[str, Any], name: str) -> Array:
        if name not in computed:
            raise SuiteError(
                f"{REFERENCE_FILE} does not give the output {name!r}",
                where=self._package.where,
                got=", ".join(map(repr, computed)) or "nothing",
            )
        array = np.asarray(computed[name])
        if array.dtype.kind in "OSUMm":
            where = self._package.where
            raise SuiteError(f"{REFERENCE_FILE} gives no numbers for {name!r}", where=where, got=str(array.dtype))
        return array

    def _loaded(self) -> Callable[..., Any]:
        if self._function is not None:
            return self._function
        where = self._package.where
        path = reference_path(self._package)
        if path is None:
            of_hub = self._package.revision is not None
            raise SuiteError(
                "the case has no expected values, and the package no reference that may be run",
                where=where,
                hint="A reference of the Hub's is never run; test a clone of the repository."
                if of_hub
                else f"Give each output its data, or write {REFERENCE_FILE} at the package's root.",
            )
        self._function = function_of(path, "reference", where=where)
        if self._function is None:
            raise SuiteError(f"{REFERENCE_FILE} has no function reference(inputs, attrs, outputs)", where=where)
        return self._function


def function_of(path: Path, name: str, *, where: str) -> Callable[..., Any] | None:
    """Import a file of Python that belongs to a package, and return a function of it.

    Args:
        path: the file, which ``beside_package`` found.
        name: the function's.
        where: the package, for messages.

    Returns:
        The function, or None where the file has none of that name.

    Raises:
        SuiteError: the file cannot be imported.

    Source: docs/suites.md, "Expected values".
    """
    spec = importlib.util.spec_from_file_location(f"_{path.stem}_of_{abs(hash(path))}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    leave_no_cache, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise SuiteError(f"{path.name} cannot be imported: {_told(error, path.name)}", where=where) from error
    finally:
        sys.dont_write_bytecode = leave_no_cache
    function = getattr(module, name, None)
    return function if callable(function) else None


def _told(error: BaseException, file: str) -> str:
    """Say what was raised and, since no traceback is shown, by which line of the package's own file."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename.endswith(f"/{file}")]
    place = f" ({file}:{lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"
