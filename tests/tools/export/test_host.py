"""The host that docs/export.md prints runs an export, with nothing but its files."""

from __future__ import annotations

import functools
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import webgpu_kernels as wk
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.export.exporting import export_call, portable_capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from webgpu_kernels.tools.export.exporting import Export

pytestmark = pytest.mark.browser

PAGE = Path(__file__).resolve().parents[3] / "docs" / "export.md"
USE = """async (example) => {
  const device = await (await navigator.gpu.requestAdapter()).requestDevice();
  const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const run = await openExport(device, read);
  const inputs = {};
  for (const [name, file] of Object.entries(example)) inputs[name] = await read(file);
  await run(inputs);
  const outputs = await run(inputs);
  return Object.fromEntries(Object.entries(outputs).map(([name, bytes]) => [name, [...bytes]]));
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_: object) -> None:
        """Print no request."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve the test's folder on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def add_of_words() -> Export:
    """An addition of int8, each widened to a word."""
    call = CallDescription(inputs={name: wk.TensorSpec((5, 7), "int8") for name in "ab"})
    return export_call(wk.get_kernel("ai.onnx.Add"), call, portable_capabilities(call))


@pytest.mark.parametrize("make", ["split_norm", "joint_norm", "words"])
def test_the_printed_host_runs_an_export(
    chromium: Any, served: str, written: Callable[[Export], Path], request: pytest.FixtureRequest, make: str
) -> None:
    """Several passes with scratch between them, scratch that is cleared, narrow integers; a second run is as good."""
    made: Export = add_of_words() if make == "words" else request.getfixturevalue(make)
    folder = written(made)
    found = re.search(r"^```javascript\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    (folder / "host.html").write_text(f"<!doctype html><script>{found[1]}</script>", "utf-8")
    example = made.document.example
    assert example is not None
    page = chromium.new_page()
    page.goto(f"{served}host.html")
    outputs = page.evaluate(USE, dict(example.inputs))
    page.close()
    (name,) = outputs
    got, wanted = np.array(outputs[name], np.uint8).tobytes(), made.data[f"data/{name}.expected.bin"]
    if make != "words":
        got_floats, wanted_floats = np.frombuffer(got, np.float32), np.frombuffer(wanted, np.float32)
        assert np.allclose(got_floats, wanted_floats, rtol=1e-5, atol=3e-5)
    else:
        first, second = (np.frombuffer(part, np.int32).astype(np.int8) for part in (got, wanted))
        assert np.array_equal(first, second)
