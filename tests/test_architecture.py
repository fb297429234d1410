"""The shape of the code: which way imports point, what is public, and how large a module may grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "webgpu_kernels"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "kernels" not in path.relative_to(SOURCE).parts[:1])
REFERENCES = sorted((SOURCE / "kernels").rglob("*.py"))

# Height of each area; a module imports only from lower ones and from its own.
HEIGHTS = {
    "legible": -1,
    "errors": 0,
    "arrays": 0,
    "language": 1,
    "contract": 2,
    "planning": 3,
    "device": 4,
    "kernel": 5,
    "": 6,
    "tools": 7,
    "demo": 8,
    "cli": 8,
}
# Modules at the top that are parts of an area, or the root.
AREAS = {
    "__init__": "",
    "__main__": "cli",
    "invocation": "kernel",
    "loading": "kernel",
    "planned": "kernel",
    "prepared": "kernel",
    "results": "kernel",
    "tuning": "kernel",
}
LINES_MAX = 350
PUBLIC_NAMES = (
    "Capabilities",
    "Device",
    "Kernel",
    "Tensor",
    "TensorSpec",
    "adapters",
    "default_device",
    "errors",
    "get_kernel",
    "load_kernel",
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def area_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return AREAS.get(first, first)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> set[str]:
    """Return the dotted names of all that a module imports, wherever in it, relative ones resolved."""
    package = ["webgpu_kernels", *path.relative_to(SOURCE).parent.parts]
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            found.add(origin)
            found.update(f"{origin}.{alias.name}" for alias in node.names)
    return found


def area_imported(dotted: str) -> str | None:
    """Return the area that an imported name belongs to, None for foreign packages and the root's own names."""
    parts = dotted.split(".")
    if parts[0] != "webgpu_kernels":
        return None
    if len(parts) == 1:
        return ""
    area = AREAS.get(parts[1], parts[1])
    return area if area in HEIGHTS else ""


