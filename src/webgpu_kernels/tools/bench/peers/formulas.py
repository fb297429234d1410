"""A package's own words for what its operator is in another library: ``peers.py`` at its root, beside reference.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import Unset
from webgpu_kernels.tools.bench.peers import PeerUnable
from webgpu_kernels.tools.suites.references import beside_package, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.contract import Package
    from webgpu_kernels.planning.request import Request

PEERS_FILE: Final = "peers.py"


def formula_of(package: Package, function: str) -> Callable[..., Any]:
    """Return a function of a package's ``peers.py``.

    Args:
        package: any; of a package of the Hub nothing is run.
        function: such as ``with_torch``; it takes inputs, attributes and output names, and returns outputs by name.

    Returns:
        The function.

    Raises:
        PeerUnable: there is none.
        SuiteError: the file cannot be imported.

    Source: docs/suites.md, "Peers".
    """
    path = beside_package(package, PEERS_FILE)
    if path is None:
        of_hub = package.revision is not None
        why = f"{PEERS_FILE} of a package of the Hub is never run" if of_hub else f"the package has no {PEERS_FILE}"
        raise PeerUnable(why)
    found = function_of(path, function, where=package.where)
    if found is None:
        raise PeerUnable(f"{PEERS_FILE} has no function {function}(inputs, attrs, outputs)")
    return found


def options_of(request: Request) -> dict[str, Any]:
    """Return the attributes of a request with their defaults, and its scalar arguments."""
    given = {**request.args, **request.attrs}
    return {name: value for name, value in given.items() if not isinstance(value, Unset)}
