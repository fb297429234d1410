"""A Hub on loopback: the part of its protocol by which huggingface_hub fetches kernels, with faults on demand.

It answers ``/api/kernels/<repository>/refs`` and ``…/tree/<commit>[/<folder>]``, and HEAD and GET, with ranges, of
``/kernels/<repository>/resolve/<revision>/<path>``, with the headers that the real one sends. It takes POST of
``…/branch/<name>``, ``…/preupload/<revision>`` and ``…/commit/<revision>``: files of a package are never large ones.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from sample_manifests import scale_manifest

REPOSITORY = "webgpu-kernels/test.Scale"
FOLDER = "build/webgpu"
Files = Mapping[str, bytes]


def digest(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def blob_id(content: bytes) -> str:
    """Return what Git calls a file's contents."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def package_files(*, manifest: Any = None, extra: Files | None = None, **changes: Any) -> dict[str, bytes]:
    """Return a package's files, with right digests; keys of metadata.json are replaced or, by None, removed."""
    files = {
        "manifest.json": json.dumps(manifest or scale_manifest()).encode(),
        "main.wgsl.jinja": b"fn main() {}",
        "test.json": b'{"cases": []}',
        **(extra or {}),
    }
    return {**files, "metadata.json": metadata(files, **changes)}


def metadata(files: Files, **changes: Any) -> bytes:
    """Return metadata.json of such files."""
    digests = {name: digest(content) for name, content in files.items()}
    table = "".join(f"{name}\0{digests[name]}\0" for name in sorted(digests))
    name = changes.get("name", "test.Scale")
    whole = {
        "name": name,
        "id": f"_{name.replace('.', '_').lower()}_webgpu_{hashlib.sha256(table.encode()).hexdigest()[:7]}",
        "version": 1,
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": digests},
        "webgpu": {"manifestSpec": "2.1", "variants": {"only": ["main.wgsl.jinja"]}},
        **changes,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not None}).encode()


@dataclass
class Repository:
    """Branches, commits, and the token without which nobody gets in."""

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Files] = field(default_factory=dict)
    token: str | None = None
    writer: str | None = "hf_writer"
    messages: list[str] = field(default_factory=list)


@dataclass
class Seen:
    """One request."""

    method: str
    path: str
    token: str | None
    range: str | None


@dataclass
class Fault:
    """What happens to requests, so many times.

    Attributes:
        method: of these.
        part: whose path holds this.
        act: answers them; returns whether that was all.
        times: how often.
    """

    method: str
    part: str
    act: Callable[[Handler], bool]
    times: int


class LoopbackHub:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.seen: list[Seen] = []
        self.faults: list[Fault] = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": self}))
        self._server.daemon_threads = True
        # A request that is held back on purpose must not hold back the test's end.
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        """Serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and release whoever is held back."""
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def publish(self, files: Files, *, branch: str = "v1", repository: str = REPOSITORY) -> str:
        """Commit a package to a branch and return the commit."""
        whole = {f"{FOLDER}/{name}": content for name, content in files.items()} | {"README.md": b"# card"}
        text = json.dumps({name: digest(content) for name, content in whole.items()}) + branch
        commit = hashlib.sha1(text.encode()).hexdigest()
        repo = self.repositories.setdefault(repository, Repository())
        repo.commits[commit] = whole
        repo.branches[branch] = commit
        return commit

    def create(self, repository: str) -> Repository:
        """Make a repository as the Hub does: a branch main, and no package in it."""
        commit = hashlib.sha1(repository.encode()).hexdigest()
        repo = Repository(branches={"main": commit}, commits={commit: {".gitattributes": b""}})
        self.repositories[repository] = repo
        return repo

    def fail(self, method: str, part: str, act: Callable[[Handler], bool], *, times: int = 1) -> None:
        """Let requests go wrong."""
        self.faults.append(Fault(method, part, act, times))

    def fault_for(self, method: str, path: str) -> Fault | None:
        """Return what happens to this request, None for nothing."""
        with self.lock:
            for fault in self.faults:
                if fault.method == method and fault.part in path and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def asked(self, part: str, method: str = "GET") -> int:
        """Return how many requests there were."""
        return sum(part in seen.path and seen.method == method for seen in self.seen)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; the second would wait for the first one's acknowledgement.
    disable_nagle_algorithm = True
    # The part of a file that is sent before the connection breaks; None for all of it.
    sent_bytes: int | None = None
    # Whether it stays open then, silent.
    stalls: bool = False
    body: bytes = b""

    def do_HEAD(self) -> None:
        """Answer without a body."""
        self._serve()

    def do_GET(self) -> None:
        """Answer."""
        self._serve()

    def do_POST(self) -> None:
        """Take something."""
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self._serve()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        authorization = self.headers.get("Authorization")
        token = authorization.removeprefix("Bearer ") if authorization else None
        with self.hub.lock:
            self.hub.seen.append(Seen(self.command, path, token, self.headers.get("Range")))
        self.sent_bytes, self.stalls = None, False
        fault = self.hub.fault_for(self.command, path)
        if fault is not None and fault.act(self):
            return
        if path == "/api/validate-yaml":
            self.send_json({"errors": [], "warnings": []})
        elif self.command == "POST":
            self._write(path.removeprefix("/api/kernels/").split("/"), token)
        elif path.startswith("/api/kernels/"):
            self._api(path.removeprefix("/api/kernels/").split("/"), token)
        elif path.startswith("/kernels/"):
            self._resolve(path.removeprefix("/kernels/").split("/", 4), token)
        else:
            self.refuse(404)

    def _repository(self, name: str, token: str | None) -> Repository | None:
        repo = self.hub.repositories.get(name)
        if repo is None or (repo.token is not None and repo.token != token):
            # The real one does not tell strangers which repositories there are.
            self.refuse(401 if token is None else 404, "RepoNotFound")
            return None
        return repo

    def _api(self, parts: list[str], token: str | None) -> None:
        repo = self._repository("/".join(parts[:2]), token)
        if repo is None:
            return
        if parts[2] == "refs":
            heads = [
                {"name": name, "ref": f"refs/heads/{name}", "targetCommit": commit}
                for name, commit in repo.branches.items()
            ]
            self.send_json({"branches": heads, "converts": [], "tags": []})
            return
        files = repo.commits.get(parts[3])
        folder = "".join(f"{part}/" for part in parts[4:])
        if files is None:
            self.refuse(404, "RevisionNotFound")
            return
        there = {name: content for name, content in files.items() if name.startswith(folder)}
        if not there:
            self.refuse(404, "EntryNotFound")
            return
        entries = [
            {"type": "file", "path": name, "size": len(content), "oid": blob_id(content)}
            for name, content in there.items()
        ]
        self.send_json([{"type": "directory", "path": f"{folder}parts", "size": 0}, *entries])

    def _write(self, parts: list[str], token: str | None) -> None:
        repo = self._repository("/".join(parts[:2]), token)
        if repo is None:
            return
        if token != repo.writer:
            self.refuse(401 if token is None else 403)
            return
        what, name = parts[2], parts[3]
        if what == "branch":
            self._begin(repo, name)
        elif name not in repo.branches:
            self.refuse(404, "RevisionNotFound")
        elif what == "preupload":
            self._sort(repo.commits[repo.branches[name]])
        else:
            self._commit(repo, name)

    def _begin(self, repo: Repository, name: str) -> None:
        if name in repo.branches:
            self.refuse(409)
            return
        repo.branches[name] = json.loads(self.body)["startingPoint"]
        self.send_json({})

    def _sort(self, there: Files) -> None:
        """Say which files are large, none, and what is there already."""
        asked = json.loads(self.body)["files"]
        kinds = [
            {
                "path": file["path"],
                "uploadMode": "regular",
                "shouldIgnore": False,
                "oid": blob_id(there[file["path"]]) if file["path"] in there else None,
            }
            for file in asked
        ]
        self.send_json({"files": kinds})

    def _commit(self, repo: Repository, branch: str) -> None:
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        if header.get("parentCommit") not in {None, repo.branches[branch]}:
            self.refuse(412)
            return
        files = dict(repo.commits[repo.branches[branch]])
        for line in lines[1:]:
            path = line["value"]["path"]
            if line["key"] == "file":
                files[path] = base64.b64decode(line["value"]["content"])
            else:
                del files[path]
        commit = hashlib.sha1(self.body).hexdigest()
        repo.commits[commit], repo.branches[branch] = files, commit
        repo.messages.append(header["summary"])
        name = self.path.split("/commit/")[0].removeprefix("/api")
        self.send_json({"commitOid": commit, "commitUrl": f"{self.hub.endpoint}{name}/commit/{commit}"})

    def _resolve(self, parts: list[str], token: str | None) -> None:
        repo = self._repository("/".join(parts[:2]), token)
        if repo is None:
            return
        revision, path = parts[3], parts[4]
        commit = repo.branches.get(revision, revision)
        files = repo.commits.get(commit)
        if files is None:
            self.refuse(404, "RevisionNotFound")
        elif path not in files:
            self.refuse(404, "EntryNotFound")
        else:
            self._send_file(files[path], commit)

    def _send_file(self, content: bytes, commit: str) -> None:
        blob = blob_id(content)
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("ETag", f'"{blob}"')
        self.send_header("X-Repo-Commit", commit)
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[start:][: self.sent_bytes])
            if self.stalls:
                be_slow(self)
            self.close_connection = self.sent_bytes is not None

    def send_json(self, data: Any) -> None:
        """Answer well."""
        self.send_body(200, json.dumps(data).encode(), {"Content-Type": "application/json"})

    def send_body(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with these very headers, and a length."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str = "", **headers: str) -> bool:
        """Answer with an error."""
        named = {"X-Error-Code": code} if code else {}
        self.send_body(status, b"", {**named, **{key.replace("_", "-"): value for key, value in headers.items()}})
        return True


def status(number: int, **headers: str) -> Callable[[Handler], bool]:
    """Answer with this status."""
    return lambda handler: handler.refuse(number, **headers)


def answer(body: bytes, headers: Mapping[str, str] | None = None, number: int = 200) -> Callable[[Handler], bool]:
    """Answer with this body."""

    def act(handler: Handler) -> bool:
        handler.send_body(number, body, headers or {})
        return True

    return act


def cut_off(after_bytes: int) -> Callable[[Handler], bool]:
    """Send so many bytes of the file, then hang up."""

    def act(handler: Handler) -> bool:
        handler.sent_bytes = after_bytes
        return False

    return act


def stall(after_bytes: int) -> Callable[[Handler], bool]:
    """Send so many bytes of the file, then nothing for a long time."""

    def act(handler: Handler) -> bool:
        handler.sent_bytes, handler.stalls = after_bytes, True
        return False

    return act


def hang_up(handler: Handler) -> bool:
    """Close the connection without an answer."""
    handler.close_connection = True
    return True


def be_slow(handler: Handler) -> bool:
    """Answer only when nobody waits any more."""
    handler.hub.stopped.wait(5)
    handler.close_connection = True
    return True


def endless(piece: bytes, pause_s: float = 0) -> Callable[[Handler], bool]:
    """Send this again and again, for as long as somebody reads."""

    def act(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        with suppress(OSError):
            while not handler.hub.stopped.wait(pause_s):
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return True

    return act
