# Sourced by the other scripts: `environment [EXTRA]` makes .venv in the checkout, or brings it up to date, and
# does nothing where nothing changed. AUTOLITH_PYTHON names the Python to make it with.

unset PYTHONDONTWRITEBYTECODE # else every start compiles everything anew

say() { printf 'autolith: %s\n' "$*" >&2; }

# Print the first Python that is new enough and can make an environment.
find_python() {
    local candidate
    for candidate in ${AUTOLITH_PYTHON:+"$AUTOLITH_PYTHON"} python3.13 python3.12 python3.11 python3.14 python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return 0
        fi
        if [ "$candidate" = "${AUTOLITH_PYTHON:-}" ]; then
            say "AUTOLITH_PYTHON=$candidate is no Python 3.11 or newer with venv and ensurepip"
            return 1
        fi
    done
    say "no Python 3.11 or newer with venv was found; install one (Debian: apt install python3-venv)," \
        "or set AUTOLITH_PYTHON to its path"
    return 1
}

# What decides whether the environment is up to date.
stamp_of() {
    { printf '%s %s\n' "$root" "$1"; cat "$root/setup.py" "$root/pyproject.toml"; } | cksum
}

# One script at a time makes the environment; a lock whose owner is gone is taken over.
lock() {
    local owner
    while ! mkdir "$root/.venv.lock" 2>/dev/null; do
        owner=$(cat "$root/.venv.lock/pid" 2>/dev/null || true)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf "$root/.venv.lock"
            continue
        fi
        if ! [ -d "$root/.venv.lock" ] && ! [ -w "$root" ]; then
            say "$root cannot be written, so no environment can be made in it"
            return 1
        fi
        sleep 0.2
    done
    printf '%s\n' "$$" >"$root/.venv.lock/pid"
    trap 'rm -rf "$root/.venv.lock"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

unlock() {
    rm -rf "$root/.venv.lock"
    trap - EXIT INT TERM
}

install_into_venv() {
    local what="$root" python
    [ -z "$1" ] || what="$root[$1]"
    if ! "$root/.venv/bin/python" -c '' >/dev/null 2>&1; then
        python=$(find_python) || return 1
        say "making an environment in $root/.venv with $("$python" --version 2>&1)"
        rm -rf "$root/.venv"
        "$python" -m venv "$root/.venv" || return 1
    fi
    say "installing${1:+ with the packages for tests} (needs the network; about a minute)"
    if ! "$root/.venv/bin/python" -m pip install --disable-pip-version-check --quiet --editable "$what" \
        >"$root/.venv/install.log" 2>&1; then
        tail -n 20 "$root/.venv/install.log" >&2
        say "the installation failed; the whole report is in $root/.venv/install.log. Run the script again to go on"
        return 1
    fi
    "$root/.venv/bin/python" -m autolith_bytecode
}

# Make or update the environment, with the optional EXTRA of setup.py.
environment() {
    local stamp="$root/.venv/.autolith" extra="${1:-}"
    if [ "$(cat "$stamp" 2>/dev/null)" = "$(stamp_of test)" ]; then # has everything
        return 0
    fi
    if [ -z "$extra" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(stamp_of '')" ]; then
        return 0
    fi
    lock || return 1
    if [ "$(cat "$stamp" 2>/dev/null)" != "$(stamp_of "$extra")" ]; then # nobody did it meanwhile
        install_into_venv "$extra" && stamp_of "$extra" >"$stamp" || { unlock; return 1; }
    fi
    unlock
}
