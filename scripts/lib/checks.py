"""The Python packages that some tests need and are skipped without, in .checks: pinned in checks.txt."""
import hashlib
import os
import shlex
import shutil
import subprocess
import sys

from base import ROOT, run, say
from libtorch import pip_command
from packages import pip_python

DEST = ROOT / ".checks"  # python, a wrapper that finds them, and packages/
PINS = ROOT / "scripts/lib/checks.txt"


def stamp_of(python):
    version = run(python, "-c", "import sys; print(sys.version_info[:2])").stdout
    return hashlib.sha256(PINS.read_bytes() + version.encode()).hexdigest()


def installed(python):
    try:
        return (DEST / "stamp").read_text() == stamp_of(python)
    except OSError:
        return False


def fetch_checks():
    """Puts them in place, or says that they cannot be had."""
    python = str(pip_python() or sys.executable)
    if installed(python):
        return
    part = DEST.with_name(".checks.part")  # renamed when whole
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    say("fetching onnx, onnxruntime and numpy, which some tests need (60 MB)")
    try:
        pip = pip_command(part)
        command = [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--require-hashes",
                   "--only-binary=:all:", "--no-compile", "--target", str(part / "packages"), "--requirement", str(PINS)]
        environment = {**os.environ, "TMPDIR": str(part), "PIP_REQUIRE_VIRTUALENV": "0", "PIP_USER": "0"}
        if subprocess.run(command, env=environment).returncode == 0:
            finish(part, python)
            return
    except SystemExit as stop:
        print(stop.code, flush=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    say("they could not be had; going on; the tests that need them are skipped")


def finish(part, python):
    shutil.rmtree(part / "venv", ignore_errors=True)
    wrapper = part / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="$(dirname "$0")/packages" exec {shlex.quote(python)} "$@"\n')
    wrapper.chmod(0o755)
    (part / "stamp").write_text(stamp_of(python))
    shutil.rmtree(DEST, ignore_errors=True)
    part.rename(DEST)
