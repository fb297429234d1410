"""The program as a whole: help, exit codes, what is loaded, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from command_line import run_program

from webgpu_kernels.cli.commands import COMMANDS, GROUPS
from webgpu_kernels.cli.exits import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

ADD = ("ai.onnx.Add", "--input", "a=float32[8]", "--input", "b=float32[8]")
PROGRAM = [sys.executable, "-m", "webgpu_kernels"]


def test_the_overview_names_every_command(wk: Wk) -> None:
    """Each once, in groups, at most 80 columns wide."""
    code, out, err = wk("--help")
    assert (code, err) == (0, "")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert listed == [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    assert max(map(len, out.splitlines())) <= 80
    assert wk("-h") == wk("help") == (code, out, err)


def test_without_a_command_the_overview_is_an_error(wk: Wk) -> None:
    """Nothing was done."""
    code, out, err = wk()
    assert (code, out) == (2, "")
    assert err == wk("--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, wk: Wk) -> None:
    """What comes first, a sentence, every option; at most 80 columns wide."""
    code, out, err = wk(name, "--help")
    assert (code, err) == (0, "")
    usage, sentences = out.split("\n\n")[:2]
    assert usage.startswith(f"usage: webgpu-kernels {name} ")
    assert sentences.endswith(".")
    assert {"--json", "--color", "--traceback"} <= set(out.replace(",", " ").split())
    assert max(map(len, out.splitlines())) <= 80
    assert wk("help", name) == (code, out, err)


def test_the_version_is_the_distributions(wk: Wk) -> None:
    """As pip tells it."""
    from importlib.metadata import version  # noqa: PLC0415

    assert wk("--version") == (0, f"webgpu-kernels {version('webgpu-kernels')}\n", "")


def test_an_unknown_command_is_one_clear_error(wk: Wk) -> None:
    """With what was probably meant."""
    assert wk("explian") == (
        2,
        "",
        "webgpu-kernels: there is no command 'explian'. Did you mean 'explain'?\nSee webgpu-kernels --help.\n",
    )
    assert wk("xyzzy").err == "webgpu-kernels: there is no command 'xyzzy'.\nSee webgpu-kernels --help.\n"
    assert wk("--json", "info").err.splitlines()[0] == (
        "webgpu-kernels: the command comes first: webgpu-kernels COMMAND --json"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain"], "webgpu-kernels explain: the following arguments are required: PACKAGE"),
        (["explain", "a", "b"], "webgpu-kernels explain: unrecognized arguments: b"),
        (["explain", "a", "--nonsense"], "webgpu-kernels explain: unrecognized arguments: --nonsense"),
        (["explain", "a", "--variant"], "webgpu-kernels explain: argument --variant: expected one argument"),
        (["info", "--color", "green"], "webgpu-kernels info: argument --color: invalid choice: 'green'"),
        (["explain", "a", "--cap", "h200"], "webgpu-kernels explain: unrecognized arguments: --cap h200"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(words: list[str], said: str, wk: Wk) -> None:
    """In one line, with the way to help; options are not guessed from their beginnings."""
    code, out, err = wk(*words)
    assert (code, out) == (2, "")
    assert err.startswith(said)
    assert err.endswith(f"See webgpu-kernels {words[0]} --help.\n")


def test_help_loads_nothing_heavy() -> None:
    """It is there at once."""
    for words in (["--help"], ["explain", "--help"], ["--version"]):
        code = (
            f"import sys\nfrom webgpu_kernels.cli import main\nassert main({words!r}) == 0\n"
            "print(sorted({'numpy', 'wgpu', 'rich', 'huggingface_hub', 'tomllib'} & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stderr == "[]\n"


def test_a_device_that_is_described_needs_no_wgpu() -> None:
    """Nor numpy: selection is pure."""
    words = ["explain", *ADD, "--capabilities", "h200", "--json"]
    code = (
        f"import sys\nfrom webgpu_kernels.cli import main\nassert main({words!r}) == 0\n"
        "print(sorted({'numpy', 'wgpu', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_what_cannot_be_used_ends_in_one_line(wk: Wk) -> None:
    """Where, what is wrong, what to do; for programs the same as a document."""
    said = "nowhere: no such package: expected a folder, a bundled operator or owner/name@v1 of the Hub. "
    bundled = "Bundled are ai.onnx.Add, ai.onnx.Identity, com.microsoft.GatherBlockQuantized, "
    code, out, err = wk("explain", "nowhere", *ADD[1:])
    assert (code, out) == (3, "")
    assert err == f"error: {said}{bundled}com.microsoft.SkipGroupNorm.\n"
    ran = wk("explain", "nowhere", *ADD[1:], "--json")
    assert ran.code == 3
    assert ran.document["error"]["kind"] == "PackageNotFound"
    assert ran.document["error"]["where"] == "nowhere"
    assert ran.document["error"]["message"] == err.removeprefix("error: ").rstrip("\n")
    assert ran.err == err


def test_a_traceback_is_shown_where_it_is_asked_for(wk: Wk) -> None:
    """And only there."""
    assert "Traceback" in wk("explain", "nowhere", *ADD[1:], "--traceback").err
    assert "Traceback" not in wk("explain", "nowhere", *ADD[1:]).err


def test_a_defect_of_the_program_says_so(wk: Wk, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, another exit code, and how to report it."""
    monkeypatch.setattr("webgpu_kernels.cli.commands.explain.located", lambda *_: 1 / 0)
    code, out, err = wk("explain", *ADD)
    assert (code, out) == (Exit.DEFECT, "")
    assert err == (
        "defect of this program: ZeroDivisionError: division by zero; run it again with --traceback and report it\n"
    )
    assert wk("explain", *ADD, "--json").document == {
        "error": {"kind": "ZeroDivisionError", "message": "division by zero"}
    }


