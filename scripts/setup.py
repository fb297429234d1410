"""Set the working tree up: a virtual environment with the package in it, and a Vulkan driver where none answers.

``make demo`` and ``make test`` run this first. It is silent when there is nothing to do, and writes only inside the
working tree, except that Debian's packages of a driver, and for tests of a browser, are installed with apt. Only the
standard library is used, in a syntax that Python 3.6 parses, so that an old interpreter gets a sentence instead of a
traceback.
"""

import shutil
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 13)


def advice() -> str:
    """Say how to go on with an interpreter that fits: one that is here, if any is."""
    for name in ("python3.13", "python3.12", "python3.11"):
        # A name that is found need not run: pyenv has one for each version that any of its users installed.
        if shutil.which(name) and subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return f"{name} is here: make PYTHON={name}"
    return "Install one of these, with its venv module, and name it if it is not python3: make PYTHON=python3.12"


if not OLDEST <= sys.version_info[:2] <= NEWEST:
    sys.exit(
        "setup: webgpu-kernels needs Python 3.11, 3.12 or 3.13, and {} is {}.{}. {}".format(
            sys.executable, *sys.version_info[:2], advice()
        )
    )

# The imports below need the Python that the check above has established.
import argparse  # noqa: E402
import hashlib  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import shlex  # noqa: E402
import tempfile  # noqa: E402
import tomllib  # noqa: E402
from pathlib import Path  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".setup"
STAMP = "webgpu-kernels-stamp"
EXTRAS = "dev,peers"
DRIVER_PACKAGES = ("libvulkan1", "mesa-vulkan-drivers")
ADAPTER_TIMEOUT_S = 120
BROWSER_PACKAGES = ("chromium",)
# The Node.js that playwright brings along is linked with it.
PLAYWRIGHT_PACKAGES = ("libatomic1",)
# As the chromium engine looks for it.
BROWSER_VARIABLE = "WEBGPU_KERNELS_CHROMIUM"
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

# What pip, apt and the resolver say when the network is at fault, in the order in which they explain the most.
NETWORK_FAULTS = re.compile(
    r"Temporary failure (?:in name resolution|resolving '[^']*')|Name or service not known|Network is unreachable"
    r"|Connection (?:refused|reset by peer)|No route to host|Could not (?:resolve|connect to) [^\s)]+"
    r"|Tunnel connection failed|Read timed out|[Cc]onnection timed out|connect timeout|CERTIFICATE_VERIFY_FAILED"
    r"|Failed to fetch \S+"
)


class SetupError(Exception):
    """Set-up cannot go on; the message says what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Set up and return an exit code.

    Args:
        arguments: the command line, without the program's name.

    Returns:
        0, or 1 after one line on stderr.
    """
    parser = argparse.ArgumentParser(description="Make the virtual environment and see that a GPU adapter answers.")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="folder of the environment")
    parser.add_argument("--browser", action="store_true", help="see only that there is a Chromium for the tests")
    options = parser.parse_args(arguments)
    venv: Path = options.venv
    try:
        WORK.mkdir(exist_ok=True)
        if options.browser:
            ensure_browser(venv)
            return 0
        make_environment(venv)
        compile_sources(venv)
        ensure_adapter(venv)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; run the same command again to go on")
        return 130
    return 0


