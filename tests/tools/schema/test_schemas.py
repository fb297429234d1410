"""The JSON Schemas: up to date, right about every package that is here, and never stricter than the reader."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from manifest_schemas import schema_faults, validator
from older_manifests import older_manifest, older_pass, older_variant, tensor
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import bundled_names, bundled_package, read_manifest
from webgpu_kernels.contract.lock import read_lock
from webgpu_kernels.contract.metadata import read_metadata
from webgpu_kernels.errors import ManifestError, PackageError, RequestError, ResultsError
from webgpu_kernels.tools import capabilities
from webgpu_kernels.tools.bench.reading import read_benches
from webgpu_kernels.tools.capabilities import known_capabilities, load_capabilities
from webgpu_kernels.tools.results import read_results
from webgpu_kernels.tools.schema import SCHEMAS, SHIPPED
from webgpu_kernels.tools.schema.documents import compose_text
from webgpu_kernels.tools.suites.reading import read_suite
from webgpu_kernels.tuning.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = ROOT.parent / "shared"

UNIFORM = {
    "name": "params",
    "struct": [{"name": "n", "type": "u32", "value": "numel(shapes.x)"}, {"name": "one", "type": "f32", "default": 1}],
}
RICH = scale_manifest(
    **{"$schema": "manifest.schema.json", "$comment": "all that a manifest may hold"},
    extensions=["valueRange", "int4", "split"],
    sinceVersion=1,
    conformance="internal-lowering",
    args={"alpha": {"kind": "f32", "required": False}, "mode": {"kind": "string", "oneOf": ["a", "b"]}},
    inputs={
        "x": {"dtype": "T", "rank": 2, "optional": False, "description": "what is scaled"},
        "i": {"dtype": "int64", "storage": "int32", "narrowing": "checked", "range": {"min": 0, "max": "ranks.x"}},
        "q": {"dtype": "uint8", "layout": "packed", "optional": True},
    },
    outputs={"y": {"dtype": "T", "shape": ["dim(shapes.x, 0)", 4]}},
    attributes={"axis": {"default": -1, "description": "which"}, "mode": {}},
    attributeConstraints={"axis": {"values": [-1, 0, 1]}, "mode": {"required": True}},
    tunables={"size": {"default": 64}},
    derive={"n": "numel(shapes.x)", "list": [1, "n"], "vector": '"vec4<" ~ dtypes.T ~ ">"'},
    when=["n > 0"],
    requires={"features": ["subgroups"], "limits": {"maxBufferSize": 1024}, "subgroupMinSize": 4},
    bindings={"table": {"arg": "x", "elementType": "$vector", "split": "2"}},
    variants=[
        variant(
            "full",
            priority=1.5,
            demoteWhen=["n > 100"],
            requires={"subgroupMatrixConfigs": [{"componentType": "f16", "M": 8, "N": 8, "K": 8}]},
            intermediates=[{"id": "s", "dtype": "float32", "shape": "shapes.x", "zeroInit": True}],
            passes=[
                a_pass(bindings=["table", "s", {"name": "y", "buffer": "storage", "length": 16}, UNIFORM]),
                {
                    "id": "rounds",
                    "repeat": {"count": "n", "index": "i"},
                    "passes": [a_pass(dispatch={"threads": "n", "workgroupSize": 64}, submitAfter=True)],
                },
                a_pass(id="last", dispatch={"workgroups": 3}, viewAlias=[{"input": "x", "output": "y"}], profile={}),
            ],
        ),
        {
            "cases": [
                {"name": "a", "size": 64, "extra": ["n > 1"], "none": None},
                {"$key": "b", "name": "b", "size": 1},
            ],
            "variants": [
                variant("v_{name}", priority="{size}", passes=[a_pass(dispatch={"x": "{size}", "y": "1 + {size}"})])
            ],
        },
        {
            "axes": {"layout": [{"$key": "nhwc"}, {"$key": "nchw"}], "kind": [{"$key": "k", "n": 1}]},
            "exclude": [{"layout": "nchw"}],
            "variants": [variant("{layout}_{kind}", description="{n} of {kind}")],
        },
        variant("only", supersededBy=["full"], tunables={"size": {"default": 32}}),
    ],
)
OLDER = older_manifest(
    constants={"c": 4},
    attributes={"axis": -1},
    attributeDescriptions={"axis": "which"},
    attributeNames=["mode"],
    tunables={"size": 64},
    tunableDescriptions={"size": "of a workgroup"},
    when="c == 4",
    requiredFeatures=["subgroups"],
    requiredLimits={"maxBufferSize": 1},
    requiredSubgroupMinSize=4,
    bindingSets={"io": [tensor("x", "input"), tensor("y", "output", access="storage")]},
    variants=[
        older_variant(
            selectAbove=["c > 1"],
            bindings="io",
            passes=[
                older_pass(shader=None, bindings=None, source={"shader": "a.wgsl", "inputs": {"k": "c + 1"}}),
                older_pass(id="two", bindings="io", dispatch={"gridStride": "c", "workgroupSize": 64}),
            ],
        )
    ],
    variantFamilies=[{"cases": [{"n": 1}], "variants": [older_variant(id="v{n}")]}],
)
METADATA = {
    "$schema": "metadata.schema.json",
    "name": "test.Scale",
    "id": "_test_scale_webgpu_0000000",
    "version": 1,
    "license": "Apache-2.0",
    "backend": {"type": "webgpu"},
    "digest": {"algorithm": "sha256", "files": {"manifest.json": "A" * 43 + "="}},
    "provenance": {"kernel": {"commit": "0" * 40, "sha": "0" * 40, "dirty": False}},
    "webgpu": {"manifestSpec": "2.1", "specialized": True, "opPath": "ops/x", "variants": {"only": ["main.wgsl"]}},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    """Of the draft that it names."""
    schema = validator(name).schema
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_shipped_files_are_what_the_tables_say(name: str) -> None:
    """Write them anew with scripts/schemas.py."""
    file = f"{name}.schema.json"
    assert (
        (SHIPPED / file).read_text("utf-8") == compose_text(name) == (ROOT / "docs/schemas" / file).read_text("utf-8")
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described(name: str) -> None:
    """Editors show what it is for."""
    assert [place for place, about in described(validator(name).schema) if not about] == []


def described(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each property's place and description."""
    for key, member in schema.items() if isinstance(schema, dict) else ():
        if key == "properties":
            for name, value in member.items():
                if name != "$comment" and "const" not in value and value != {"type": "object"}:
                    yield f"{place}.{name}", value.get("description")
        yield from described(member, f"{place}.{key}")


