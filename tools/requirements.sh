#!/bin/sh
# Resolve requirements/*.txt from pyproject.toml.  The files hold versions and hashes, and no host.
set -eu

python=.venv/bin/python
compile() {
    # No prerelease, annotation or header: the files say what is installed and nothing else.
    .venv/bin/uv pip compile --quiet --upgrade --generate-hashes --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links "$@"
}

"$python" -c 'import tomllib
for line in tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]:
    print(line)' >requirements/build.in
trap 'rm -f requirements/build.in' EXIT

compile pyproject.toml requirements/build.in --extra dev --universal \
    --output-file requirements/dev.txt
compile pyproject.toml --universal --constraints requirements/dev.txt \
    --output-file requirements/runtime.txt
compile requirements/build.in --universal --constraints requirements/dev.txt \
    --python-version 3.11 --output-file requirements/build.txt
# numpy 1.26 has no build for 3.13, so the lowest versions are tested on 3.11.
compile pyproject.toml requirements/build.in --extra dev --resolution lowest-direct \
    --python-version 3.11 --output-file requirements/lowest.txt
