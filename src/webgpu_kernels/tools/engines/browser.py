"""A headless Chromium with one page, driven by playwright on a thread of its own.

Its thread runs an event loop, so that any thread may call the page, wait no longer than it wants, and leave at Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.errors import NoAdapterError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

EXECUTABLE_VARIABLE: Final = "WEBGPU_KERNELS_CHROMIUM"
ARGUMENTS_VARIABLE: Final = "WEBGPU_KERNELS_CHROMIUM_ARGS"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
"""What Chromium is called on PATH, first come, first taken."""
_ALWAYS: Final = (
    "--enable-unsafe-webgpu",
    # Without it timestamps are rounded to 100 microseconds, and the adapter does not name its driver.
    "--enable-webgpu-developer-features",
    # A long dispatch on a software adapter is no hang; runs have a limit of their own.
    "--disable-gpu-watchdog",
)
_SOFTWARE: Final = ("--use-webgpu-adapter=swiftshader",)
_HARDWARE: Final = ("--enable-features=Vulkan", "--ignore-gpu-blocklist")
_CLOSING_SECONDS: Final = 10
_STARTING_SECONDS: Final = 60


class BrowserGone(Exception):
    """The page or the whole browser has crashed, or was closed."""


class BrowserSlow(Exception):
    """The page did not answer in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings:
    """How a browser is started.

    Attributes:
        executable: its program.
        arguments: what goes on its command line.
    """

    executable: str
    arguments: tuple[str, ...]


def find_settings(*, software: bool, environment: Mapping[str, str] = os.environ) -> BrowserSettings:
    """Find Chromium, and say how to start it.

    Args:
        software: whether to use the adapter in software that Chromium brings along, else the machine's GPU.
        environment: where WEBGPU_KERNELS_CHROMIUM and WEBGPU_KERNELS_CHROMIUM_ARGS are looked up.

    Returns:
        The settings.

    Raises:
        NoAdapterError: there is no Chromium.

    Source: docs/how-to.md, "Test in a browser".
    """
    wanted = environment.get(EXECUTABLE_VARIABLE)
    found = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        what = f"{EXECUTABLE_VARIABLE} is {wanted}, and that is no program" if wanted else "Chromium is not on PATH"
        raise NoAdapterError(what, hint="On Debian: apt-get install chromium. Else name it in " + EXECUTABLE_VARIABLE)
    arguments = [*_ALWAYS, *(_SOFTWARE if software else _HARDWARE)]
    arguments += shlex.split(environment.get(ARGUMENTS_VARIABLE, ""))
    return BrowserSettings(executable=found, arguments=tuple(arguments))


class Browser:
    """A running browser with one page.

    Args:
        settings: how it is started.
        address: the page.

    Raises:
        NoAdapterError: playwright is not installed, or the browser does not start.
    """

    def __init__(self, settings: BrowserSettings, address: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="webgpu-kernels browser", daemon=True)
        self._thread.start()
        self._page = _Page()
        self._finalizer = weakref.finalize(self, _shut, self._page, self._loop, self._thread)
        try:
            self._wait(self._page.open(settings, address))
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise _not_started(settings, error) from error
            raise

    @property
    def version(self) -> str:
        """Such as ``156.0.8078.108``."""
        return self._page.version

    def call(self, function: str, argument: object, *, seconds: float) -> Any:
        """Call a function of the page.

        Args:
            function: its JavaScript name.
            argument: what JSON can carry.
            seconds: how long to wait for its answer.

        Returns:
            What it answers; of a promise, what that becomes.

        Raises:
            BrowserGone: the page or the browser crashed.
            BrowserSlow: there is no answer.
        """
        return self._wait(self._page.call(function, argument, seconds))

    def close(self) -> None:
        """End the browser; a second call does nothing."""
        self._finalizer()

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _Page:
    """The page as the event loop sees it."""

    def __init__(self) -> None:
        self._playwright: Any = None
        self._browser: Any = None
        self._page: Any = None
        self._gone = asyncio.Event()
        self.version = ""

    async def open(self, settings: BrowserSettings, address: str) -> None:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=settings.executable,
            args=settings.arguments,
            # Chromium's sandbox refuses to work for root.
            chromium_sandbox=os.geteuid() != 0 if hasattr(os, "geteuid") else True,
            timeout=1000 * _STARTING_SECONDS,
        )
        self.version = self._browser.version
        self._browser.on("disconnected", lambda *_: self._gone.set())
        self._page = await self._browser.new_page()
        self._page.on("crash", lambda *_: self._gone.set())
        await self._page.goto(address)

    async def call(self, function: str, argument: object, seconds: float) -> Any:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        answer = asyncio.ensure_future(self._page.evaluate(f"argument => {function}(argument)", argument))
        gone = asyncio.ensure_future(self._gone.wait())
        done, pending = await asyncio.wait({answer, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if answer in done:
            try:
                return answer.result()
            except Error as error:
                if self._gone.is_set() or self._page.is_closed() or "crashed" in str(error):
                    raise BrowserGone(str(error)) from error
                raise
        if gone in done:
            raise BrowserGone("it crashed")
        raise BrowserSlow(f"no answer within {seconds:g} s")

    async def close(self) -> None:
        with suppress(Exception):
            if self._browser is not None:
                await asyncio.wait_for(self._browser.close(), _CLOSING_SECONDS)
        with suppress(Exception):
            if self._playwright is not None:  # its driver ends what is left of the browser
                await asyncio.wait_for(self._playwright.stop(), _CLOSING_SECONDS)


def _shut(page: _Page, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    with suppress(Exception):
        asyncio.run_coroutine_threadsafe(page.close(), loop).result(3 * _CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING_SECONDS)
    if not thread.is_alive():
        loop.close()


def _not_started(settings: BrowserSettings, error: Exception) -> NoAdapterError:
    if isinstance(error, ImportError):
        hint = "Run: pip install 'webgpu-kernels[browser]'"
        return NoAdapterError("playwright, which drives the browser, is not installed", hint=hint)
    if "reading from the driver" in str(error):
        hint = "See what python -m playwright --version prints. On Debian: apt-get install libatomic1"
        return NoAdapterError("playwright's driver, which starts the browser, does not run", hint=hint)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    reasons = [line.strip() for line in str(error).splitlines() if "ERROR" in line or "sandbox" in line.lower()]
    said = reasons[0] if reasons else first
    return NoAdapterError(
        f"{settings.executable} does not start ({said})",
        hint=f"See what {settings.executable} --headless --version prints; {ARGUMENTS_VARIABLE} adds arguments",
    )