def test_a_file_that_the_system_refuses_is_no_defect(wk: Wk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a command forgot to catch."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/where")

    monkeypatch.setattr("webgpu_kernels.cli.commands.explain.located", refuse)
    assert wk("explain", *ADD) == (3, "", "error: /some/where: Permission denied\n")


def test_ctrl_c_ends_a_command_in_one_word(wk: Wk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a traceback, wherever it comes."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webgpu_kernels.cli.commands.explain.located", interrupt)
    assert wk("explain", *ADD) == (130, "", "interrupted\n")
    monkeypatch.setattr("webgpu_kernels.cli.commands.explain.configure", interrupt)
    assert wk("explain", *ADD) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_who_started_it_sees_that_it_was_ctrl_c(tmp_path: Path) -> None:
    """As a shell expects it, so that its loop ends, too."""
    fifo = tmp_path / "request.json"
    os.mkfifo(fifo)
    command = [*PROGRAM, "explain", ADD[0], "--request", str(fifo), "--capabilities", "h200"]
    # Opening the other end succeeds once the program opens it for reading.
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        fifo.open("w"),
    ):
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert (out, err) == ("", "interrupted\n")


@pytest.mark.parametrize(
    "words", [["--help"], ["info", "--help"], ["render", *ADD, "--capabilities", "h200"], ["lint", "--codes"]]
)
def test_a_reader_that_goes_away_is_no_error(words: list[str]) -> None:
    """``wk … | head`` says nothing more."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")  # noqa: PTH110
@pytest.mark.parametrize("words", [["--help"], ["render", *ADD, "--capabilities", "h200", "--json"]])
def test_a_full_disk_is_one_line(words: list[str]) -> None:
    """It is nobody's defect."""
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        done = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "error: the output cannot be written: No space left on device\n")


def test_an_output_that_is_closed_swallows_everything() -> None:
    """``wk … >&-`` works as into /dev/null."""
    command = f"{sys.executable} -m webgpu_kernels explain {' '.join(ADD)} --capabilities h200 >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_narrow_encoding_escapes_what_it_lacks() -> None:
    """Nothing fails for a dash."""
    ran = run_program("--help", env={"PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("usage: webgpu-kernels COMMAND \\u2026")


@pytest.mark.parametrize(
    ("env", "words", "colored"),
    [
        ({}, [], False),
        ({}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
        ({"NO_COLOR": "1", "FORCE_COLOR": ""}, [], False),
    ],
)
def test_colours_are_for_terminals(env: dict[str, str], words: list[str], colored: bool) -> None:
    """Unless somebody says otherwise."""
    ran = run_program("explain", *ADD, "--capabilities", "h200", *words, env={"TERM": "xterm", **env})
    assert ran.code == 0
    assert ("\x1b[" in ran.out) is colored


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("env", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_unless_no_color_is_set(env: dict[str, str], colored: bool) -> None:
    """Also not where it cannot show them."""
    import pty  # noqa: PLC0415 - not everywhere

    parent, child = pty.openpty()
    whole = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    words = ["explain", *ADD, "--capabilities", "h200"]
    done = subprocess.run(
        [*PROGRAM, *words], stdout=child, env={**whole, "TERM": "xterm", "COLUMNS": "80", **env}, check=False
    )
    os.close(child)
    shown = os.read(parent, 65536).decode()
    os.close(parent)
    assert done.returncode == 0
    # Bold is no colour; NO_COLOR leaves it.
    assert ("\x1b[1;32m" in shown) is colored


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_bar_draws_no_output_to_itself_that_goes_into_a_pipe() -> None:
    """Also where only standard error is a terminal."""
    import pty  # noqa: PLC0415 - not everywhere

    code = (
        "import time\n"
        "from webgpu_kernels.cli import progress, screen\n"
        "progress.PROGRESS_AFTER_SECONDS = 0\n"
        "shown = screen.Screen()\n"
        "with shown.progress('work', 2) as bar:\n"
        "    bar.advance()\n"
        "    time.sleep(0.5)\n"
        "    shown.text('a line')\n"
        "    shown.raw('as it is\\n')\n"
    )
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=child, env=env, check=True)
    os.close(child)
    shown = os.read(parent, 65536).decode()
    os.close(parent)
    assert done.stdout.decode() == "a line\nas it is\n"
    assert "work" in shown
    assert "as it is" not in shown