@pytest.mark.parametrize("op_id", bundled_names())
def test_bundled_packages_are_good(op_id: str) -> None:
    """So are the files that come with them."""
    root = bundled_package(op_id).root
    assert schema_faults("manifest", json.loads((root / "manifest.json").read_bytes())) == []
    for name in ("metadata", "test", "bench"):
        if (root / f"{name}.json").exists():
            assert schema_faults(name, json.loads((root / f"{name}.json").read_bytes())) == []


@pytest.mark.parametrize("device", known_capabilities())
def test_bundled_devices_are_good(device: str) -> None:
    """They come with this library."""
    folder = Path(capabilities.__file__).parent
    assert schema_faults("capabilities", json.loads((folder / f"{device}.json").read_bytes())) == []


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published files are not here")
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("manifest", "published/ai.onnx.Add/manifest.json"),
        ("manifest", "seeds/com.microsoft.SkipGroupNorm/manifest.json"),
        ("manifest-1.0", "published/ai.onnx.Identity/manifest.json"),
        ("manifest-1.0", "seeds/com.microsoft.GatherBlockQuantized/manifest.json"),
        ("metadata", "published/ai.onnx.Identity/metadata.json"),
        ("test", "published/ai.onnx.Add/test.json"),
    ],
)
def test_published_files_are_good(name: str, file: str) -> None:
    """Of both dialects."""
    assert schema_faults(name, json.loads((PUBLISHED / file).read_bytes())) == []


@pytest.mark.parametrize(
    ("name", "document", "fault"),
    [
        ("manifest", scale_manifest(nmae="x"), "$: Additional properties are not allowed ('nmae' was unexpected)"),
        ("manifest", scale_manifest(name=None), "$: 'name' is a required property"),
        (
            "manifest",
            scale_manifest(variants=[variant("a", passes=[a_pass(dispatch={"x": -1})])]),
            "$.variants[0].passes[0].dispatch.x: -1 is less than the minimum of 0",
        ),
        ("metadata", METADATA | {"version": -1}, "$.version: -1 is less than the minimum of 0"),
    ],
)
def test_a_fault_is_seen_where_it_is(name: str, document: Any, fault: str) -> None:
    """Editors underline it there."""
    assert schema_faults(name, document) == [fault]


