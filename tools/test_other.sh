#!/bin/sh
# Run the given tests on every tested interpreter but the main one, each in an environment of its own.
set -eu

main=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for python in $(sh tools/interpreters.sh); do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ "$version" = "$main" ] && continue
    venv=.venv-$version
    if [ ! -e "$venv/stamp" ] || [ requirements/dev.txt -nt "$venv/stamp" ]; then
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
            -r requirements/dev.txt
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
            --no-build-isolation --editable .
        touch "$venv/stamp"
    fi
    echo "# Python $version"
    # shellcheck disable=SC2086  # the argument is a list of paths
    "$venv/bin/python" -m pytest -q $1
done
