"""A package's card, README.md: what its manifest says, in words and tables, and how it is called."""

from __future__ import annotations

from webgpu_kernels.tools.card.page import card_text

__all__ = ["card_text"]
