"""The command line, given hostile packages: an exit code that is documented, and nothing that a terminal would obey."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hostile_corpus import OBEYED, corpus
from hostile_folders import write_package
from hostile_manifests import manifest
from sample_manifests import a_pass, variant

from webgpu_kernels.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066"
CALL = ["--input", "x=float32[8]", "--capabilities", "webgpu-defaults"]
COMMANDS: dict[str, list[str]] = {
    "explain": CALL,
    "render": CALL,
    "verify": [],
    "lint": ["--no-device"],
    "card": ["--check"],
    "pack": ["--check"],
    "diff": [],
    "export": [*CALL, "-o"],
    "test": [],
    "bench": [],
    "tune": ["--budget", "1s"],
}
ATTACKS = {attack.id: attack for attack in corpus()}
SOME = [
    "manifest/escape",
    "manifest/bidi",
    "manifest/c1",
    "manifest/key_proto",
    "manifest/dispatch_list",
    "manifest/reason_of_escapes",
    "manifest/unknown_names",
    "manifest/key_of_a_million",
    "template/raise",
    "template/loop_of_10_9",
    "template/include_up",
    "template/raised_at_length",
    "manifest/rounds_of_131070_passes",
    "manifest/intermediate_2_60",
    "manifest/strings_that_double",
    "manifest/numbers_of_1e308",
    "metadata/escapes",
    "test/escapes",
    "test/name_escape",
    "bench/escapes",
    "package/template_link_out",
    "package/manifest_pipe",
    "package/manifest_of_100_mb",
    "package/include_in_a_circle",
    "package/folders_without_end",
    "verify/lying_digest",
    "verify/listed_missing",
    "verify/names_not_utf8",
    "verify/unlisted_pipe",
    "verify/unlisted_present",
    "verify/other_spec",
]


def words_of(command: str, path: Path) -> list[str]:
    """Return a command line; what it compares with, or writes, lies beside the package."""
    words = [command, str(path), *COMMANDS[command]]
    if command == "diff":
        words.append(str(write_package(path.parent / f"{path.name}-other")))
    if command == "export":
        words.append(str(path.parent / f"{path.name}-exported"))
    return words


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", SOME)
def test_a_command_says_what_is_wrong(name: str, command: str, wk: Wk, tmp_path: Path) -> None:
    """Or does its work, where what is wrong is none of its business."""
    path = ATTACKS[name].write(tmp_path / "attack")
    ran = wk(*words_of(command, path))
    assert ran.code in {0, 1, 3}, ran.err
    assert OBEYED.search(ran.out + ran.err) is None
    assert len(ran.out + ran.err) < 100_000
    if ran.code == 3:
        assert ran.err.startswith("error: ")


@pytest.mark.parametrize("command", ["explain", "lint", "verify", "test"])
@pytest.mark.parametrize("name", ["manifest/escape", "template/raise", "verify/unlisted_present", "test/escapes"])
def test_json_is_safe_to_look_at(name: str, command: str, wk: Wk, tmp_path: Path) -> None:
    """Nothing is lost: JSON has escapes."""
    ran = wk(*words_of(command, ATTACKS[name].write(tmp_path / "attack")), "--json")
    assert OBEYED.search(ran.out + ran.err) is None
    assert isinstance(json.loads(ran.out), dict)


def strange_package(root: Path) -> Path:
    """Write a package that is good, and says what a terminal would obey wherever it may say something."""
    a_variant = variant("only", description=ESCAPES, when=[f"'{ESCAPES}' != 'a'"], passes=[a_pass(name=ESCAPES)])
    document: dict[str, Any] = manifest(
        description=ESCAPES, attributes={"a": {"default": ESCAPES}}, variants=[a_variant]
    )
    root = write_package(root)
    (root / "manifest.json").write_text(json.dumps(document))
    (root / "test.json").write_text(
        json.dumps(
            {
                "cases": [
                    {
                        "name": "a",
                        "description": ESCAPES,
                        "inputs": {"x": {"dtype": "float32", "shape": [8], "data": {"kind": "fill", "value": 1}}},
                        "error": {"kind": "ShapeError", "message": ESCAPES},
                    }
                ]
            }
        )
    )
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_package_says_is_escaped(command: str, wk: Wk, tmp_path: Path) -> None:
    """Descriptions, labels, defaults, conditions."""
    ran = wk(*words_of(command, strange_package(tmp_path / "package")))
    assert ran.code in {0, 1, 3}, ran.err
    assert OBEYED.search(ran.out + ran.err) is None


def test_a_shader_is_escaped_for_a_terminal_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or another program gets it exactly."""
    root = write_package(tmp_path / "package")
    (root / "main.wgsl.jinja").write_text(f"// {ESCAPES}\n")
    words = words_of("render", root)
    assert main(words) == 0
    assert ESCAPES in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main([*words, "--color", "never"]) == 0
    assert OBEYED.search(capsys.readouterr().out) is None
