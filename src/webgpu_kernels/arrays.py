"""numpy, loaded at its first use.

It takes as long to import as everything else together, and who only asks for WGSL or an explanation does without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Looks each name up in numpy once."""

        def __getattr__(self, name: str) -> Any:
            """Return numpy's attribute of that name."""
            import numpy  # noqa: ICN001, PLC0415 - that is the point

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()

__all__ = ["np"]
