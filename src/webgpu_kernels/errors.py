"""Every exception that this library raises on purpose.

KernelError
├── LanguageError (ValueError)          an expression or a template is wrong
│   ├── LanguageSyntaxError             its text does not parse
│   ├── EvaluationError                 it parses, its evaluation fails
│   ├── UnknownIdentifierError          it names something that is not in scope
│   └── WorkLimitExceeded               it was stopped: too many steps, too much output, too deep
├── ManifestError (ValueError)          a manifest breaks the format; holds every defect
├── PackageError                        a package's files are missing or unreadable
│   ├── PackageNotFound (LookupError)   there is no package there
│   ├── SourceError (ValueError)        what to load is said in a way that cannot be followed
│   ├── DigestError (ValueError)        a file is not what its digest says, or has none
│   ├── LockError (ValueError)          the lock file is broken, or does not hold the kernel
│   ├── SuiteError (ValueError)         test.json, bench.json or reference.py cannot be used
│   ├── HubExtraMissing (ImportError)   huggingface_hub is not installed
│   └── HubError (OSError)              a package cannot be had from the Hub
│       ├── UntrustedRepository (PermissionError)  nobody said that its owner is trusted
│       ├── HubAccessDenied (PermissionError)      the Hub wants a token, or another one
│       └── HubUnavailable (ConnectionError)       the Hub does not answer, and nothing is cached
├── RequestError (ValueError)           a call does not fit the contract
│   ├── UnknownNameError (KeyError)     an input, output, attribute, … that the contract does not know
│   ├── MissingValueError (KeyError)    a required input, attribute or argument is absent
│   ├── DtypeError (TypeError)          a dtype that the port does not take
│   ├── ShapeError                      a rank or shape that the port does not take
│   ├── AttributeValueError             an attribute or scalar argument out of its values
│   ├── LayoutError                     a tensor stored otherwise than the port needs
│   ├── ValueRangeError (IndexError)    an array holds a value out of the port's range, such as an index
│   └── NoVariantError                  no variant takes the request; holds the candidates
├── ResultsError (ValueError)           a file that test, bench or tune wrote cannot be used
├── PlanError (ValueError)              the manifest's own numbers make no sense for this request
│   └── LimitError                      more than the device allows; names the limit
├── OutputError (OSError)               a file that was asked for cannot be written
├── ExtraMissing (ImportError)          what a command needs is not installed; names the extra that has it
└── DeviceError (RuntimeError)          the device or a tensor on it cannot be used
    ├── NoAdapterError                  no suitable adapter on this machine
    ├── DeviceLost                      the device is gone
    ├── DeviceClosed                    the device was closed
    ├── ForkedProcessError              the device belongs to the parent process
    ├── OutOfMemory (MemoryError)       the device could not allocate
    ├── ShaderError                     a rendered shader does not compile
    ├── TensorDestroyed                 the tensor's memory was given back
    └── ForeignTensor (ValueError)      the tensor belongs to another device
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from webgpu_kernels.legible import compose_message, legible, list_defects, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence


class KernelError(Exception):
    """Root of everything this library raises.

    Args:
        message: what is wrong.
        where: package, JSON path, port, variant or template line that is concerned.
        expected: what would have been right.
        got: what came.
        hint: what to do.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.expected = expected and shortened(expected, 2000)
        self.got = got and shortened(got, 2000)
        self.hint = hint

    def __str__(self) -> str:
        """Compose one line: where, what, expected, got, hint."""
        return compose_message(self.where, self.message, self.expected, self.got, self.hint)


class LanguageError(KernelError, ValueError):
    """An expression or a template is wrong."""


class LanguageSyntaxError(LanguageError):
    """The text does not parse."""


class EvaluationError(LanguageError):
    """The text parses and its evaluation fails."""


class UnknownIdentifierError(LanguageError):
    """The text names something that is not in scope."""


class WorkLimitExceeded(LanguageError):
    """Evaluation was stopped: too many steps, too much output or too deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One thing wrong in a manifest.

    Attributes:
        path: JSON path, such as ``variants[2].passes[0].dispatch.x``; empty for the document.
        message: what is wrong and what to do.
    """

    path: str
    message: str

    def __str__(self) -> str:
        """Return ``path: message``."""
        return legible(f"{shortened(self.path, 400)}: {self.message}" if self.path else self.message)


class ManifestError(KernelError, ValueError):
    """A manifest breaks the format; ``defects`` holds everything found, in document order."""

    def __init__(self, defects: Sequence[Defect], *, where: str | None = None) -> None:
        self.defects = tuple(defects)
        super().__init__(f"the manifest has {list_defects(self.defects)}", where=where)

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from the defects: the message is derived from them."""
        return (type(self), (self.defects,), self.__dict__)


class PackageError(KernelError):
    """A package's files are missing or unreadable."""


class PackageNotFound(PackageError, LookupError):
    """There is no package at the given place."""


class SourceError(PackageError, ValueError):
    """What to load is said in a way that cannot be followed: repository, version, revision, token."""


class DigestError(PackageError, ValueError):
    """A file of a package is not what its digest says, has none, or is not there; or the id is not the digests'."""


