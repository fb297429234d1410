"""What can be done to any JSON document, and the large ones of each kind."""

from __future__ import annotations

import json
from typing import Any

DIGEST = "A" * 43 + "="
TENSOR = {"dtype": "float32", "shape": [8], "data": {"kind": "random", "seed": 1}}
GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "test": ({"cases": [{"name": "a", "inputs": {"x": TENSOR}, "outputs": {"y": {}}}]}, "cases"),
    "bench": ({"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "shape": [8]}}}]}, "cases"),
    "device": ({"features": []}, "features"),
    "metadata": (
        {
            "name": "test.Scale",
            "backend": {"type": "webgpu"},
            "digest": {"algorithm": "sha256", "files": {"manifest.json": DIGEST}},
            "webgpu": {"manifestSpec": "2.1"},
        },
        "digest",
    ),
    "lock": (
        {"lockVersion": 1, "kernels": {"o/a.B": {"version": 1, "revision": "0" * 40, "files": {"a": DIGEST}}}},
        "kernels",
    ),
    "profile": ({"format": "webgpu-kernels-tuning", "version": 1, "entries": []}, "entries"),
    "results": ({"format": "webgpu-kernels-results", "version": 1}, "version"),
}
"""A good document of each kind, and one of its keys."""


def damaged(kind: str) -> dict[str, bytes]:
    """Return damaged documents of a kind: as text, since no JSON writer makes them."""
    good, key = GOOD[kind]
    text = json.dumps(good).encode()

    def instead(value: str) -> bytes:
        return json.dumps(good | {key: "@"}).replace('"@"', value).encode()

    return {
        "empty": b"",
        "null": b"null",
        "list": b"[]",
        "cut_off": text[:-3],
        "more_behind": text + b"x",
        "utf16": json.dumps(good).encode("utf-16"),
        "invalid_utf8": text[:-1] + b',"\xff":1}',
        "nested_10000": b"[" * 10_000 + b"]" * 10_000,
        "nested_objects_10000": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        "never_closed": b"[" * 1_000_000,
        "duplicate_key": text[:-1] + f', "{key}": 1}}'.encode(),
        "not_a_number": instead("NaN"),
        "infinity": instead("Infinity"),
        "beyond_a_double": instead("1e999"),
        "number_of_5000_digits": instead("9" * 5000),
        "half_of_a_pair": instead('"\\ud800"'),
        "key_proto": json.dumps(good | {"__proto__": 1}).encode(),
        "key_constructor": json.dumps(good | {"constructor": {}}).encode(),
        "escapes": json.dumps(good | {key: "\x1b[31m\x9b\u202e" + "x" * 100_000}).encode(),
        "too_many_values": json.dumps(good | {key: [0] * 150_000}).encode() if kind != "results" else b"[",
    }


def case(**changes: Any) -> dict[str, Any]:
    """Return a case of test.json with changes."""
    return {"name": "a", "inputs": {"x": TENSOR}, "outputs": {"y": {}}} | changes


def result(**changes: Any) -> dict[str, Any]:
    """Return the result of a test with changes."""
    worst = {"output": "y", "index": [0], "got": 1.5, "expected": 1.5, "difference": 0.5, "allowed": 0.5}
    good = {"package": "a", "case": "a", "request": "", "variant": "a", "chosen": True, "outcome": "passed"}
    return good | {"reason": None, "errorOfAllowed": 0.5, "worst": worst, "seconds": 0.5} | changes


def results(tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return results of tests."""
    device = dict.fromkeys(
        ("engine", "version", "name", "vendor", "architecture", "description", "driver", "backend", "kind"), "a"
    )
    return {
        "format": "webgpu-kernels-results",
        "version": 1,
        "kind": "test",
        "created": "a",
        "command": "a",
        "machine": {"system": "a", "processor": "a", "cores": 1, "python": "a"},
        "versions": {},
        "device": {**device, "features": [], "limits": {}},
        "packages": [],
        "tests": tests,
        "benches": [],
        "skipped": [],
    }


LARGE: dict[str, dict[str, Any]] = {
    "test/values_of_10000_digits": {
        "cases": [case(inputs={"x": TENSOR | {"data": {"kind": "values", "values": ["9" * 10_000] * 8}}})]
    },
    "test/name_of_100000": {"cases": [case(name="x" * 100_000)]},
    "test/many_bad_cases": {"cases": [{"nmae": str(n), "inputs": {"x": {"dtyp": 1}}} for n in range(9000)]},
    "test/unknown_keys": {"cases": [], **{f"k{n}": n for n in range(40_000)}},
    "bench/formula_nested": {"cases": [{"name": "a", "inputs": {}, "bytesRead": "(" * 9000}]},
    "bench/formula_too_long": {"cases": [{"name": "a", "inputs": {}, "operations": "1" + "+1" * 20_000}]},
    "device/unknown_limits": {"limits": {f"maxComputeWorkgroupX{n}": 1 for n in range(20_000)}},
    "metadata/files_of_20000": {
        **GOOD["metadata"][0],
        "digest": {"algorithm": "sha256", "files": {f"f{n}": DIGEST for n in range(20_000)}},
    },
    "metadata/digest_of_a_million": {
        **GOOD["metadata"][0],
        "digest": {"algorithm": "sha256", "files": {"manifest.json": "A" * 1_000_000}},
    },
    "results/tests_of_20000": results([result()] * 20_000),
    "results/tests_that_are_wrong": results([result(outcome="a", worst=1, seconds="a")] * 12_000),
    "results/text_of_8_mb": results([result(reason="x" * 8_000_000)]),
    "results/text_of_5_mb": results([result(outcome="x" * 5_000_000)]),
    "profile/text_of_3_mb": {**GOOD["profile"][0], "entries": "x" * 3_000_000},
    "lock/unknown_keys": {**GOOD["lock"][0], **{f"k{n}": n for n in range(40_000)}},
}
"""Each of them ends in an error."""

HARMLESS: dict[str, dict[str, Any]] = {
    "results/tests_of_10000": results([result()] * 10_000),
    "test/fixture_used_2000_times": {
        "fixtureArrays": {"a": [1] * 8192},
        "cases": [
            case(
                name=str(n),
                inputs={
                    "x": {
                        "dtype": "float32",
                        "shape": [8192],
                        "data": {"kind": "values", "values": {"$ref": "#/fixtureArrays/a"}},
                    }
                },
            )
            for n in range(2000)
        ],
    },
}
