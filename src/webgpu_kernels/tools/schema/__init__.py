"""JSON Schemas of a package's files, for editors: made of the tables that the readers go by."""

from __future__ import annotations

from webgpu_kernels.tools.schema.documents import SCHEMAS, SHIPPED, Schema, make_schema, schema_text

__all__ = ["SCHEMAS", "SHIPPED", "Schema", "make_schema", "schema_text"]