def statements_run_on_import(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements outside functions and ``if TYPE_CHECKING``."""
    pending: list[ast.stmt] = list(tree.body)
    run: list[ast.stmt] = []
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test).endswith("TYPE_CHECKING"):
            pending.extend(statement.orelse)
            continue
        run.append(statement)
        pending.extend(child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt))
    return run


def undocumented(path: Path) -> list[str]:
    """Return the public definitions of a module that have no docstring."""
    tree = parsed(path)
    silent = [] if ast.get_docstring(tree) else [name_of(path)]
    pending: list[ast.AST] = [tree]
    while pending:
        for node in ast.iter_child_nodes(pending.pop()):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
                continue
            overload = any(ast.unparse(decorator).split(".")[-1] == "overload" for decorator in node.decorator_list)
            if not overload and ast.get_docstring(node) is None:
                silent.append(f"{name_of(path)}:{node.lineno} {node.name}")
            if isinstance(node, ast.ClassDef):
                pending.append(node)
    return silent


def test_every_module_belongs_to_a_known_area() -> None:
    """A new area must be given its place in the order of imports."""
    assert [name_of(path) for path in MODULES if area_of(path) not in HEIGHTS] == []


def test_imports_point_one_way() -> None:
    """A module imports only from its own area and from lower ones."""
    wrong: list[str] = []
    for path in MODULES:
        area = area_of(path)
        allowed = {other for other, height in HEIGHTS.items() if height < HEIGHTS[area]} | {area}
        if HEIGHTS[area] < HEIGHTS[""]:
            # ``from webgpu_kernels import errors`` names the root on the way to an area.
            allowed.add("")
        areas = {found for dotted in imports_of(path) if (found := area_imported(dotted)) is not None}
        wrong += [f"{name_of(path)} imports {found}" for found in sorted(areas - allowed)]
    assert wrong == []


def test_only_the_device_area_names_wgpu() -> None:
    """Nothing but device/ knows which WebGPU implementation runs underneath."""
    outside = [path for path in MODULES if area_of(path) != "device"]
    assert [name_of(path) for path in outside if "wgpu" in {dotted.split(".")[0] for dotted in imports_of(path)}] == []
    assert [name_of(path) for path in outside if 'import_module("wgpu' in path.read_text(encoding="utf-8")] == []


def test_no_module_imports_wgpu_when_it_is_imported() -> None:
    """Even device/ imports wgpu inside functions, so that importing the library opens no native library."""
    eager: list[str] = []
    for path in MODULES:
        for statement in statements_run_on_import(parsed(path)):
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom):
                names = [statement.module or ""]
            eager += [name_of(path) for name in names if name.split(".")[0] == "wgpu"]
    assert eager == []


def test_only_four_modules_know_huggingface_hub() -> None:
    """What it is asked and told, its answers and its failures; all import it inside functions: it is an extra."""
    foreign = {"huggingface_hub", "httpx2"}
    knowing = [path for path in MODULES if foreign & {dotted.split(".")[0] for dotted in imports_of(path)}]
    assert [path.stem for path in knowing] == ["answers", "faults", "remote", "uploading"]
    eager = [
        statement
        for path in knowing
        for statement in statements_run_on_import(parsed(path))
        if any(name in ast.unparse(statement) for name in foreign)
        and isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    assert eager == []


def test_nothing_evaluates_python_text() -> None:
    """Packages are untrusted: no module calls eval, exec, compile or __import__."""
    calls = [
        f"{name_of(path)}:{node.lineno} {node.func.id}"
        for path in MODULES + REFERENCES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"eval", "exec", "compile", "__import__"}
    ]
    assert calls == []


def test_modules_stay_small() -> None:
    """A module that outgrows the ceiling holds more than one idea."""
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES + REFERENCES}
    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}


def test_modules_avoid_names_that_say_nothing() -> None:
    """A module or folder is named for what it holds."""
    empty = {"utils", "helpers", "manager", "common"}
    parts = {path: {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts} for path in MODULES}
    assert [name_of(path) for path, words in parts.items() if words & empty] == []


def test_public_definitions_have_docstrings() -> None:
    """Every public module, class and function says what it is; so does every public method of a public class."""
    assert [silent for path in MODULES + REFERENCES for silent in undocumented(path)] == []


def test_public_names_are_fixed() -> None:
    """The names that ``import webgpu_kernels`` promises change only together with this list."""
    import webgpu_kernels  # noqa: PLC0415 - collecting these tests must not need the package to import

    assert tuple(webgpu_kernels.__all__) == PUBLIC_NAMES
    assert all(hasattr(webgpu_kernels, name) for name in PUBLIC_NAMES)


@pytest.mark.parametrize("module", ["webgpu_kernels", "webgpu_kernels.language", "webgpu_kernels.errors"])
def test_importing_does_not_import_wgpu(module: str) -> None:
    """Importing loads neither wgpu nor its native library, whatever else it loads."""
    program = (
        f"import sys, {module}; print(sorted({{name.split('.')[0] for name in sys.modules}} & {{'wgpu', 'cffi'}}))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
    assert result.stderr == ""


def test_set_up_and_classifiers_name_the_same_pythons() -> None:
    """The versions that set-up accepts, the package requires and the classifiers claim are the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [match[1] for line in project["classifiers"] if (match := re.fullmatch(r".*:: (3\.\d+)", line))]
    text = (ROOT / "scripts" / "setup.py").read_text(encoding="utf-8")
    found = re.search(r"OLDEST, NEWEST = \(3, (\d+)\), \(3, (\d+)\)", text)
    assert found is not None
    oldest, newest = int(found[1]), int(found[2])
    assert claimed == [f"3.{minor}" for minor in range(oldest, newest + 1)]
    assert project["requires-python"] == f">=3.{oldest},<3.{newest + 1}"


def test_numpy_is_loaded_when_arrays_come() -> None:
    """Who only asks for WGSL or an explanation does without it."""
    code = "import sys, webgpu_kernels; print('numpy' in sys.modules, 'wgpu' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"
