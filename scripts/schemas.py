"""Write the JSON Schemas that are shipped and those of the documentation, from the tables that the readers go by.

python scripts/schemas.py
"""

from __future__ import annotations

from pathlib import Path

from webgpu_kernels.tools.schema.documents import SCHEMAS, compose_text

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "src/webgpu_kernels/tools/schema", ROOT / "docs/schemas")


def main() -> None:
    """Write every schema to both folders."""
    for folder in FOLDERS:
        folder.mkdir(exist_ok=True)
        for name in SCHEMAS:
            (folder / f"{name}.schema.json").write_text(compose_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
