"""What lint has to say: findings, each with a code, a place and a remedy, and the collection of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from webgpu_kernels.legible import shortened
from webgpu_kernels.tools.lint.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Collection

Severity: TypeAlias = Literal["error", "warning"]

MAX_OF_A_CODE: Final = 100
"""Findings of one code that are kept: a hostile package must not fill the memory."""

MAX_CHARS: Final = 2000
"""Characters of a message; a template may raise one of any length."""


class Place(NamedTuple):
    """Where a finding is.

    Attributes:
        file: relative to the package's root, such as ``build/webgpu/manifest.json``.
        path: the JSON path in it, or empty.
        line: the line, counted from 1; 0 where there is none.
    """

    file: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return ``file: path`` or ``file:line``."""
        if self.line:
            return f"{self.file}:{self.line}"
        return f"{self.file}: {self.path}" if self.path else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or not as it should be.

    Attributes:
        code: such as ``L101``; ``CODES`` says what it means.
        place: where.
        message: what is wrong.
        remedy: what to do.
        severity: an error keeps the package from working somewhere; a warning does not.
    """

    code: str
    place: Place
    message: str
    remedy: str
    severity: Severity

    def __str__(self) -> str:
        """Return one line without the remedy."""
        return f"{self.place}: {self.code} {self.message}"


class Findings:
    """Collects findings, each once.

    Args:
        ignored: codes that are dropped.
    """

    def __init__(self, ignored: Collection[str] = ()) -> None:
        self._ignored = frozenset(ignored)
        self._found: dict[tuple[str, Place, str], Finding] = {}
        self._counts: dict[str, int] = {}
        self._places: set[tuple[str, Place]] = set()

    def add(self, code: str, place: Place, message: str, remedy: str = "") -> None:
        """Keep a finding.

        Args:
            code: one of ``CODES``.
            place: where.
            message: what is wrong.
            remedy: what to do; by default the code's own.
        """
        known = CODES[code]
        message, remedy = shortened(message, MAX_CHARS), shortened(remedy, MAX_CHARS)
        key = (code, place, message)
        if code in self._ignored or key in self._found or self._counts.get(code, 0) >= MAX_OF_A_CODE:
            return
        self._counts[code] = self._counts.get(code, 0) + 1
        self._places.add((code, place))
        self._found[key] = Finding(
            code=code, place=place, message=message, remedy=remedy or known.remedy, severity=known.severity
        )

    def has(self, code: str, place: Place | None = None) -> bool:
        """Tell whether something of that code is known of a place.

        Args:
            code: the code.
            place: the place, None for any.

        Returns:
            Whether it is; of an ignored code always.
        """
        if code in self._ignored:
            return True
        return code in self._counts if place is None else (code, place) in self._places

    def sorted(self) -> tuple[Finding, ...]:
        """Return the findings, errors first, then by code in the order they were found."""
        found = list(self._found.values())
        return tuple(sorted(found, key=lambda finding: (finding.severity != "error", finding.code)))
