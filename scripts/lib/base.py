"""What the parts of the set-up share."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def say(text):
    print(f"set-up: {text}", flush=True)


def fail(text):
    sys.exit(f"set-up: {text}")


def run(*command, **options):
    """Runs quietly; the result has returncode, stdout, stderr. A missing program counts as failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))
