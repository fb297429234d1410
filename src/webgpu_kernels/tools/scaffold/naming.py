"""The name of a new operator, and what is called after it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from webgpu_kernels.contract.source import repository_of
from webgpu_kernels.contract.words import DOMAIN, name_fault
from webgpu_kernels.errors import PackageError, SourceError

_EXPECTED: Final = "domain.Name, such as com.example.LeakyRelu"
# Where a word begins in a name: LeakyRelu, RMSNorm, Conv2D.
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


class OperatorName(NamedTuple):
    """An operator's name in its parts.

    Attributes:
        domain: whose it is, such as ``com.example``.
        name: such as ``LeakyRelu``.
    """

    domain: str
    name: str

    @property
    def op_id(self) -> str:
        """The whole name."""
        return f"{self.domain}.{self.name}"

    @property
    def file_stem(self) -> str:
        """What a template is called: ``leaky-relu``."""
        return "-".join(filter(None, _WORD.split(self.name))).lower() or "kernel"


def operator_name(text: str) -> OperatorName:
    """Read an operator's name.

    Args:
        text: such as ``com.example.LeakyRelu``.

    Returns:
        Its parts.

    Raises:
        PackageError: no manifest, or no repository of the Hub, may be called that.

    Source: FORMAT sections 1 and 2.
    """
    domain, dot, name = text.rpartition(".")
    if not dot or not domain:
        raise PackageError("is no operator's name: the domain is missing", where=repr(text), expected=_EXPECTED)
    if not DOMAIN.fullmatch(domain):
        raise PackageError(
            f"is no operator's name: the domain {domain!r} is not words joined by dots, the first in lower case",
            where=repr(text),
            expected=_EXPECTED,
        )
    if fault := name_fault(name):
        raise PackageError(f"is no operator's name: {name!r} {fault}", where=repr(text), expected=_EXPECTED)
    try:
        repository_of(f"owner/{text}")
    except SourceError as error:
        raise PackageError(
            "is no operator's name: the Hub has no repositories of this name", where=repr(text), expected=_EXPECTED
        ) from error
    return OperatorName(domain, name)
