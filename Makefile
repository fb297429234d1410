# make demo   set everything up and run the main job
# make test   set everything up and pass lint, format, types and all tests
# PYTHON=…    the interpreter to set up with (3.11 to 3.13; default python3); say it each time, or export it

PYTHON ?= python3
# Only for test-all-pythons: names on PATH or paths.
PYTHONS ?= python3.11 python3.12 python3.13

VENV_PYTHON := .venv/bin/python
ABOUT_SKIPS := echo 'why tests are skipped: $(VENV_PYTHON) -m pytest -q -n auto -rs'

# A caller's own paths must not shadow the environment that set-up made.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
# What tests run keeps its caches in the clone, too, and tells nobody.
export npm_config_cache := $(CURDIR)/.setup/npm
export XDG_CACHE_HOME := $(CURDIR)/.setup/cache
export ORT_DISABLE_TELEMETRY := 1

.PHONY: demo test check lint setup test-all-pythons picture clean browser pack

demo: setup
	@$(VENV_PYTHON) -m webgpu_kernels.demo

test: lint browser
	@$(VENV_PYTHON) -m pytest -q -n auto -m "not slow and not node"
	@$(VENV_PYTHON) -m pytest -q -n auto -m "slow or node"
	@$(ABOUT_SKIPS)

# The quick half of test, for while you work.
check: lint browser
	@$(VENV_PYTHON) -m pytest -q -n auto -m "not slow and not node"
	@$(ABOUT_SKIPS)

lint: setup
	@$(VENV_PYTHON) -m ruff check --quiet
	@$(VENV_PYTHON) -m ruff format --check --quiet
	@$(VENV_PYTHON) -m mypy
	@for reference in src/webgpu_kernels/kernels/*/reference.py src/webgpu_kernels/kernels/*/peers.py; do \
	  $(VENV_PYTHON) -m mypy --no-error-summary "$$reference" || exit 1; \
	done

setup:
	@"$(PYTHON)" -c '' 2>/dev/null || { \
	  for name in python3 python3.13 python3.12 python3.11; do \
	    "$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || continue; \
	    echo "setup: \"$(PYTHON)\" does not run here, and $$name does: make PYTHON=$$name $(MAKECMDGOALS)" >&2; \
	    exit 1; \
	  done; \
	  echo 'setup: "$(PYTHON)" does not run here, and no other Python from 3.11 to 3.13: install python3 and python3-venv' >&2; \
	  exit 1; }
	@"$(PYTHON)" scripts/setup.py

# Only tests need it, and they are skipped without.
browser: setup
	@"$(PYTHON)" scripts/setup.py --browser

test-all-pythons:
	@"$(PYTHON)" scripts/test_pythons.py $(PYTHONS)

# The picture in the README, from what the demo prints on this machine.
picture: setup
	@$(VENV_PYTHON) scripts/picture.py docs/demo.svg

# Metadata and cards of the bundled packages, after a change of any of their files.
pack: setup
	@$(VENV_PYTHON) -m webgpu_kernels pack --all
	@$(VENV_PYTHON) -m webgpu_kernels card --all

clean:
	@rm -rf .venv .setup .mypy_cache .ruff_cache .pytest_cache .hypothesis dist node_modules
	@find . -path ./.git -prune -o -name __pycache__ -type d -exec rm -rf {} +