class LockError(PackageError, ValueError):
    """The lock file is missing or broken, does not hold the kernel, or holds another version of it."""


class SuiteError(PackageError, ValueError):
    """A package's test.json or bench.json breaks the format, or its reference cannot be used."""


class HubExtraMissing(PackageError, ImportError):
    """A package of the Hub is asked for and huggingface_hub is not installed."""


class HubError(PackageError, OSError):
    """A package cannot be had from the Hub."""


class UntrustedRepository(HubError, PermissionError):
    """Nobody said that the repository, or the organisation that owns it, is trusted."""


class HubAccessDenied(HubError, PermissionError):
    """The Hub wants a token, or another one than it got."""


class HubUnavailable(HubError, ConnectionError):
    """The Hub does not answer as it should, and what was asked for is not in the cache."""


class RequestError(KernelError, ValueError):
    """A call does not fit the contract."""


class UnknownNameError(RequestError, KeyError):
    """The call names an input, output, attribute, argument, tunable or variant that the contract does not know."""


class MissingValueError(RequestError, KeyError):
    """A required input, attribute or argument is absent."""


class DtypeError(RequestError, TypeError):
    """A dtype that the port does not take."""


class ShapeError(RequestError):
    """A rank or shape that the port does not take."""


class AttributeValueError(RequestError):
    """An attribute or a scalar argument outside its allowed values."""


class LayoutError(RequestError):
    """A tensor whose layout or storage is not what the port needs."""


class ValueRangeError(RequestError, IndexError):
    """An array holds a value out of the range that the contract gives it, such as an index past the end of a table.

    Attributes:
        position: where the first such value is, one index an axis; empty for a scalar.
        value: that value.
        least: the least that is allowed.
        most: the greatest that is allowed.
    """

    def __init__(
        self,
        *,
        least: int,
        most: int,
        value: int,
        position: tuple[int, ...],
        what: str | None = None,
        where: str | None = None,
    ) -> None:
        allowed = f"{least} to {most}" if least <= most else "no value at all"
        super().__init__(
            f"value out of range at {list(position)}" if position else "value out of range",
            where=where,
            expected=f"{allowed} ({what})" if what else allowed,
            got=str(value),
        )
        self.least, self.most = least, most
        self.value, self.position = value, position

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild without calling ``__init__`` again: its arguments are keywords."""
        return (_blank, (type(self),), self.__dict__)


class NoVariantError(RequestError):
    """No variant takes the request; ``reasons`` maps each candidate's id to why."""

    def __init__(self, message: str, *, where: str | None = None, reasons: dict[str, str] | None = None) -> None:
        super().__init__(message, where=where)
        self.reasons = reasons or {}


class ResultsError(KernelError, ValueError):
    """A file of results, or a profile of tune, cannot be read, written or merged."""


class PlanError(KernelError, ValueError):
    """The manifest's own expressions give a plan that cannot run: a grid, a uniform field, a binding, an alias."""


class LimitError(PlanError):
    """The request needs more than the device allows.

    Attributes:
        limit: WebGPU's name of the limit.
        asked: how much the request needs, in the limit's unit.
        available: how much the device has.
    """

    def __init__(self, message: str, *, limit: str, asked: int, available: int, where: str | None = None) -> None:
        super().__init__(f"{message}: needs {asked}, the device's {limit} is {available}", where=where)
        self.limit, self.asked, self.available = limit, asked, available

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild without calling ``__init__`` again: its arguments are keywords."""
        return (_blank, (type(self),), self.__dict__)


class OutputError(KernelError, OSError):
    """A file that was asked for cannot be written."""


class ExtraMissing(KernelError, ImportError):
    """A command needs libraries that are not installed; the hint names the extra that has them."""


def _blank(kind: type[KernelError]) -> KernelError:
    return kind.__new__(kind)


class DeviceError(KernelError, RuntimeError):
    """The device, or a tensor on it, cannot be used."""


class NoAdapterError(DeviceError):
    """No suitable adapter on this machine."""


class DeviceLost(DeviceError):
    """The device is gone: driver reset, unplugged, or destroyed by somebody else."""


class DeviceClosed(DeviceError):
    """The device was closed with ``Device.close``."""


class ForkedProcessError(DeviceError):
    """The device was opened before a fork and belongs to the parent process."""


class OutOfMemory(DeviceError, MemoryError):
    """The device could not allocate; it still works."""


class ShaderError(DeviceError):
    """A rendered shader does not compile.

    Attributes:
        template: file name of the template, or None.
        template_line: line in that template, counted from 1, or None.
        wgsl_line: line in the rendered WGSL, counted from 1, or None.
        wgsl: the rendered text.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        template: str | None = None,
        template_line: int | None = None,
        wgsl_line: int | None = None,
        wgsl: str = "",
    ) -> None:
        super().__init__(message, where=where)
        self.template = template
        self.template_line = template_line
        self.wgsl_line = wgsl_line
        self.wgsl = wgsl


class TensorDestroyed(DeviceError):
    """The tensor's memory was given back."""


class ForeignTensor(DeviceError, ValueError):
    """The tensor belongs to another device."""