SUITE = {
    "$schema": "test.schema.json",
    "fixtureArrays": {"four": [1, 2.5, "NaN", -4]},
    "cases": [
        {
            "name": "all",
            "description": "every kind of data",
            "inputs": {
                "a": {"dtype": "float32", "shape": [4], "data": {"kind": "values", "values": [1, "-0", "Infinity", 2]}},
                "b": {
                    "dtype": "float32",
                    "shape": [4],
                    "data": {"kind": "values", "values": {"$ref": "#/fixtureArrays/four"}},
                },
                "c": {"dtype": "bool", "shape": [], "data": {"kind": "fill", "value": True}},
                "d": {"dtype": "int8", "shape": [2, 2], "data": {"kind": "range", "start": 1, "step": 2, "modulo": 3}},
                "e": {
                    "dtype": "uint8",
                    "shape": [4],
                    "layout": "packed",
                    "data": {"kind": "random", "seed": 1, "high": 5},
                },
                "f": {
                    "dtype": "float16",
                    "shape": [4],
                    "data": {
                        "kind": "random",
                        "seed": 2,
                        "distribution": "normal",
                        "mean": 1,
                        "std": 2,
                        "outliers": {"every": 3, "scale": 100},
                    },
                },
                "g": {
                    "dtype": "float32",
                    "shape": [4],
                    "data": {"kind": "fillFloat32", "sinStep": 0.1, "cosStep": 0.2},
                },
            },
            "attrs": {"axis": 1},
            "args": {"n": 1},
            "tunables": {"size": 1},
            "outputs": {
                "y": {"tolerance": 1e-5, "allowNaN": True},
                "z": {
                    "dtype": "float32",
                    "shape": [1],
                    "tolerance": {"atol": 0, "rtol": 1e-3},
                    "data": {"kind": "values", "values": [1]},
                },
            },
            "variant": "fast",
            "force": ["fast", "slow"],
            "skipGpu": {"category": "todo", "reason": "later"},
            "provenance": {"source": "here", "test": "it", "notes": "none"},
        },
        {
            "name": "error",
            "inputs": {"a": {"dtype": "float32", "shape": [4]}},
            "error": {"kind": "ShapeError", "message": "rank"},
        },
    ],
}
BENCH = {
    "$schema": "bench.schema.json",
    "description": "some",
    "bytesRead": 4,
    "operations": "numel(shapes.a)",
    "cases": [
        {
            "name": "one",
            "description": "of a model",
            "inputs": {
                "a": {"dtype": "float32", "shape": [4], "data": {"kind": "random", "seed": 1}},
                "b": {"dtype": "uint8", "shape": [4], "layout": "packed"},
            },
            "attrs": {"axis": 1},
            "args": {"n": 1},
            "tunables": {"size": 1},
            "outputs": {"y": {"dtype": "float32", "shape": [4], "tolerance": {"atol": 1}}, "z": {"tolerance": 1}},
            "bytesWritten": "4 * numel(shapes.a)",
        },
        {"name": "two", "inputs": {"a": {"dtype": "float32", "shape": [4]}}, "outputs": ["y"]},
    ],
}
LOCK = {
    "lockVersion": 1,
    "kernels": {
        "webgpu-kernels/test.Scale": {
            "version": 1,
            "revision": "0" * 40,
            "files": {"manifest.json": "A" * 43 + "=", "metadata.json": "A" * 43 + "="},
        }
    },
}
CENSUS = dict.fromkeys(
    ("engine", "version", "name", "vendor", "architecture", "description", "driver", "backend", "kind"), "x"
)
PROFILE = {
    "format": "webgpu-kernels-tuning",
    "version": 1,
    "opId": "test.Scale",
    "digest": "0",
    "device": {"vendor": "x"},
    "created": "2026-11-30T05:00:00Z",
    "entries": [
        {
            "case": "a",
            "inputs": {
                "x": {"dtype": "float32", "shape": [8]},
                "q": {"dtype": "uint8", "shape": [8], "layout": "packed"},
            },
            "attrs": {"axis": 1},
            "args": {"n": 1},
            "outputs": ["y"],
            "variant": "only",
            "tunables": {"size": 64},
            "untunedVariant": "other",
            "untunedUs": 2.5,
            "tunedUs": 1,
        }
    ],
}
WORST = {"output": "y", "index": [0, 1], "got": "NaN", "expected": 1.5, "difference": "Infinity", "allowed": 0}
RESULTS = {
    "format": "webgpu-kernels-results",
    "version": 1,
    "kind": "both",
    "created": "2026-11-30T05:00:00Z",
    "command": "webgpu-kernels test",
    "machine": {"system": "Linux", "processor": "x", "cores": 2, "python": "3.11"},
    "versions": {"wgpu": "0.32"},
    "device": {**CENSUS, "software": True, "features": ["shader-f16"], "limits": {"maxBufferSize": 1024}},
    "packages": [
        {
            "opId": "test.Scale",
            "source": "x",
            "id": None,
            "version": 1,
            "digest": "0",
            "variants": [{"id": "only", "description": None, "priority": 0.5}],
        }
    ],
    "tests": [
        {
            "package": "test.Scale",
            "case": "a",
            "request": "x float32[8]",
            "variant": "only",
            "chosen": True,
            "outcome": "failed",
            "reason": "y: wrong",
            "errorOfAllowed": "Infinity",
            "worst": WORST,
            "seconds": 0.1,
        }
    ],
    "benches": [
        {
            "package": "test.Scale",
            "case": "a",
            "request": "x float32[8]",
            "bytesRead": 32,
            "bytesWritten": 32,
            "operations": None,
            "clock": "gpu",
            "copy": {"medianUs": 1, "spreadUs": 0.1, "gbPerS": 2},
            "chosen": "only",
            "variants": {"only": {"medianUs": 1, "runsUs": [1, 2], "error": None}},
            "peers": {"numpy": {"version": "2", "device": "CPU", "clock": "wall", "medianUs": None, "counted": False}},
        }
    ],
    "skipped": [{"package": "test.Scale", "case": "b", "reason": "large", "fault": False}],
}
DEVICE = {
    "$schema": "capabilities.schema.json",
    "description": "a device",
    "features": ["shader-f16"],
    "limits": {"maxBufferSize": 1024},
    "adapterInfo": {"vendor": "x", "subgroupMinSize": 4},
    "wgslLanguageFeatures": ["packed_4x8_integer_dot_product"],
}


