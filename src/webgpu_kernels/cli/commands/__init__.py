"""The commands: one module each, loaded when it is called.

A module's docstring is its help; ``configure(parser)`` adds its arguments and ``run(arguments, screen)`` does the work
and returns an exit code.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Command(NamedTuple):
    """A command as the overview lists it.

    Attributes:
        module: the module in this folder.
        summary: one line.
    """

    module: str
    summary: str


COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        "info": Command("info", "this machine's adapters, versions and caches, for a bug report"),
        "download": Command("download", "fetch the kernels of a project's lock file"),
        "lock": Command("lock", "write which commits a project's kernels are"),
        "verify": Command("verify", "check a package's files against its digests"),
        "explain": Command("explain", "which variant a call takes, and why not the others"),
        "render": Command("render", "the WGSL that a call runs"),
        "export": Command("export", "a call as WGSL and JSON, with a page that runs it in a browser"),
        "init": Command("init", "start a new package that runs and passes"),
        "lint": Command("lint", "everything that can be wrong with a package"),
        "card": Command("card", "write a package's README.md"),
        "pack": Command("pack", "write a package's metadata.json"),
        "diff": Command("diff", "what changed between two packages, and whether it breaks callers"),
        "push": Command("push", "publish a package on the Hub"),
        "schema": Command("schema", "the JSON Schema of one of a package's files"),
        "test": Command("test", "run test.json on every variant"),
        "bench": Command("bench", "run bench.json, beside other implementations"),
        "tune": Command("tune", "search this device's best tunables"),
        "report": Command("report", "results of test and bench as one page"),
    }
)

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "use kernels": ("info", "download", "lock", "verify"),
        "look inside": ("explain", "render", "export", "diff"),
        "write a package": ("init", "lint", "card", "pack", "push", "schema"),
        "measure": ("test", "bench", "tune", "report"),
    }
)
