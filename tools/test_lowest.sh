#!/bin/sh
# Run every test on the lowest versions that pyproject.toml allows, on Python 3.11.
set -eu

python=$(sh tools/interpreters.sh | while read -r candidate; do
    "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' && echo "$candidate"
done | head -n 1)
if [ -z "$python" ]; then
    echo "# lowest versions: no Python 3.11 here, nothing run"
    exit 0
fi
venv=.venv-lowest
if [ ! -e "$venv/stamp" ] || [ requirements/lowest.txt -nt "$venv/stamp" ]; then
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        -r requirements/lowest.txt
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        --no-build-isolation --editable .
    touch "$venv/stamp"
fi
echo "# lowest versions"
# The oldest pytest-asyncio leaves event loops to the garbage collector, whose warnings then hit
# whatever test runs at that moment; on the newest versions they stay errors.
"$venv/bin/python" -m pytest -q -W "default::pytest.PytestUnraisableExceptionWarning" "$@"
