#!/bin/sh
# Print the Python interpreters that recrawl is tested on and that run here, newest first.
# A version manager may put names on the path that fail, so each one is tried.

runs() { "$1" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$2')" 2>/dev/null; }

for version in 3.13 3.12 3.11; do
    if runs "python$version" "$version"; then
        echo "python$version"
    elif command -v pyenv >/dev/null; then
        for name in $(pyenv versions --bare | grep "^$version\.[0-9]*$"); do
            candidate="$(pyenv root)/versions/$name/bin/python"
            runs "$candidate" "$version" && echo "$candidate" && break
        done
    elif [ "$version" = 3.11 ] && python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo python3
    fi
done
exit 0
