"""What the reader says of a manifest."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_schemas import check_seen

from webgpu_kernels.contract import read_manifest
from webgpu_kernels.errors import ManifestError


def defects(manifest: Any) -> list[str]:
    """Return every defect of a manifest that the reader refuses, as ``path: message``."""
    with pytest.raises(ManifestError) as caught:
        read_manifest(manifest)
    found = [str(defect) for defect in caught.value.defects]
    check_seen("manifest", manifest, found)
    return found
