"""Packages whose files are not what they seem: links, pipes, devices, folders, files without end.

Each function gets the folder of a good package and spoils it; ``outside`` lies beside the package.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from hostile_manifests import manifest, often

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEMPLATE = "{{ env.wgsl.resourceDeclarations }}\n@compute @workgroup_size(1)\nfn main() { y[0] = x[0]; }\n"
HUGE = 100 * 2**20


def write_package(root: Path, **files: bytes) -> Path:
    """Write a good package, with some files in the place of its own."""
    root.mkdir(parents=True)
    (root / "manifest.json").write_text(json.dumps(manifest()))
    (root / "main.wgsl.jinja").write_text(TEMPLATE)
    for name, content in files.items():
        (root / name.replace("__", ".")).write_bytes(content)
    return root


def seal(root: Path, **changes: Any) -> None:
    """Write metadata.json with the digests of what is there."""
    files = {
        path.relative_to(root).as_posix(): base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    name = str(changes.get("name", "test.Scale"))
    table = "".join(f"{name}\0{digest}\0" for name, digest in sorted(files.items()))
    document = {
        "name": name,
        "id": f"_{name.lower().replace('.', '_')}_webgpu_{hashlib.sha256(table.encode()).hexdigest()[:7]}",
        "version": 1,
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": files},
        "webgpu": {"manifestSpec": "2.1", "variants": {"only": ["main.wgsl.jinja"]}},
    }
    (root / "metadata.json").write_text(json.dumps(document | changes))


def _replace(path: Path, make: Callable[[Path], None]) -> None:
    path.unlink()
    make(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


def _outside(root: Path) -> Path:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret.wgsl").write_text("secret")
    (outside / "manifest.json").write_text(json.dumps(manifest()))
    return outside


def template_link_out(root: Path) -> None:
    """A template is a link to a file beside the package."""
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to(_outside(root) / "secret.wgsl"))


def template_link_to_passwd(root: Path) -> None:
    """A template is a link to the system's."""
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to("/etc/passwd"))


def template_link_to_itself(root: Path) -> None:
    """A template is a link to itself."""
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to(path.name))


def template_link_to_zeros(root: Path) -> None:
    """A template is a link to a device that never ends."""
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to("/dev/zero"))


def template_pipe(root: Path) -> None:
    """A template is a pipe that nobody writes to."""
    _replace(root / "main.wgsl.jinja", os.mkfifo)


def template_folder(root: Path) -> None:
    """A template is a folder."""
    _replace(root / "main.wgsl.jinja", lambda path: path.mkdir())


def template_of_100_mb(root: Path) -> None:
    """A template is larger than memory should be asked for."""
    _replace(root / "main.wgsl.jinja", _sparse)


def folder_link_out(root: Path) -> None:
    """A template lies in a folder that is a link out of the package."""
    (root / "parts").symlink_to(_outside(root))
    (root / "main.wgsl.jinja").write_text('{% include "parts/secret.wgsl" %}\n')


def build_link_out(root: Path) -> None:
    """build/webgpu itself is a link out of the package."""
    for name in ("manifest.json", "main.wgsl.jinja"):
        (root / name).unlink()
    (root / "build").mkdir()
    (root / "build" / "webgpu").symlink_to(_outside(root))


def blobs_link_out(root: Path) -> None:
    """The package mimics the Hub's cache, and its folder of blobs is a link."""
    outside = _outside(root)
    for name in ("manifest.json", "main.wgsl.jinja"):
        (root / name).unlink()
    (root / "blobs").symlink_to(outside)
    snapshot = root / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "manifest.json").symlink_to(outside / "manifest.json")
    (root / "build").mkdir()
    (root / "build" / "webgpu").symlink_to(snapshot)


def manifest_link_out(root: Path) -> None:
    """The manifest is a link to a file beside the package."""
    _replace(root / "manifest.json", lambda path: path.symlink_to(_outside(root) / "manifest.json"))


def manifest_folder(root: Path) -> None:
    """The manifest is a folder."""
    _replace(root / "manifest.json", lambda path: path.mkdir())


def manifest_pipe(root: Path) -> None:
    """The manifest is a pipe."""
    _replace(root / "manifest.json", os.mkfifo)


def manifest_of_100_mb(root: Path) -> None:
    """The manifest is 100 MB of nothing."""
    _replace(root / "manifest.json", _sparse)


def metadata_of_100_mb(root: Path) -> None:
    """So is metadata.json."""
    _sparse(root / "metadata.json")


def metadata_pipe(root: Path) -> None:
    """metadata.json is a pipe."""
    os.mkfifo(root / "metadata.json")


def template_missing(root: Path) -> None:
    """A template is missing among many others in a folder that is a link to itself."""
    (root / "main.wgsl.jinja").unlink()
    (root / "circle").symlink_to(root)
    for number in range(500):
        (root / f"other{number}.wgsl").write_text("")


