"""What the scripts share."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


who = "set-up"  # what the lines begin with


def say(text):
    print(f"{who}: {text}", flush=True)


def fail(text):
    sys.exit(f"{who}: {text}")


def run(*command, **options):
    """Runs quietly; the result has returncode, stdout, stderr. A missing program counts as failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))
