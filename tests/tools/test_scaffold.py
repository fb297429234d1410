"""What a new package is made of, and what it may be called."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import numpy as np
import pytest

import webgpu_kernels as wk
from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.errors import OutputError, PackageError
from webgpu_kernels.tools import scaffold
from webgpu_kernels.tools.scaffold import files, operator_name, start_package

OPERATOR = operator_name("com.example.LeakyRelu")
FILES = (
    "README.md",
    "build/webgpu/bench.json",
    "build/webgpu/leaky-relu.wgsl.jinja",
    "build/webgpu/manifest.json",
    "build/webgpu/metadata.json",
    "build/webgpu/test.json",
    "reference.py",
    "schemas/bench.schema.json",
    "schemas/manifest.schema.json",
    "schemas/test.schema.json",
)


def files_in(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def test_a_package_is_whole(tmp_path: Path) -> None:
    """All files are said and there, and nothing else."""
    started = start_package(OPERATOR, tmp_path / "new" / "package")
    assert started == (tmp_path / "new" / "package", FILES)
    assert files_in(tmp_path) == tuple(f"new/package/{name}" for name in FILES)


def test_the_same_name_gives_the_same_bytes(tmp_path: Path) -> None:
    """Whenever and wherever."""
    for name in ("one", "two"):
        start_package(OPERATOR, tmp_path / name)
    assert [(tmp_path / "one" / name).read_bytes() for name in FILES] == [
        (tmp_path / "two" / name).read_bytes() for name in FILES
    ]


@pytest.mark.device
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(4, 64), (3, 5)])
def test_the_package_runs(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    """On every variant and dtype, and with its attribute."""
    device = wk.default_device()
    if dtype == "float16" and "shader-f16" not in device.capabilities.features:
        pytest.skip("no shader-f16")
    kernel = wk.load_kernel(start_package(OPERATOR, tmp_path / "package").folder, device=device)
    x = np.linspace(-8, 8, num=int(np.prod(shape)), dtype=dtype).reshape(shape)
    wide = x.astype(np.float64)
    y = kernel({"x": x}, attrs={"alpha": 0.5}).y
    np.testing.assert_array_equal(y, np.where(wide < 0, 0.5 * wide, wide).astype(dtype))
    np.testing.assert_allclose(kernel(x=x).y, np.where(wide < 0, 0.01 * wide, wide), rtol=1e-3)
    assert kernel.explain(x=x).variant == ("vec4" if x.size % 4 == 0 else "elements")


@pytest.mark.parametrize("name", ["manifest", "test", "bench"])
def test_editors_find_the_schema(tmp_path: Path, name: str) -> None:
    """``$schema`` leads to a file of the package, which the document agrees with."""
    folder = start_package(OPERATOR, tmp_path / "package").folder / "build" / "webgpu"
    document = load_json((folder / f"{name}.json").read_bytes())
    assert isinstance(document, dict)
    schema = load_json((folder / str(document["$schema"])).read_bytes())
    jsonschema.validate(document, schema)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("com.example.LeakyRelu", "leaky-relu"),
        ("ai.onnx.RMSNormalization", "rms-normalization"),
        ("my.Conv2D", "conv2-d"),
        ("my.top_k", "top-k"),
        ("my.X", "x"),
        ("my._", "kernel"),
    ],
)
def test_the_template_is_called_after_the_operator(text: str, file: str) -> None:
    """In lower case, word by word."""
    assert operator_name(text).op_id == text
    assert operator_name(text).file_stem == file


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the domain is missing"),
        ("LeakyRelu", "the domain is missing"),
        (".LeakyRelu", "the domain is missing"),
        ("Com.LeakyRelu", "the domain 'Com' is not words joined by dots, the first in lower case"),
        ("com..LeakyRelu", "the domain 'com.' is not words joined by dots, the first in lower case"),
        ("../x.LeakyRelu", "the domain '../x' is not words joined by dots, the first in lower case"),
        (
            "com.9",
            "'9' is not a name: use letters, digits and underscores, no digit first and no two underscores first",
        ),
        (
            "com.a/b",
            "'a/b' is not a name: use letters, digits and underscores, no digit first and no two underscores first",
        ),
        ("com." + "a" * 99, "the Hub has no repositories of this name"),
    ],
)
def test_what_no_operator_may_be_called(text: str, reason: str) -> None:
    """The message says which rule it breaks."""
    with pytest.raises(PackageError) as caught:
        operator_name(text)
    assert str(caught.value) == (
        f"{text!r}: is no operator's name: {reason}: expected domain.Name, such as com.example.LeakyRelu"
    )


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    """Even a hidden file."""
    (tmp_path / ".git").write_text("mine")
    with pytest.raises(OutputError) as caught:
        start_package(OPERATOR, tmp_path)
    assert str(caught.value) == f"{tmp_path}: is there already and holds something. Name a new folder with -o."
    assert files_in(tmp_path) == (".git",)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """Nor can a folder be made below it."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"file: is a file\. Name a new folder with -o\.$"):
        start_package(OPERATOR, tmp_path / "file")
    with pytest.raises(OutputError, match=r"below: cannot be written: File exists$"):
        start_package(OPERATOR, tmp_path / "file" / "below")
    with pytest.raises(OutputError, match=r"cannot be written: embedded null byte$"):
        start_package(OPERATOR, f"{tmp_path}/a\0b")


def test_an_empty_folder_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not replaced: it may be the current one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert start_package(OPERATOR, ".").files == FILES
    assert files_in(Path()) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_half_written_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, there: bool
) -> None:
    """Whether the disk is full or somebody presses Ctrl-C."""
    target = tmp_path / "package"
    if there:
        target.mkdir()

    def fail(*_: object) -> str:
        raise error

    monkeypatch.setattr(files, "card_text", fail)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        scaffold.start_package(OPERATOR, target)
    assert list(tmp_path.rglob("*")) == ([target] if there else [])
