"""The documents that have a schema."""

from __future__ import annotations

import json
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from webgpu_kernels.contract.kinds import Table

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


class Schema(NamedTuple):
    """A document that has a schema.

    Attributes:
        title: what it is.
        module: where its table is, or its dataclass where it is only written; loaded when the schema is made.
        table: what that is called there.
    """

    title: str
    module: str
    table: str


SCHEMAS: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        "manifest": Schema("manifest.json, spec 2.1", "webgpu_kernels.contract.vocabulary", "MANIFEST"),
        "manifest-1.0": Schema("manifest.json, spec 1.0", "webgpu_kernels.contract.older.vocabulary", "MANIFEST"),
        "metadata": Schema("metadata.json", "webgpu_kernels.contract.metadata", "METADATA_TABLE"),
        "test": Schema("test.json", "webgpu_kernels.tools.suites.tables", "SUITE"),
        "bench": Schema("bench.json", "webgpu_kernels.tools.bench.tables", "BENCH"),
        "lock": Schema("webgpu-kernels.lock", "webgpu_kernels.contract.lock", "LOCK"),
        "results": Schema("a file of results", "webgpu_kernels.tools.results.tables", "RESULTS"),
        "profile": Schema("what tune found", "webgpu_kernels.tuning.profile", "PROFILE"),
        "capabilities": Schema("the description of a device", "webgpu_kernels.tools.capabilities", "DEVICE"),
        "program": Schema("program.json of an export", "webgpu_kernels.tools.export.document", "ProgramDocument"),
    }
)
SHIPPED: Final[Traversable] = files(__package__ or "")
"""The folder of the schemas that are shipped: what ``make_schema`` made of the tables, as a test checks."""


def schema_text(name: str) -> str:
    """Return a schema as it is shipped.

    Args:
        name: one of ``SCHEMAS``.

    Returns:
        JSON.

    Source: JSON Schema, draft 2020-12.
    """
    return (SHIPPED / f"{name}.schema.json").read_text("utf-8")


def make_schema(name: str) -> dict[str, Any]:
    """Make a schema of the tables that the reader goes by.

    Args:
        name: one of ``SCHEMAS``.

    Returns:
        The schema.

    Source: JSON Schema, draft 2020-12.
    """
    from webgpu_kernels.tools.schema.translation import Translation  # noqa: PLC0415 - who prints one does without

    schema, translation = SCHEMAS[name], Translation()
    source = _source(schema)
    if isinstance(source, type):
        from webgpu_kernels.tools.export.fields import schema_of  # noqa: PLC0415 - as above

        body, definitions = schema_of(source)
    else:
        body, definitions = translation.table(source), translation.definitions
    head = {"$schema": DRAFT, "$id": f"urn:webgpu-kernels:{name}", "title": schema.title}
    return {**head, **body, "$defs": dict(sorted(definitions.items()))}


def compose_text(name: str) -> str:
    """Return the text of the file that is shipped.

    Args:
        name: one of ``SCHEMAS``.

    Returns:
        JSON, indented.
    """
    return json.dumps(make_schema(name), indent=1, ensure_ascii=False) + "\n"


def _source(schema: Schema) -> Table | type:
    from importlib import import_module  # noqa: PLC0415 - only who makes one needs the tables

    source: Table | type = getattr(import_module(schema.module), schema.table)
    return source
