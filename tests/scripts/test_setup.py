"""Set-up says what is wrong in one line, and touches nothing that is not its own."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "setup.py"
INSTALL_BY_HAND = "sudo apt-get update && sudo apt-get install -y libvulkan1 mesa-vulkan-drivers"


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load the script with its working tree moved to an empty folder with a project file."""
    spec = importlib.util.spec_from_file_location("setup_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "WORK", tmp_path / ".setup")
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = []\n[project]\nname = "x"\n[tool.ruff]\n')
    (tmp_path / ".setup").mkdir()
    return module


@pytest.fixture
def commands(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record what set-up would run, and run nothing."""
    ran: list[list[str]] = []

    def record(_name: str, command: list[str]) -> None:
        ran.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(exist_ok=True)

    monkeypatch.setattr(setup, "run_logged", record)
    return ran


def test_a_finished_environment_is_left_alone(setup: ModuleType, commands: list[list[str]], tmp_path: Path) -> None:
    """A second run with the same project table runs no command."""
    setup.make_environment(tmp_path / ".venv")
    assert len(commands) == 2
    setup.make_environment(tmp_path / ".venv")
    assert len(commands) == 2


def test_lint_settings_do_not_reinstall(setup: ModuleType, commands: list[list[str]], tmp_path: Path) -> None:
    """Only the project and build tables decide whether the environment is current."""
    setup.make_environment(tmp_path / ".venv")
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write("line-length = 100\n")
    setup.make_environment(tmp_path / ".venv")
    assert len(commands) == 2


def test_a_half_made_environment_is_made_anew(setup: ModuleType, commands: list[list[str]], tmp_path: Path) -> None:
    """A folder without the stamp, as an interrupted run leaves it, is cleared and filled again."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    setup.make_environment(tmp_path / ".venv")
    assert commands[0] == [sys.executable, "-m", "venv", "--clear", str(tmp_path / ".venv")]


def test_a_failed_installation_leaves_no_stamp(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a failure the next run starts over instead of trusting the environment."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / setup.STAMP).write_text("of an older project table")

    def fail(_name: str, _command: list[str]) -> None:
        raise setup.SetupError("pip failed")

    monkeypatch.setattr(setup, "run_logged", fail)
    with pytest.raises(setup.SetupError):
        setup.make_environment(tmp_path / ".venv")
    assert not (tmp_path / ".venv" / setup.STAMP).exists()


def test_a_python_without_ensurepip_names_the_debian_package(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Debian splits ensurepip off; the message names the package of this very version."""
    monkeypatch.setattr(setup.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(setup.SetupError) as caught:
        setup.make_environment(tmp_path / ".venv")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert str(caught.value) == (
        f"{sys.executable} cannot make virtual environments (no module ensurepip). "
        f"On Debian run: apt-get install python{version}-venv"
    )


def test_a_native_adapter_needs_no_driver(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where a native adapter answers, apt is not touched."""
    monkeypatch.setattr(setup, "adapter_answers", lambda _venv: True)
    setup.ensure_adapter(tmp_path / ".venv")
    assert commands == []


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="needs Debian")
def test_root_installs_the_driver(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As root, apt updates its lists first and then installs the two packages without asking."""
    answers = iter([False, True])
    monkeypatch.setattr(setup, "adapter_answers", lambda _venv: next(answers))
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    setup.ensure_adapter(tmp_path / ".venv")
    assert [command[:4] for command in commands] == [
        ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update"],
        ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install"],
    ]
    assert commands[1][-2:] == ["libvulkan1", "mesa-vulkan-drivers"]


def test_without_root_and_sudo_the_message_says_what_to_run(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who cannot install is told the exact command."""
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup.shutil, "which", lambda _name: None)
    with pytest.raises(setup.SetupError) as caught:
        setup.administrator_prefix("no Vulkan adapter answers", setup.DRIVER_PACKAGES)
    assert str(caught.value) == (
        "no Vulkan adapter answers, and installing one needs root. "
        f"Run this, then the same command again: {INSTALL_BY_HAND}"
    )


def test_a_browser_that_is_here_is_not_installed(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever it is called on PATH."""
    browser = tmp_path / "google-chrome"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    monkeypatch.delenv("WEBGPU_KERNELS_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert setup.main(["--browser"]) == 0
    assert commands == []


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="needs Debian")
def test_root_installs_the_browser(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's chromium, and nothing else is set up."""
    monkeypatch.delenv("WEBGPU_KERNELS_CHROMIUM", raising=False)
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    assert setup.main(["--browser"]) == 0
    assert [command[3] for command in commands] == ["update", "install"]
    assert commands[1][-1] == "chromium"


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="needs Debian")
def test_a_browser_that_cannot_be_installed_only_costs_its_tests(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Set-up goes on, and says what to run."""
    monkeypatch.delenv("WEBGPU_KERNELS_CHROMIUM", raising=False)
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    assert setup.main(["--browser"]) == 0
    assert commands == []
    assert capsys.readouterr().err == (
        "setup: no Chromium on PATH, and installing one needs root. Run this, then the same command again: sudo "
        "apt-get update && sudo apt-get install -y chromium. Until then the tests marked browser are skipped\n"
    )


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="needs Debian")
def test_what_drives_the_browser_gets_the_library_that_it_lacks(
    setup: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A small Debian has no libatomic1, and its Chromium does not bring it."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 127\n")
    python.chmod(0o755)
    monkeypatch.setenv("WEBGPU_KERNELS_CHROMIUM", "/bin/sh")
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    assert setup.main(["--browser"]) == 0
    assert commands[1][-1] == "libatomic1"
    python.write_text("#!/bin/sh\nexit 0\n")
    assert setup.main(["--browser"]) == 0
    assert len(commands) == 2


def test_sudo_that_asks_no_password_is_used(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sudo is used only where it does not stop to ask."""
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup.shutil, "which", lambda _name: "/usr/bin/sudo")
    monkeypatch.setattr(setup.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    assert setup.administrator_prefix("nothing", ()) == ["/usr/bin/sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"]


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import os; os.abort()", "import time; time.sleep(60)"])
def test_a_broken_driver_counts_as_no_adapter(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str
) -> None:
    """An adapter check that fails, crashes or hangs means no adapter, and set-up goes on."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "find_adapter.py").write_text(code)
    monkeypatch.setattr(setup, "ADAPTER_TIMEOUT_S", 2)
    assert setup.adapter_answers(tmp_path / ".venv") is False


def test_the_network_s_faults_are_told_from_others(setup: ModuleType) -> None:
    """The cause that the network's own words give is preferred to the error that follows from it."""
    output = (
        "WARNING: Retrying: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution\n"
        "ERROR: No matching distribution found for numpy\n"
    )
    assert setup.diagnosis("pip", output) == (
        "pip cannot reach the network (Temporary failure in name resolution); "
        "check the connection and run the same command again"
    )


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Looking\nERROR: No matching distribution for x.\n", "pip failed: ERROR: No matching distribution for x"),
        ("last words\n\n", "pip failed: last words"),
        ("", "pip failed: it printed nothing"),
    ],
)
def test_other_failures_show_the_first_error(setup: ModuleType, output: str, expected: str) -> None:
    """Without a fault of the network the program's own first error is shown."""
    assert setup.diagnosis("pip", output) == expected


def test_a_failed_command_leaves_its_whole_output_in_a_log(setup: ModuleType, tmp_path: Path) -> None:
    """The one line on stderr names the file that holds the rest."""
    with pytest.raises(setup.SetupError) as caught:
        setup.run_logged("pip", [sys.executable, "-c", "print('line one'); raise SystemExit('E: broken')"])
    assert str(caught.value) == "pip failed: E: broken. All of its output: .setup/pip.log"
    assert "line one" in (tmp_path / ".setup" / "pip.log").read_text()


def test_errors_end_as_one_line_and_exit_code_1(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newcomer sees a sentence, never a traceback."""

    def fail(*_: Any) -> None:
        raise setup.SetupError("no luck")

    monkeypatch.setattr(setup, "make_environment", fail)
    assert setup.main([]) == 1
    assert capsys.readouterr().err == "setup: no luck\n"


def test_advice_names_an_interpreter_that_runs(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A command that is there and fails, as pyenv's do for versions that are not chosen, is passed over."""
    monkeypatch.setenv("PATH", str(tmp_path))
    nothing = "Install one of these, with its venv module, and name it if it is not python3: make PYTHON=python3.12"
    assert setup.advice() == nothing
    broken = tmp_path / "python3.13"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert setup.advice() == nothing
    (tmp_path / "python3.11").symlink_to(sys.executable)
    assert setup.advice() == "python3.11 is here: make PYTHON=python3.11"


@pytest.mark.parametrize(
    ("there", "advice"),
    [
        ("python3.11", "and python3.11 does: make PYTHON=python3.11 demo"),
        (None, "and no other Python from 3.11 to 3.13: install python3 and python3-venv"),
    ],
)
def test_make_names_an_interpreter_that_runs(tmp_path: Path, there: str | None, advice: str) -> None:
    """In place of one that does not."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    if there:
        (tmp_path / there).symlink_to(sys.executable)
    environment = {"PATH": str(tmp_path), "LC_ALL": "C"}
    command = [make, "-C", str(SCRIPT.parents[1]), "--no-print-directory", "PYTHON=python3.9", "demo"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.stdout == ""
    assert result.stderr.splitlines()[0] == f'setup: "python3.9" does not run here, {advice}'