def read_current(document: Any) -> None:
    read_manifest(document, dialect="2.1")


def read_older(document: Any) -> None:
    read_manifest(document, dialect="1.0")


def read_plain_metadata(document: Any) -> None:
    read_metadata(json.dumps(document), where="here")


def read_plain_profile(document: Any) -> None:
    read_profile(json.dumps(document), where="here")


def read_plain_suite(document: Any) -> None:
    read_suite(json.dumps(document), where="here")


def read_plain_benches(document: Any) -> None:
    read_benches(json.dumps(document), where="here")


def read_file(read: Callable[[Path], Any]) -> Callable[[Any], None]:
    """Return what writes a document into a file and has that read."""

    def read_document(document: Any) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "file.json"
            path.write_text(json.dumps(document))
            read(path)

    return read_document


READERS: dict[str, tuple[Any, Callable[[Any], None]]] = {
    "manifest": (RICH, read_current),
    "manifest-1.0": (OLDER, read_older),
    "metadata": (METADATA, read_plain_metadata),
    "test": (SUITE, read_plain_suite),
    "bench": (BENCH, read_plain_benches),
    "capabilities": (DEVICE, read_file(load_capabilities)),
    "lock": (LOCK, read_file(read_lock)),
    "results": (RESULTS, read_file(read_results)),
    "profile": (PROFILE, read_plain_profile),
}


@pytest.mark.parametrize("name", READERS)
def test_the_documents_to_change_are_good(name: str) -> None:
    """They use nearly every key."""
    document, read = READERS[name]
    assert schema_faults(name, document) == []
    read(document)


PLACEHOLDERS = ["{name}", "{none}", "{extra}", "{size} x", "{b}"]
WORDS = [
    "x",
    "y",
    "T",
    "only",
    "io",
    "uint8",
    "int4",
    "uniform",
    "n",
    "$n",
    "shapes.x",
    "",
    "é",
    "a b",
    "__proto__",
    "fn",
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5) | st.sampled_from([0.5, 1e300, 65536]),
    st.sampled_from([*WORDS, *PLACEHOLDERS]),
    st.lists(st.sampled_from([1, "x", "{extra}", None]), max_size=2),
    st.dictionaries(
        st.sampled_from(["$comment", "x", "default", "a b"]), st.sampled_from([1, "x", "{none}"]), max_size=2
    ),
)
KEYS = st.sampled_from(
    ["x", "dtype", "id", "repeat", "cases", "axes", "split", "$comment", "default", "gridStride", "ü"]
)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Return every container with each of its keys."""
    found, pending = [], [document]
    while pending:
        container = pending.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        found += [(container, key) for key in keys]
        pending += [container[key] for key in keys if isinstance(container[key], dict | list)]
    return found


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """Change a document in one to three places: a value, a key, an entry."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        some = places(document)
        if not some:
            break
        container, key = draw(st.sampled_from(some))
        how = draw(st.sampled_from(["set", "drop", "add", "move"]))
        if how == "drop":
            del container[key]
        elif how == "set" or isinstance(container, list):
            container[key] = draw(VALUES)
        elif how == "add":
            container[draw(KEYS)] = draw(VALUES)
        else:
            container[draw(KEYS)] = container.pop(key)
    return document


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_schema_is_never_stricter_than_the_reader(name: str, data: st.DataObject) -> None:
    """What it refuses, the reader refuses, too, and in an error of its own."""
    document, read = READERS[name]
    mutant = data.draw(changed(document))
    faults = schema_faults(name, mutant)
    try:
        read(mutant)
    except (ManifestError, PackageError, RequestError, ResultsError):
        return
    assert faults == []
