"""Other implementations: what they are given, and that one which computes something else does not count."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench_packages import BENCH_CASE, write_benched
from doubling_package import RIGHT
from fake_torch import install_fake_torch

import webgpu_kernels as wk
from webgpu_kernels.tools.bench.peers import PEERS, PeerCase, PeerUnable, open_peers
from webgpu_kernels.tools.bench.peers.onnx_model import model_of
from webgpu_kernels.tools.bench.preparing import ready_case
from webgpu_kernels.tools.bench.reading import benches_of, read_benches
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.bench.stands import Effort
from webgpu_kernels.tools.capabilities import load_capabilities
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.results import BenchResult, PeerTime

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TORCH = '''"""Doubling in PyTorch."""


def with_torch(inputs, attrs, outputs):
    return {"y": inputs["x"] + inputs["x"]}
'''


def peer_case(op_id: str, inputs: Mapping[str, Any], **case: Any) -> PeerCase:
    """Return a case of a bundled package as peers see it."""
    kernel = wk.get_kernel(op_id)
    text = json.dumps({"cases": [{"name": "c", "inputs": inputs, **case}]})
    (read,) = read_benches(text, where="p").cases
    ready = ready_case(read, kernel, load_capabilities("h200"))
    return PeerCase(
        package=kernel.package,
        case=read,
        request=ready.request,
        arrays=ready.arrays,
        moved_bytes=ready.moved.bytes,
    )


def timed(root: Path, name: str) -> PeerTime:
    """Measure a package with one case beside one peer."""
    kernel = wk.load_kernel(root)
    opened = open_peers([name])
    assert not opened.missing
    engine = open_engine("native")
    try:
        (case,) = benches_of(kernel.package).cases
        runner = Runner(engine, effort=Effort(runs=5, seconds=0.05), peers=opened.peers)
        result = runner.run(case, kernel)
    finally:
        engine.close()
    assert isinstance(result, BenchResult)
    return result.peers[name]


def test_every_peer_has_a_module() -> None:
    """Which opens it."""
    for module in PEERS.values():
        assert callable(importlib.import_module(f"webgpu_kernels.tools.bench.peers.{module}").open_peer)


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said why."""
    monkeypatch.setitem(sys.modules, "torch", None)
    opened = open_peers(["numpy", "torch"])
    assert [peer.name for peer in opened.peers] == ["numpy"]
    assert opened.missing["torch"].startswith("is not installed (")


def test_onnxruntime_has_its_webgpu_provider_or_says_how_to_get_it() -> None:
    """The distribution onnxruntime lacks it."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    if "WebGpuExecutionProvider" in runtime.get_available_providers():
        pytest.skip("this onnxruntime has it")
    assert open_peers(["onnxruntime-webgpu"]).missing == {
        "onnxruntime-webgpu": f"is not in this onnxruntime {runtime.__version__}: "
        "install onnxruntime-webgpu in its place"
    }


def test_a_model_is_made_of_the_manifest() -> None:
    """Its node has ONNX's names in ONNX's order, and nothing in the place of what is absent."""
    onnx = pytest.importorskip("onnx")
    half = {"dtype": "float16", "shape": [1, 4, 4, 32]}
    channels = {"dtype": "float32", "shape": [32]}
    case = peer_case(
        "com.microsoft.SkipGroupNorm",
        {"skip": half, "X": half, "beta": channels, "gamma": channels},
        attrs={"groups": 4, "activation": 1},
        outputs=["S"],
    )
    model = model_of(case, case.arrays.of_set(0), inline=False)
    parsed = onnx.load_from_string(model.content)
    (node,) = parsed.graph.node
    assert (node.domain, node.op_type) == ("com.microsoft", "SkipGroupNorm")
    assert list(node.input) == ["X", "gamma", "beta", "skip"]
    assert list(node.output) == ["Y", "S"]
    assert {entry.name: entry.i for entry in node.attribute} == {"groups": 4, "activation": 1}
    assert {entry.domain: entry.version for entry in parsed.opset_import} == {"": 21, "com.microsoft": 1}
    assert sorted(model.fed) == ["X", "beta", "gamma", "skip"]
    inline = model_of(case, case.arrays.of_set(0), inline=True)
    assert inline.fed == ()
    assert len(onnx.load_from_string(inline.content).graph.initializer) == 4


def test_standard_operators_are_of_the_standard_domain() -> None:
    """Which ONNX leaves empty."""
    onnx = pytest.importorskip("onnx")
    four = {"dtype": "int32", "shape": [4]}
    case = peer_case("ai.onnx.Add", {"a": four, "b": four})
    parsed = onnx.load_from_string(model_of(case, case.arrays.of_set(0), inline=False).content)
    assert [(node.domain, list(node.input)) for node in parsed.graph.node] == [("", ["a", "b"])]
    assert [(entry.domain, entry.version) for entry in parsed.opset_import] == [("", 21)]


@pytest.mark.parametrize(
    ("op_id", "inputs", "attrs"),
    [
        ("ai.onnx.Add", {"a": ("float32", [8, 4]), "b": ("float32", [4])}, {}),
        ("ai.onnx.Identity", {"x": ("int32", [5])}, {}),
        (
            "com.microsoft.GatherBlockQuantized",
            {"data": ("uint8", [16, 32]), "indices": ("int64", [3]), "scales": ("float32", [16, 2])},
            {"bits": 4, "block_size": 32},
        ),
    ],
)
def test_onnxruntime_computes_what_the_reference_does(op_id: str, inputs: dict[str, Any], attrs: Any) -> None:
    """From the manifest alone."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    described = {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape) in inputs.items()}
    if "indices" in described:
        described["indices"]["data"] = {"kind": "range", "step": 2}
    case = peer_case(op_id, described, attrs=attrs)
    (theirs,), (ours,) = open_peers(["onnxruntime"]).peers, open_peers(["numpy"]).peers
    got, expected = theirs.prepare(case).outputs(), ours.prepare(case).outputs()
    assert got.keys() == expected.keys()
    for name, array in got.items():
        assert np.array_equal(array, expected[name])


