"""What the JSON Schemas say of a document, beside what the reader says."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from webgpu_kernels.tools.schema import make_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

# The reader's words for what a schema can see too: unknown and missing keys, wrong kinds, words that are not allowed,
# texts that do not have their form.
_STRUCTURAL: Final = re.compile(
    r"is not a key of|is missing:|must not be empty|must be (?!at most|absent)[^;]*, not (the |a list|an object)"
    r"|must be (?!at most|absent)[^;]*, not (true|false|null)"
    r"|must be a file's name|must end in|is not a (domain|name|variant id|pass id)\b|is no extension"
    r"|is a word of WGSL|is the name of a member of JavaScript"
)

# What looks like it and depends on more: other keys, what a template is filled with, extensions that are declared.
_DEEPER: Final = re.compile(
    r"\(in the case |belongs to the extension|say how int64 values|a uniform has fields|list what the shader uses"
    r"|must be a value of"
)


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what holds a document against a schema."""
    return Draft202012Validator(make_schema(name))


def schema_faults(name: str, document: Any) -> list[str]:
    """Return what a schema finds wrong with a document."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(document)]


def is_structural(defect: str) -> bool:
    """Tell whether a defect is one that a schema can see."""
    return _STRUCTURAL.search(defect) is not None and _DEEPER.search(defect) is None


def as_json(document: Any) -> Any:
    """Return the document as a file would hold it; None where it cannot."""
    try:
        return json.loads(json.dumps(document, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def check_seen(name: str, document: Any, found: Iterable[str]) -> None:
    """Assert that the schema refuses a document, too, that has a defect of structure."""
    plain, structural = as_json(document), [defect for defect in found if is_structural(defect)]
    if plain is not None and structural:
        assert not validator(name).is_valid(plain), f"the schema takes it: {structural}"