def make_environment(venv: Path) -> None:
    """Create the environment and install the package with its tools, unless that was done for this project table.

    The stamp is written last and any other state is built anew, so an interrupted run leaves nothing to repair.

    Args:
        venv: folder of the environment.
    """
    stamp, wanted = venv / STAMP, fingerprint()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            raise SetupError(
                f"{sys.executable} cannot make virtual environments (no module {module}). On Debian run: "
                f"apt-get install python{version}-venv"
            )
    stamp.unlink(missing_ok=True)
    say(f"making {shown(venv)} with Python {sys.version.split()[0]}")
    run_logged("venv", [sys.executable, "-m", "venv", "--clear", str(venv)])
    say("installing the package and its tools (a minute or two)")
    pip = [str(venv / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run_logged("pip", [*pip, "--no-input", "--retries", "2", "--editable", f"{ROOT}[{EXTRAS}]"])
    stamp.write_text(wanted)


def compile_sources(venv: Path) -> None:
    """Write the sources' bytecode: where PYTHONDONTWRITEBYTECODE is set, every start would compile them again.

    Args:
        venv: folder of the environment.
    """
    sources = ["-m", "compileall", "-q", str(ROOT / "src" / "webgpu_kernels")]
    python = str(venv / "bin" / "python")
    subprocess.run([python, *sources], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def fingerprint() -> str:
    """Hash all that the installation depends on: the project's table, this Python, and the place of the clone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    facts = [project["build-system"], project["project"], EXTRAS, sys.version, sys.base_prefix, str(ROOT)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def ensure_adapter(venv: Path) -> None:
    """Install Debian's software Vulkan where no native adapter answers.

    Args:
        venv: folder of an environment that holds wgpu.
    """
    if adapter_answers(venv):
        return
    if not installs_debian_packages():
        raise SetupError(
            "no Vulkan adapter answers. Install your system's Vulkan loader and a driver (Mesa's lavapipe runs on any "
            "CPU), then run the same command again"
        )
    install("no Vulkan adapter answers", DRIVER_PACKAGES)
    if not adapter_answers(venv):
        raise SetupError(
            "mesa-vulkan-drivers is installed and still no Vulkan adapter answers. Look at what this prints: "
            f"{shlex.join([shown(venv) + '/bin/python', 'scripts/find_adapter.py'])}"
        )


def adapter_answers(venv: Path) -> bool:
    """Ask wgpu in a process of its own, with its output kept back: a broken driver may print, hang or crash.

    Args:
        venv: folder of an environment that holds wgpu.

    Returns:
        whether an adapter other than OpenGL's was found.
    """
    with tempfile.TemporaryDirectory() as runtime_folder:
        command = [str(venv / "bin" / "python"), str(ROOT / "scripts" / "find_adapter.py")]
        environment = {"XDG_RUNTIME_DIR": runtime_folder, **os.environ}
        try:
            answer = subprocess.run(
                command, env=environment, capture_output=True, timeout=ADAPTER_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return False
    return answer.returncode == 0


def ensure_browser(venv: Path) -> None:
    """Provide a browser; where that cannot be done, the tests that need it are skipped, and no more.

    Args:
        venv: as for ``provide_browser``.
    """
    try:
        provide_browser(venv)
    except SetupError as error:
        say(f"{error}. Until then the tests marked browser are skipped")


def provide_browser(venv: Path) -> None:
    """Install Debian's Chromium where there is none, and the library that what drives it needs.

    Args:
        venv: folder of an environment that holds playwright, which drives it.

    Raises:
        SetupError: that needs somebody else, or failed.
    """
    named = os.environ.get(BROWSER_VARIABLE)
    if not any(shutil.which(name) for name in ([named] if named else BROWSERS)):
        if named:
            raise SetupError(f"{BROWSER_VARIABLE} is {named}, and that is no program")
        if not installs_debian_packages():
            raise SetupError(f"no Chromium on PATH. Install one, or name it in {BROWSER_VARIABLE}")
        install("no Chromium on PATH", BROWSER_PACKAGES)
    if not driver_runs(venv):
        if not installs_debian_packages():
            command = shlex.join([shown(venv) + "/bin/python", "-m", "playwright", "--version"])
            raise SetupError(f"playwright's driver does not run. Look at what this prints: {command}")
        install("playwright's driver does not run", PLAYWRIGHT_PACKAGES)


def driver_runs(venv: Path) -> bool:
    """Start the program with which playwright drives browsers: it needs a library that a small Debian lacks.

    Args:
        venv: folder of an environment; without one there is nothing to start.

    Returns:
        whether it runs.
    """
    python = venv / "bin" / "python"
    command = [str(python), "-m", "playwright", "--version"]
    return not python.exists() or subprocess.run(command, capture_output=True, check=False).returncode == 0


def installs_debian_packages() -> bool:
    """Tell whether this is Debian, with apt-get."""
    return Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def install(why: str, packages: tuple[str, ...]) -> None:
    """Install Debian's packages.

    Args:
        why: what is missing.
        packages: their names.

    Raises:
        SetupError: that needs somebody else, or failed.
    """
    prefix = administrator_prefix(why, packages)
    say(f"{why}; installing {' and '.join(packages)} with apt-get")
    run_logged("apt-get", [*prefix, "apt-get", "update", "-q"])
    options = ["-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"]
    run_logged("apt-get", [*prefix, "apt-get", "install", *options, *packages])


def administrator_prefix(why: str, packages: tuple[str, ...]) -> list[str]:
    """Return what goes before apt-get: nothing for root, else sudo where it asks no password.

    Args:
        why: what is missing.
        packages: what would be installed.

    Raises:
        SetupError: neither; the message has the command to run.
    """
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if os.geteuid() == 0:
        return environment
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n", *environment]
    raise SetupError(
        f"{why}, and installing one needs root. Run this, then the same command again: "
        f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"
    )


def run_logged(name: str, command: list[str]) -> None:
    """Run a command with its output kept in a log.

    Args:
        name: what the log and the error call it.
        command: program and arguments.

    Raises:
        SetupError: it failed; the message tells the network's faults from the others.
    """
    log = WORK / f"{name}.log"
    # pip's cache stays in the clone, and a personal setting must not send the packages elsewhere.
    ours = {
        "PIP_CACHE_DIR": str(WORK / "pip-cache"),
        "PIP_USER": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
        "LC_ALL": "C.UTF-8",
    }
    environment = {name: value for name, value in os.environ.items() if name not in ("PIP_TARGET", "PIP_PREFIX")}
    result = subprocess.run(
        command,
        env=environment | ours,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    log.write_text(f"$ {shlex.join(command)}\n{result.stdout}", encoding="utf-8")
    if result.returncode != 0:
        raise SetupError(f"{diagnosis(name, result.stdout)}. All of its output: {shown(log)}")


def diagnosis(name: str, output: str) -> str:
    """Say in one clause why a program failed.

    Args:
        name: the program.
        output: what it printed.

    Returns:
        the network's fault where there is one, else the program's own first error line.
    """
    fault = NETWORK_FAULTS.search(output)
    if fault:
        return f"{name} cannot reach the network ({fault.group()}); check the connection and run the same command again"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR:", "E:", "Error:"))]
    return f"{name} failed: {(errors or lines[-1:] or ['it printed nothing'])[0].rstrip('.')}"


def shown(path: Path) -> str:
    """Return a path as the reader would type it: relative to the working tree where it lies in it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def say(line: str) -> None:
    """Print one line of progress or complaint on stderr."""
    print(f"setup: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
