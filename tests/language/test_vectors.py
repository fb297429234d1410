"""The published cases of the dialect."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language import UNDEFINED, compile_expression, evaluate, host_value, render
from webgpu_kernels.language.values import EdgeInteger

VECTORS = Path(__file__).resolve().parents[3] / "shared" / "vectors"


def load(name: str) -> dict[str, Any]:
    path = VECTORS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"scope": {}, "cases": []}


EXPRESSIONS, TEMPLATES = load("expressions.json"), load("templates.json")
present = pytest.mark.skipif(not EXPRESSIONS["cases"], reason="../shared/vectors is not beside this checkout")


def encode(value: Any) -> dict[str, Any]:
    for test, name in ((value is None, "none"), (value is UNDEFINED, "undefined")):
        if test:
            return {"type": name}
    if isinstance(value, list):
        return {"type": "list", "value": [encode(entry) for entry in value]}
    if isinstance(value, dict):
        return {"type": "dict", "value": {key: encode(entry) for key, entry in value.items()}}
    if isinstance(value, (bool, str)):
        return {"type": "bool" if isinstance(value, bool) else "string", "value": value}
    name = "int" if isinstance(value, (int, EdgeInteger)) else "float"
    if math.isfinite(value):
        return {"type": name, "value": float(value)}
    return {"type": name, "value": "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"}


def as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_floats(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [as_floats(entry) for entry in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@present
@pytest.mark.parametrize("case", EXPRESSIONS["cases"], ids=lambda case: case["expr"])
def test_expression_has_the_published_value_and_kind(case: dict[str, Any]) -> None:
    """Each published expression gives its value and kind, or is an error."""
    if case.get("error"):
        with pytest.raises(LanguageError):
            evaluate(case["expr"], EXPRESSIONS["scope"])
        return
    scope = {name: host_value(value) for name, value in EXPRESSIONS["scope"].items()}
    expected = as_floats({key: value for key, value in case.items() if key != "expr"})
    assert encode(compile_expression(case["expr"]).evaluate(scope)) == expected


@present
@pytest.mark.parametrize("case", TEMPLATES["cases"], ids=lambda case: case["template"])
def test_template_renders_the_published_text(case: dict[str, Any]) -> None:
    """Each published template renders its text, or is an error."""
    if case.get("error"):
        with pytest.raises(LanguageError):
            render(case["template"], TEMPLATES["scope"])
    else:
        assert render(case["template"], TEMPLATES["scope"]) == case["text"]