def test_what_onnxruntime_lacks_is_said_in_one_line() -> None:
    """It has no SkipGroupNorm for processors."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    x, c = {"dtype": "float32", "shape": [1, 4, 4, 32]}, {"dtype": "float32", "shape": [32]}
    case = peer_case(
        "com.microsoft.SkipGroupNorm",
        {"X": x, "gamma": c, "beta": c, "skip": x},
        attrs={"groups": 4, "activation": 1},
    )
    (peer,) = open_peers(["onnxruntime"]).peers
    with pytest.raises(PeerUnable, match="NOT_IMPLEMENTED") as caught:
        peer.prepare(case)
    assert "\n" not in str(caught.value)


@pytest.mark.device
def test_numpy_takes_the_reference_where_there_is_nothing_better(tmp_path: Path) -> None:
    """And says that it is not meant to be fast."""
    time = timed(write_benched(tmp_path / "p"), "numpy")
    assert (time.device, time.clock, time.counted, time.error_of_allowed) == ("CPU", "wall", True, 0)
    assert "the package's reference, which is written to be exact, not fast" in (time.note or "")


@pytest.mark.device
def test_a_peer_that_computes_something_else_does_not_count(tmp_path: Path) -> None:
    """It is marked, with its error."""
    root = write_benched(tmp_path / "p")
    (root / "peers.py").write_text('def with_numpy(inputs, attrs, outputs):\n    return {"y": inputs["x"] * 3}\n')
    time = timed(root, "numpy")
    assert not time.counted
    assert time.median_us is not None
    assert time.error_of_allowed is not None
    assert time.error_of_allowed > 1
    assert (time.note or "").startswith("computes something else: y: 4,096 of 4,096 elements are wrong")


@pytest.mark.device
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot: the package has no peers.py"),
        ("x = 1\n", "cannot: peers.py has no function with_torch(inputs, attrs, outputs)"),
        (
            "def with_torch(inputs, attrs, outputs):\n    raise NotImplementedError('only bytes')\n",
            "cannot: NotImplementedError: only bytes",
        ),
        ("import nothing_of_that_name\n", "cannot: SuiteError: "),
    ],
)
def test_a_peer_that_cannot_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    """With its reason, and the run goes on."""
    install_fake_torch(monkeypatch)
    root = write_benched(tmp_path / "p")
    if text is not None:
        (root / "peers.py").write_text(text)
    time = timed(root, "torch")
    assert (time.version, time.median_us, time.counted) == ("0.0.fake", None, False)
    assert (time.note or "").startswith(said)


@pytest.mark.device
def test_pytorch_on_a_processor_is_timed_by_the_wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it comes, without its compiler."""
    install_fake_torch(monkeypatch)
    root = write_benched(tmp_path / "p", {"plain": RIGHT}, [BENCH_CASE])
    (root / "peers.py").write_text(TORCH)
    time = timed(root, "torch")
    assert (time.device, time.clock, time.counted) == ("CPU", "wall", True)


@pytest.mark.device
@pytest.mark.parametrize(
    ("compiles", "note"),
    [(True, "eager, which is faster than compiled"), (False, "eager: its compiler fails, RuntimeError")],
)
def test_pytorch_on_cuda_is_timed_by_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiles: bool, note: str
) -> None:
    """Eager and compiled, of which the better counts."""
    install_fake_torch(monkeypatch, cuda=True, compiles=compiles)
    root = write_benched(tmp_path / "p")
    (root / "peers.py").write_text(TORCH)
    time = timed(root, "torch")
    assert (time.device, time.clock, time.counted, time.note) == ("Fake GPU", "gpu", True, note)
    assert time.median_us == 1000.0
