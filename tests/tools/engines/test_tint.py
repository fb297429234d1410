"""What no browser on a software GPU can show: Tint takes the float16 shaders, and those for GPUs that are not here.

Dawn, the WebGPU of Chromium, comes as the npm package ``webgpu`` and has a backend that computes nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import webgpu_kernels as wk
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.errors import KernelError
from webgpu_kernels.tools.capabilities import load_capabilities
from webgpu_kernels.tools.suites.reading import suite_of

pytestmark = [pytest.mark.node, pytest.mark.slow]

PACKAGE = "webgpu@0.6.2"
DEVICES = ("h200", "lavapipe")


@pytest.fixture(scope="module")
def tint() -> Path:
    """Install Dawn into a folder that later runs find again."""
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        pytest.skip("Node.js and npm are not installed")
    folder = Path(tempfile.gettempdir()) / f"webgpu-kernels-{PACKAGE.replace('@', '-')}"
    folder.mkdir(exist_ok=True)
    if not (folder / "node_modules" / "webgpu" / "package.json").exists():
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE]
        installed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if installed.returncode:
            pytest.skip(f"npm cannot install {PACKAGE}: {installed.stderr.strip()[-200:]}")
    shutil.copy(Path(__file__).with_name("tint.mjs"), folder / "tint.mjs")
    return folder


def errors_of(folder: Path, shaders: dict[str, str]) -> list[str]:
    """Return Tint's errors: of each shader, text to name."""
    with tempfile.TemporaryDirectory() as place:
        listed = Path(place) / "shaders.json"
        listed.write_text(json.dumps([[name, wgsl] for wgsl, name in shaders.items()]), "utf-8")
        command = ["node", str(folder / "tint.mjs"), str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, encoding="utf-8")
    if done.returncode and "dlopen" in done.stderr:
        pytest.skip(f"Dawn does not load here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def test_what_wgpu_takes_and_tint_does_not_is_found(tint: Path) -> None:
    """The test's own compiler checks uniformity, which is what packages may stumble over."""
    wgsl = (
        "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
        "@compute @workgroup_size(64) fn main() { if (x[0] > 1) { workgroupBarrier(); } }"
    )
    assert errors_of(tint, {wgsl: "own", "enable f16;\n@compute @workgroup_size(1) fn main() {}": "half"}) == [
        "own, line 2: 'workgroupBarrier' must only be called from uniform control flow"
    ]


@pytest.mark.parametrize("op_id", bundled_names())
def test_tint_takes_every_shader_of_a_package(tint: Path, op_id: str) -> None:
    """Of every case of its suite, on every variant that takes it on a GPU, float16 included."""
    kernel = wk.get_kernel(op_id)
    shaders: dict[str, str] = {}
    for device in DEVICES:
        capabilities = load_capabilities(device)
        for case in suite_of(kernel.package).cases:
            if case.error is not None:
                continue
            try:
                variants = case.call.accepted_variants(kernel, capabilities)
            except KernelError:
                continue  # the suite's own tests are about that
            for variant in variants:
                for step in case.call.program(kernel, capabilities, variant).passes:
                    shaders.setdefault(step.wgsl, f"{case.name} on {variant} for {device}, pass {step.id}")
    assert shaders
    assert errors_of(tint, shaders) == []