def lying_digest(root: Path) -> None:
    """A template is not what its digest says."""
    seal(root)
    (root / "main.wgsl.jinja").write_text(f"{TEMPLATE}// and more\n")


def listed_missing(root: Path) -> None:
    """A file that metadata.json lists is not there."""
    (root / "gone.wgsl").write_text("")
    seal(root)
    (root / "gone.wgsl").unlink()


def unlisted_present(root: Path) -> None:
    """A file is there that metadata.json does not list, and its name clears the screen."""
    seal(root)
    (root / "\x1b[2J\u202eevil.wgsl").write_text("")


def other_operator(root: Path) -> None:
    """metadata.json is of another operator."""
    seal(root, name="test.Other")


def other_id(root: Path) -> None:
    """The id is not the one that the digests give."""
    seal(root, id="_test_scale_webgpu_0000000")


def other_spec(root: Path) -> None:
    """The manifest is said to be of a spec that nobody reads."""
    seal(root, webgpu={"manifestSpec": "\x1b[2J9.9"})


def other_variants(root: Path) -> None:
    """metadata.json lists other templates than the manifest uses."""
    seal(root, webgpu={"manifestSpec": "2.1", "variants": {"only": ["other.wgsl"]}})


def include_in_a_circle(root: Path) -> None:
    """Two templates include each other."""
    (root / "main.wgsl.jinja").write_text('{% include "a.wgsl" %}\n')
    (root / "a.wgsl").write_text('{% include "b.wgsl" %}\n')
    (root / "b.wgsl").write_text('{% include "./a.wgsl" %}\n')


def includes_that_double(root: Path) -> None:
    """Each template includes the next twice."""
    (root / "main.wgsl.jinja").write_text('{% include "t0.wgsl" %}\n')
    for number in range(40):
        (root / f"t{number}.wgsl").write_text(f'{{% include "t{number + 1}.wgsl" %}}\n' * 2)
    (root / "t40.wgsl").write_text("xxxxxxxx\n")


def includes_4000_deep(root: Path) -> None:
    """Each template includes the next."""
    (root / "main.wgsl.jinja").write_text('{% include "t0.wgsl" %}\n')
    for number in range(4000):
        (root / f"t{number}.wgsl").write_text(f'{{% include "t{number + 1}.wgsl" %}}\n')
    (root / "t4000.wgsl").write_text("")


def include_link_out(root: Path) -> None:
    """A template includes a file that is a link out of the package."""
    (root / "part.wgsl").symlink_to(_outside(root) / "secret.wgsl")
    (root / "main.wgsl.jinja").write_text('{% include "part.wgsl" %}\n')


def include_pipe(root: Path) -> None:
    """A template includes a pipe."""
    os.mkfifo(root / "part.wgsl")
    (root / "main.wgsl.jinja").write_text('{% include "part.wgsl" %}\n')


def links_of_links(root: Path) -> None:
    """A template is a link to a link to a link, and the last one leads out."""
    (root / "l0.wgsl").symlink_to(_outside(root) / "secret.wgsl")
    for number in range(30):
        (root / f"l{number + 1}.wgsl").symlink_to(f"l{number}.wgsl")
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to("l30.wgsl"))


def folder_for_a_file(root: Path) -> None:
    """A template is looked for below a file."""
    (root / "main.wgsl.jinja").write_text('{% include "manifest.json/a.wgsl" %}\n')


def folders_without_end(root: Path) -> None:
    """A template is missing, and the path of what is there is longer than any."""
    (root / "main.wgsl.jinja").unlink()
    deep(root)


def deep(root: Path) -> None:
    """Make 300 folders, one in another."""
    handle = os.open(root, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 20, dir_fd=handle)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def template_unreadable(root: Path) -> None:
    """A template's name is longer than any file's."""
    (root / "main.wgsl.jinja").write_text('{% include "' + "a" * 300 + '.wgsl" %}\n')


def rounds_of_lines(root: Path) -> None:
    """A template of many lines is rendered in every round."""
    _rounds(root, "\n" * 190_000)


def rounds_of_characters(root: Path) -> None:
    """A template of many characters is rendered in every round."""
    _rounds(root, "x" * 190_000)


def rounds_that_differ(root: Path) -> None:
    """Each round has a shader of its own."""
    _rounds(root, "{{ repeat.index }}\n" + "x\n" * 1000)


def rounds_of_steps(root: Path) -> None:
    """A template takes many steps in every round."""
    _rounds(root, "{% for i in range(9999) %}{% set a = i * i %}{% endfor %}\n")


def _rounds(root: Path, text: str) -> None:
    (root / "manifest.json").write_text(json.dumps(often(8000)))
    (root / "main.wgsl.jinja").write_text(TEMPLATE + text)


