"""A pytest plugin: ``pytest --webgpu-package PATH`` collects every case of a kernel package as a test.

pytest loads this module wherever the library is installed, so it imports nothing of it before somebody asks for a
package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("webgpu-kernels", "cases of WebGPU kernel packages")
    group.addoption(
        "--webgpu-package",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="collect the cases of this package's test.json: a folder or a bundled operator; may be repeated",
    )
    group.addoption("--webgpu-engine", default="native", metavar="NAME", help="native or chromium; default: native")
    group.addoption("--webgpu-adapter", metavar="NAME", help="part of an adapter's name; default: the best")


# Before -k and -m choose among the items.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the cases of the packages that were named."""
    packages: Sequence[str] = session.config.getoption("--webgpu-package")
    if packages:
        from webgpu_kernels_pytest.collecting import cases_of  # noqa: PLC0415 - as said at the top

        items += cases_of(session, packages)
