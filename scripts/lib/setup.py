#!/usr/bin/env python3
"""Puts in place what a plain `cargo build` of fanqi needs, and nothing that is there already:
Debian packages (through apt-get) and the pinned libtorch (through `pip download`, into .libtorch).

An exported LIBTORCH, or LIBTORCH_USE_PYTORCH=1, wins: then no libtorch is fetched."""
import argparse
import fcntl
import os
import platform
import re
import shutil
import sys

from base import ROOT, fail, run, say
from checks import fetch_checks
from libtorch import TORCH, check_own_libtorch, fetch_libtorch, fetch_needed
from packages import CHECK_PACKAGES, PACKAGES, PIP_PACKAGE, install_if_possible, install_packages


def check_machine():
    system, machine, (libc, version) = platform.system(), platform.machine(), platform.libc_ver()
    if (system, machine) != ("Linux", "x86_64"):
        fail(f"this is {system} on {machine}; libtorch is pinned for Linux on x86_64 only. "
             f"Elsewhere install libtorch {TORCH} and the HDF5 library yourself, export LIBTORCH, and use cargo directly.")
    if libc != "glibc" or tuple(map(int, version.split(".")[:2])) < (2, 28):
        fail(f"libtorch {TORCH} needs glibc 2.28 or newer; found {' '.join((libc, version)).strip() or 'another C library'}.")


def check_rust(checks):
    """cargo runs and is new enough; with checks, rustfmt and clippy are there as well."""
    wanted = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    if not shutil.which("cargo"):
        fail(f"found no cargo, on PATH or in ~/.cargo/bin: install Rust {wanted} or newer with rustup, then run this again.")
    rustc = run("rustc", "--version")
    found = re.search(r"rustc (\d+)\.(\d+)", rustc.stdout)
    if not found:
        fail(f"rustc does not run:\n{rustc.stderr or rustc.stdout}")
    if tuple(map(int, found.groups())) < tuple(map(int, wanted.split(".")[:2])):
        fail(f"Rust {wanted} or newer is needed, this is {rustc.stdout.strip()}: run `rustup update`.")
    missing = [c for c, tool in (("rustfmt", "fmt"), ("clippy", "clippy")) if checks and run("cargo", tool, "--version").returncode]
    if missing:
        say(f"adding to the Rust toolchain: {' '.join(missing)}")
        if run("rustup", "component", "add", *missing).returncode:
            fail(f"`rustup component add {' '.join(missing)}` failed: run it by hand to see why.")


def take_turn():
    """Keeps a second set-up of this tree waiting until the process ends."""
    lock = os.open(ROOT / ".libtorch.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("waiting for another set-up of this tree to end")
        fcntl.flock(lock, fcntl.LOCK_EX)


def own_libtorch():
    """Whether the user has exported one; stops where it cannot be used."""
    if os.environ.get("LIBTORCH_USE_PYTORCH"):
        say("LIBTORCH_USE_PYTORCH is set: the PyTorch of your python3 is used")
    elif os.environ.get("LIBTORCH"):
        check_own_libtorch(os.environ["LIBTORCH"])
    else:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(prog="scripts/setup", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--cpu", dest="variant", action="store_const", const="cpu",
                       help="libtorch for the CPU only: 540 MB down, 0.5 GB on disk")
    which.add_argument("--cuda", dest="variant", action="store_const", const="cuda",
                       help="libtorch with CUDA 13.0: 2.5 GB down, 3.7 GB on disk "
                            "(without a flag: where an NVIDIA driver from 580 on and its GPU work)")
    parser.add_argument("--checks", action="store_true", help="also what scripts/test needs: rustfmt, clippy and, if they can be had, Chromium and ONNX Runtime")
    arguments = parser.parse_args()
    check_machine()
    check_rust(arguments.checks)
    take_turn()
    fetch = None if own_libtorch() else fetch_needed(arguments.variant)
    install_packages(PACKAGES + ([PIP_PACKAGE] if fetch else []))
    if arguments.checks:
        install_if_possible(CHECK_PACKAGES)
        fetch_checks()
    if fetch:
        fetch_libtorch(*fetch)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        fail(f"{error}")