def files_of_4_gb(root: Path) -> None:
    """A thousand files, each as large as one may be; nothing of them lies on the disk."""
    for number in range(990):
        with (root / f"f{number}.wgsl").open("wb") as file:
            file.truncate(4 * 2**20)
    _list_any(root, [f"f{number}.wgsl" for number in range(990)])


def files_of_5000(root: Path) -> None:
    """More files than anybody looks at."""
    for number in range(5000):
        (root / f"f{number}.wgsl").touch()
    _list_any(root, [])


def folders_of_12000(root: Path) -> None:
    """Nothing but empty folders."""
    for number in range(12_000):
        (root / f"f{number}").mkdir()
    _list_any(root, [])


def folders_deep(root: Path) -> None:
    """300 folders, one in another, and a file in one of them that nobody listed."""
    _list_any(root, [])
    deep(root)
    (root / ("d" * 20) / "unlisted.wgsl").touch()


def unlisted_pipe(root: Path) -> None:
    """A pipe that nobody listed."""
    seal(root)
    os.mkfifo(root / "pipe.wgsl")


def unlisted_link(root: Path) -> None:
    """A link that nobody listed, and that leads nowhere."""
    seal(root)
    (root / "gone.wgsl").symlink_to("nowhere.wgsl")


def unlisted_link_to_a_folder(root: Path) -> None:
    """A link that nobody listed leads to a folder beside the package."""
    seal(root)
    (root / "parts").symlink_to(_outside(root))


def listed_pipe(root: Path) -> None:
    """A listed file is a pipe."""
    seal(root)
    _replace(root / "main.wgsl.jinja", os.mkfifo)


def listed_link_out(root: Path) -> None:
    """A listed file is a link out, to the very contents that its digest says."""
    seal(root)
    outside = _outside(root)
    (outside / "main.wgsl.jinja").write_text(TEMPLATE)
    _replace(root / "main.wgsl.jinja", lambda path: path.symlink_to(outside / "main.wgsl.jinja"))


def listed_hard_link(root: Path) -> None:
    """A file has a second name outside: as much the package's as any."""
    outside = _outside(root)
    (outside / "main.wgsl.jinja").write_text(TEMPLATE)
    _replace(root / "main.wgsl.jinja", lambda path: path.hardlink_to(outside / "main.wgsl.jinja"))
    seal(root)


def names_differ_in_case(root: Path) -> None:
    """Two files whose names differ in case, of which one is listed."""
    seal(root)
    (root / "MAIN.wgsl.jinja").write_text(TEMPLATE)


def names_differ_in_form(root: Path) -> None:
    """A listed name has an accent of its own, the file's name a letter with it."""
    (root / "e\u0301.wgsl").write_text("")
    seal(root)
    (root / "e\u0301.wgsl").rename(root / "\u00e9.wgsl")


def names_not_utf8(root: Path) -> None:
    """A file's name is no text."""
    seal(root)
    (root / os.fsdecode(b"\xff\x1b[2J.wgsl")).touch()


def _list_any(root: Path, names: list[str]) -> None:
    """Write metadata.json of these files with any digests."""
    files = dict.fromkeys(["manifest.json", "main.wgsl.jinja", *names], "A" * 43 + "=")
    document = {
        "name": "test.Scale",
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": files},
        "webgpu": {"manifestSpec": "2.1"},
    }
    (root / "metadata.json").write_text(json.dumps(document))


OPENED = (
    template_link_out,
    template_link_to_passwd,
    template_link_to_itself,
    template_link_to_zeros,
    template_pipe,
    template_folder,
    template_of_100_mb,
    folder_link_out,
    build_link_out,
    blobs_link_out,
    manifest_link_out,
    manifest_folder,
    manifest_pipe,
    manifest_of_100_mb,
    metadata_of_100_mb,
    metadata_pipe,
    template_missing,
    include_in_a_circle,
    includes_that_double,
    includes_4000_deep,
    include_link_out,
    include_pipe,
    links_of_links,
    folder_for_a_file,
    folders_without_end,
    template_unreadable,
    rounds_of_lines,
    rounds_of_characters,
    rounds_that_differ,
    rounds_of_steps,
)
"""Refused whenever the package is used."""
VERIFIED = (
    lying_digest,
    listed_missing,
    unlisted_present,
    other_operator,
    other_id,
    other_spec,
    other_variants,
    files_of_4_gb,
    files_of_5000,
    folders_of_12000,
    folders_deep,
    unlisted_pipe,
    unlisted_link,
    unlisted_link_to_a_folder,
    listed_pipe,
    listed_link_out,
    listed_hard_link,
    names_differ_in_case,
    names_differ_in_form,
    names_not_utf8,
)
"""Refused when the package is verified, as one from the Hub always is."""
