# Sourced by the scripts beside this folder: where the project is, where cargo is, and `setup`.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# rustup puts cargo here, but only a new login shell looks there.
PATH=$PATH:${CARGO_HOME:-${HOME-}/.cargo}/bin
export PATH

# Cargo lets any exported value win over .cargo/config.toml, even an empty one.
[ -n "${LIBTORCH-}" ] || unset LIBTORCH

# Puts in place what the build needs; the flags are those of setup.py.
setup() {
    command -v python3 >/dev/null || {
        echo "fanqi's set-up needs python3 (Debian and Ubuntu: apt-get install python3)" >&2
        exit 1
    }
    python3 -B "$root/scripts/lib/setup.py" "$@"
}
