"""A small package that takes rows out of a table of any size: packed values, row numbers in a range, split bindings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

EXTENSIONS = ["valueRange", "int4", "split"]
TEMPLATE = """{{ env.wgsl.resourceDeclarations }}

fn word(i: u32) -> u32 {
    let at = i % {{ SPLIT_WINDOW_BYTES // 4 }}u;
    switch i / {{ SPLIT_WINDOW_BYTES // 4 }}u {
{% for part in range(parts) %}
        case {{ part }}u: { return table{{ part }}[at]; }
{% endfor %}
        default: { return 0u; }
    }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.count) { return; }
    let row = rows[id.x / {{ columns }}u];
    let element = u32(select(row, row + {{ rowCount }}, row < 0)) * {{ columns }}u + id.x % {{ columns }}u;
    let high = word(element / {{ 32 // bits }}u) << ({{ 32 - bits }}u - element % {{ 32 // bits }}u * {{ bits }}u);
{% if logicalDtypes.T == "int4" %}
    y[id.x] = i32(high) >> 28u;
{% else %}
    y[id.x] = i32(high >> {{ 32 - bits }}u);
{% endif %}
}
"""


def table_manifest(**changes: Any) -> dict[str, Any]:
    """Return the manifest, with top-level keys replaced or, by None, removed."""
    manifest: dict[str, Any] = {
        "extensions": EXTENSIONS,
        "domain": "test",
        "name": "TakeRows",
        "inputs": {
            "table": {"dtype": "T", "layout": "packed"},
            "rows": {
                "dtype": "int64",
                "storage": "int32",
                "narrowing": "checked",
                "range": {"min": "-rowCount", "max": "rowCount - 1", "what": "a row of the table"},
            },
        },
        "outputs": {"y": {"dtype": "int32", "shape": "shapes.rows + [columns]"}},
        "typeConstraints": {"T": ["uint8", "int4", "uint4"]},
        "derive": {
            "rowCount": "shapes.table[0]",
            "columns": "shapes.table[1]",
            "bits": '8 if logicalDtypes.T == "uint8" else 4',
            "parts": "ceilDiv(max(4, ceilDiv(numel(shapes.table) * bits, 32) * 4), SPLIT_WINDOW_BYTES)",
        },
        "bindings": {
            "table": {"split": "parts"},
            "params": {"struct": [{"name": "count", "type": "u32", "value": "numel(shapes.y)"}]},
        },
        "variants": [{"id": "only", "passes": [table_pass()]}],
    }
    manifest.update(changes)
    return {key: value for key, value in manifest.items() if value is not None}


def table_pass(**changes: Any) -> dict[str, Any]:
    """Return its pass."""
    return {
        "id": "main",
        "shader": "take.wgsl.jinja",
        "bindings": ["table", "rows", "y", "params"],
        "dispatch": {"threads": "numel(shapes.y)", "workgroupSize": 64},
        **changes,
    }


def write_table_package(folder: Path, **changes: Any) -> Path:
    """Write manifest and template into a folder."""
    (folder / "manifest.json").write_text(json.dumps(table_manifest(**changes)), encoding="utf-8")
    (folder / "take.wgsl.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder
