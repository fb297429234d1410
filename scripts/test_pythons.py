"""Run the whole test suite once for each Python named on the command line.

The classifiers in pyproject.toml claim only versions that this has passed. Each interpreter gets an environment of its
own under ``.setup``; one that is not installed is named and skipped, and running none at all is a failure.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(names: list[str]) -> int:
    """Test each interpreter and print one line a version.

    Args:
        names: commands on PATH, or paths, of Python interpreters.

    Returns:
        0 if at least one was found and all that were found passed, else 1.
    """
    verdicts = {name: suite_passes(path) for name in names if (path := shutil.which(name))}
    for name in names:
        verdict = {None: "not installed here", True: "passed", False: "FAILED"}[verdicts.get(name)]
        print(f"{name}: {verdict}")
    return 0 if verdicts and all(verdicts.values()) else 1


def suite_passes(python: str) -> bool:
    """Set up an environment with this interpreter and run types and tests in it.

    Args:
        python: path of the interpreter.

    Returns:
        whether set-up and every step passed.
    """
    tag = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    venv = ROOT / ".setup" / f"python{tag}"
    inside = str(venv / "bin" / "python")
    print(f"Python {tag}", flush=True)
    # Types of the packages' references do not depend on the version; make lint checks them.
    mypy = [inside, "-m", "mypy", f"--python-version={tag}"]
    steps = [
        [python, str(ROOT / "scripts" / "setup.py"), "--venv", str(venv)],
        mypy,
        [inside, "-m", "pytest", "-q", "-n", "auto"],
    ]
    return all(subprocess.run(step, cwd=ROOT, check=False).returncode == 0 for step in steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
