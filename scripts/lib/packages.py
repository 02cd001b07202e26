"""The Debian packages of the build: each is installed only where a test shows that what it brings is missing."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from base import fail, run, say


def compiles_cpp():
    """torch-sys compiles C++, and rustc links through cc."""
    with tempfile.TemporaryDirectory() as tmp:
        compiler = shlex.split(os.environ.get("CXX") or "c++")
        test = run(*compiler, "-x", "c++", "-", "-o", f"{tmp}/a.out", input="#include <new>\nint main() {}\n")
    return bool(shutil.which("cc")) and test.returncode == 0


def has_hdf5():
    """The places where hdf5-metno-sys looks, in short."""
    headers = ("/usr/include/hdf5/serial/hdf5.h", "/usr/include/hdf5.h")
    return bool(os.environ.get("HDF5_DIR")) or any(map(os.path.exists, headers)) or not run("pkg-config", "--exists", "hdf5").returncode


def pip_python():
    """A Python that has pip, or None."""
    pythons = (sys.executable, "/usr/bin/python3")
    return next((p for p in pythons if not run(p, "-m", "pip", "--version").returncode), None)


def has_pip():
    return pip_python() is not None or not run(sys.executable, "-c", "import ensurepip, venv").returncode


PACKAGES = [  # (Debian package, what it is for, test of its presence)
    ("g++", "a C++ compiler", compiles_cpp),
    ("libhdf5-dev", "the HDF5 library's headers", has_hdf5),
]
CHECK_PACKAGES = [  # what some tests need and are skipped without
    ("chromium", "a browser, which the tests open a report in", lambda: has_program("chromium", "chromium-browser", "google-chrome")),
    ("chromium-driver", "its driver", lambda: has_program("chromedriver")),
]
PIP_PACKAGE = ("python3-pip", "pip, which fetches libtorch", has_pip)


def has_program(*names):
    return any(map(shutil.which, names))


def install_if_possible(wanted):
    """As `install_packages`, but goes on without them."""
    try:
        install_packages(wanted)
    except SystemExit as stop:
        print(f"{stop.code}\nset-up: going on; the tests that need them are skipped", flush=True)


def install_packages(wanted):
    missing = [(package, purpose) for package, purpose, present in wanted if not present()]
    if not missing:
        return
    names = [package for package, _ in missing]
    listed = "; ".join(f"{purpose} ({package})" for package, purpose in missing)
    command = f"apt-get install {' '.join(names)}"
    if not shutil.which("apt-get"):
        fail(f"missing: {listed}. This system has no apt-get: install its own packages for these, then run this again.")
    if os.geteuid() == 0:
        root = []
    elif shutil.which("sudo"):
        root = ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
    else:
        fail(f"missing: {listed}. Installing needs root and there is no sudo: ask the administrator to run\n    {command}")
    say(f"missing: {listed}; installing through apt-get")
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "-o=Dpkg::Use-Pty=0"]
    subprocess.run([*apt, "update"])  # a source that fails matters only if the next line does
    if subprocess.run([*apt, "install", "--yes", "--no-install-recommends", *names]).returncode:
        fail(f"apt-get could not install {' '.join(names)} (its messages are above): is the network up? Or install them by hand, then run this again:\n    {command}")
    still = [package for package, _, present in wanted if not present()]
    if still:
        fail(f"installed {' '.join(names)}, but {' '.join(still)} cannot be used: is another compiler, HDF5 or Python first on PATH or in CXX?")
