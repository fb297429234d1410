"""Results of tests and benchmarks as devices would give them, made up: JSON documents of any size, always the same."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.results.reading import read_run

if TYPE_CHECKING:
    from webgpu_kernels.tools.results.model import RunResults

DEVICES: Final[dict[str, dict[str, Any]]] = {
    "lavapipe": {
        "engine": "native",
        "version": "wgpu 0.32.0",
        "name": "llvmpipe (LLVM 19.1.7, 256 bits)",
        "vendor": "llvmpipe",
        "architecture": "",
        "description": "llvmpipe",
        "driver": "Mesa 25.0.7 (LLVM 19.1.7)",
        "backend": "Vulkan",
        "kind": "cpu",
        "software": True,
        "features": ["shader-f16", "subgroup", "timestamp-query"],
        "limits": {
            "maxBufferSize": 2147483648,
            "maxStorageBufferBindingSize": 134217728,
            "maxComputeInvocationsPerWorkgroup": 1024,
            "maxComputeWorkgroupStorageSize": 32768,
        },
    },
    "h200": {
        "engine": "native",
        "version": "wgpu 0.32.0",
        "name": "NVIDIA H200",
        "vendor": "NVIDIA",
        "architecture": "hopper",
        "description": "NVIDIA H200",
        "driver": "570.133.20",
        "backend": "Vulkan",
        "kind": "discrete",
        "software": False,
        "features": ["shader-f16", "subgroup", "timestamp-query"],
        "limits": {
            "maxBufferSize": 2147483648,
            "maxStorageBufferBindingSize": 2147483648,
            "maxComputeInvocationsPerWorkgroup": 1024,
            "maxComputeWorkgroupStorageSize": 49152,
        },
    },
    "chromium": {
        "engine": "chromium",
        "version": "Chromium 143.0.7499.40",
        "name": "SwiftShader Device (LLVM 16.0.0)",
        "vendor": "google",
        "architecture": "swiftshader",
        "description": "SwiftShader Device (Subzero)",
        "driver": "Chromium 143.0.7499.40",
        "backend": "WebGPU",
        "kind": "cpu",
        "software": True,
        "features": ["timestamp-query"],
        "limits": {
            "maxBufferSize": 268435456,
            "maxStorageBufferBindingSize": 134217728,
            "maxComputeInvocationsPerWorkgroup": 256,
            "maxComputeWorkgroupStorageSize": 16384,
        },
    },
}
# Fastest copy in GB/s and the time of an empty dispatch in microseconds.
_SPEEDS: Final = {"lavapipe": (11.5, 70.0), "h200": (4190.0, 2.2), "chromium": (3.8, 210.0)}
VARIANTS: Final = {
    "com.microsoft.SkipGroupNorm": [
        f"{way}{bias}_{out}" for way in ("pair", "split", "fused") for bias in ("_bias", "") for out in ("sum", "plain")
    ],
    "com.microsoft.GatherBlockQuantized": [
        f"{way}{points}" for way in ("wide", "narrow", "general") for points in ("_zero_points", "")
    ],
    "ai.onnx.Add": ["flat_vec4", "rows_vec4", "elements"],
}
_MODELS: Final = ("sd15", "sdxl", "vae", "qwen3", "llama32", "gemma3", "smollm2")


def read(document: dict[str, Any]) -> RunResults:
    """Return a document as results, through the reader of files."""
    return read_document(json.dumps(document), read_run, what="results", where=None, error=ResultsError, times=10)


def results(
    device: str = "lavapipe",
    *,
    cases: int = 12,
    benches: int = 6,
    seed: int = 1,
    packages: tuple[str, ...] = tuple(VARIANTS),
    slower: float = 1.0,
) -> dict[str, Any]:
    """Return one run's document.

    Args:
        device: a key of DEVICES.
        cases: test cases a package.
        benches: benchmarks a package.
        seed: another one gives other noise.
        packages: operators.
        slower: factor on the times of every third benchmark.
    """
    chance = random.Random(f"{device}-{seed}")
    return {
        "format": "webgpu-kernels-results",
        "version": 1,
        "kind": "both",
        "created": f"2026-11-30T05:{seed % 60:02d}:00Z",
        "command": f"webgpu-kernels test --all --adapter {device} -o {device}.json",
        "machine": {"system": "Linux 6.12 x86_64", "processor": "AMD EPYC 9554", "cores": 64, "python": "3.11.2"},
        "versions": {"webgpu-kernels": "0.1.0", "wgpu": "0.32.0", "numpy": "2.4.1"},
        "device": copy.deepcopy(DEVICES[device]),
        "packages": [_package(op_id, VARIANTS[op_id]) for op_id in packages],
        "tests": [test for op_id in packages for test in _tests(op_id, device, cases, chance)],
        "benches": [
            _bench(op_id, index, device, chance, slower if index % 3 == 0 else 1.0)
            for op_id in packages
            for index in range(benches)
        ],
    }


def _package(op_id: str, variants: list[str]) -> dict[str, Any]:
    return {
        "opId": op_id,
        "source": op_id,
        "id": None,
        "version": 1,
        "revision": None,
        "digest": format(random.Random(op_id).getrandbits(256), "064x"),
        "variants": [
            {"id": name, "description": f"What {name} does.", "priority": 10 * (len(variants) - at)}
            for at, name in enumerate(variants)
        ],
    }


def request_of(op_id: str, index: int) -> str:
    """Return a request as the runner prints it."""
    kind = ("float32", "float16")[index % 2]
    side, channels = 8 << index % 4, 32 * (1 + index % 10)
    if op_id.endswith("SkipGroupNorm"):
        return f"X: {kind}[2,{side},{side},{channels}], skip: {kind}[2,{side},{side},{channels}], groups=32 -> Y, S"
    if op_id.endswith("Quantized"):
        return f"data: uint8[{1000 * side},{channels // 2}], indices: int64[{side}], block_size=32, bits=4 -> Y"
    return f"A: {kind}[{side},{channels}], B: {kind}[{channels}] -> C"


def accepted(op_id: str, index: int) -> list[str]:
    """Return the variants that take a case, best first."""
    every = VARIANTS[op_id]
    if op_id.endswith("SkipGroupNorm"):
        ending = ("_bias_sum", "_bias_plain", "_sum", "_plain")[index % 4]
        ways = ("pair", "split", "fused") if index % 3 else ("split", "fused")
        return [way + ending for way in ways]
    if op_id.endswith("Quantized"):
        points = ("_zero_points", "")[index % 2]
        return [way + points for way in (("wide", "narrow", "general") if index % 5 else ("general",))]
    return every[index % 3 :]


def _tests(op_id: str, device: str, cases: int, chance: random.Random) -> list[dict[str, Any]]:
    tests = []
    for index in range(cases):
        model = _MODELS[index % len(_MODELS)]
        half = index % 2 == 1 and device == "chromium"
        for place, variant in enumerate(accepted(op_id, index)):
            test = {
                "package": op_id,
                "case": f"{model}_{('float32', 'float16')[index % 2]}_{index:03d}",
                "request": request_of(op_id, index),
                "variant": variant,
                "chosen": place == 0,
                "outcome": "passed",
                "reason": None,
                "errorOfAllowed": round(chance.random() ** 3, 4),
                "worst": None,
                "seconds": round(0.004 + chance.random() * 0.05, 4),
            }
            if half:
                test |= {
                    "outcome": "skipped",
                    "reason": "the device lacks shader-f16",
                    "errorOfAllowed": None,
                    "seconds": 0,
                }
            elif chance.random() < 0.012:
                test |= _failure(chance)
            elif chance.random() < 0.004:
                test |= {
                    "outcome": "error",
                    "errorOfAllowed": None,
                    "reason": "ShaderError: pass 'apply': line 41: unknown identifier 'rowStride'",
                }
            tests.append(test)
    return tests


def _failure(chance: random.Random) -> dict[str, Any]:
    expected, over = chance.gauss(0, 1), chance.uniform(1.2, 40)
    worst = {
        "output": "Y",
        "index": [1, chance.randrange(64), chance.randrange(64), chance.randrange(320)],
        "got": expected + over * 2e-5,
        "expected": expected,
        "difference": over * 2e-5,
        "allowed": 2e-5,
    }
    if over > 30:
        worst |= {"got": "NaN", "difference": "NaN"}
    return {
        "outcome": "failed",
        "reason": "3 of 40960 elements beyond tolerance",
        "errorOfAllowed": over,
        "worst": worst,
    }


def _times(median: float, width: float, chance: random.Random) -> dict[str, Any]:
    runs = sorted(round(median * (1 + abs(chance.gauss(0, width)) - width / 2), 3) for _ in range(15))
    low, middle, high = runs[3], runs[7], runs[11]
    return {"medianUs": middle, "spreadUs": round((high - low) / 2, 3), "runsUs": runs}


def _bench(op_id: str, index: int, device: str, chance: random.Random, slower: float) -> dict[str, Any]:
    peak, empty = _SPEEDS[device]
    moved = int(40_000 * 4 ** (index * 0.75 % 7)) + 1024 * len(op_id)
    copy = _times(empty + moved / peak / 1000, 0.01, chance)
    names = accepted(op_id, index)
    variants = {}
    for place, name in enumerate(names):
        # The third benchmark's choice is wrong, the fifth is too noisy to say.
        share = (0.93, 0.71, 0.48)[place] * (0.6 if index % 6 == 2 and place == 0 else 1) * chance.uniform(0.9, 1.0)
        width = 0.25 if index % 6 == 4 else 0.012
        timed = _times(slower * (empty * 1.4 + moved / peak / 1000 / share), width, chance)
        speed = moved / timed["medianUs"] / 1000
        note = "the spread is too wide to trust" if width > 0.1 else None
        ratio = speed / (moved / copy["medianUs"] / 1000)
        variants[name] = {**timed, "gbPerS": round(speed, 3), "ofCopy": round(ratio, 4), "note": note, "error": None}
    if index % 6 == 5 and len(names) > 1:
        variants[names[-1]] = {
            "medianUs": None,
            "spreadUs": None,
            "runsUs": [],
            "gbPerS": None,
            "ofCopy": None,
            "note": None,
            "error": "LimitError: pass 'gather' needs 17 storage buffers, the device allows 16",
        }
    ours = variants[names[0]]["medianUs"]
    peers = {
        "onnxruntime": _peer("1.32.0", "CPU", "wall", ours * chance.uniform(0.8, 6), None),
        "torch": _peer("2.9.1", "cuda" if device == "h200" else "cpu", "wall", ours * chance.uniform(0.7, 4), None),
    }
    if index % 4 == 1:
        peers["onnxruntime"] |= {"counted": False, "errorOfAllowed": 214.0, "note": "computes in float16 throughout"}
    return {
        "package": op_id,
        "case": f"{_MODELS[index % len(_MODELS)]}_{index:03d}",
        "request": request_of(op_id, index),
        "bytesRead": moved * 2 // 3,
        "bytesWritten": moved - moved * 2 // 3,
        "operations": moved * 2,
        "clock": "wall" if device == "chromium" else "gpu",
        "copy": {
            "medianUs": copy["medianUs"],
            "spreadUs": copy["spreadUs"],
            "gbPerS": round(moved / copy["medianUs"] / 1000, 3),
        },
        "chosen": names[0],
        "variants": variants,
        "peers": peers,
    }


def _peer(version: str, device: str, clock: str, median: float, note: str | None) -> dict[str, Any]:
    return {
        "version": version,
        "device": device,
        "clock": clock,
        "medianUs": round(median, 3),
        "spreadUs": round(median * 0.03, 3),
        "errorOfAllowed": 0.02,
        "counted": True,
        "note": note,
    }


HOSTILE: Final = (
    "<script>window.hurt = 1</script>",
    "</script><script>window.hurt = 1</script><!--",
    "\"><img src=x onerror='window.hurt = 1'>",
    "{{ 7 * 7 }}{% for x in y %}${hurt}",
    "javascript:window.hurt=1//",
    "[object Object]",
    "a\0b\x1b[31mred\x7f\u2028\u2029\r\nnext\tline",
    "right\u202eto left\u2066",
    "private \ue000 use, combining a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "'; rm -rf / #",
    "long-" * 4000,
    "W" * 500,
    "",
)


def hostile_results() -> dict[str, Any]:
    """Return a document that any page should survive: hostile names everywhere, and numbers that no clock gives."""
    document = results(cases=0, benches=0, packages=())
    device = {key: HOSTILE[0] if isinstance(value, str) else value for key, value in DEVICES["lavapipe"].items()}
    variants = [{"id": name, "description": name, "priority": 0} for name in HOSTILE if name]
    packages = [
        {"opId": name, "source": name, "id": None, "version": 1, "revision": name, "digest": name, "variants": variants}
        for name in HOSTILE[:3]
    ]
    numbers = [0, -1, "NaN", "Infinity", 1e308, 5e-324, 1e-7, 10**30, 12.5, 13, 14, 15, 16]
    tests = [
        {
            "package": HOSTILE[at % 3],
            "case": name,
            "request": name,
            "variant": other,
            "chosen": at == 0,
            "outcome": ("passed", "failed", "error", "skipped")[at % 4],
            "reason": name,
            "errorOfAllowed": numbers[at],
            "worst": {
                "output": name,
                "index": [at] * 40,
                "got": "NaN",
                "expected": str(10**30),
                "difference": "Infinity",
                "allowed": numbers[at],
            },
            "seconds": numbers[at],
        }
        for name in HOSTILE
        for at, other in enumerate(HOSTILE)
    ]
    times = {
        name: {"medianUs": number, "spreadUs": number, "gbPerS": number, "ofCopy": number, "note": name, "error": name}
        for name, number in zip(HOSTILE, numbers, strict=True)
    }
    peers = {
        name: {**time, "version": name, "device": name, "clock": "wall", "counted": len(name) % 2 == 0}
        for name, time in times.items()
    }
    benches = [
        {
            "package": HOSTILE[at % 3],
            "case": name,
            "request": name,
            "bytesRead": (0, 10**40, 4096)[at % 3],
            "bytesWritten": 0,
            "operations": numbers[at],
            "clock": "gpu",
            "copy": {"medianUs": numbers[at], "spreadUs": "NaN", "gbPerS": numbers[at]},
            "chosen": HOSTILE[8 + at % 5],
            "variants": times,
            "peers": peers,
        }
        for at, name in enumerate(HOSTILE)
    ]
    return {
        **document,
        "device": device,
        "packages": packages,
        "tests": tests,
        "benches": benches,
        "command": HOSTILE[1],
    }
