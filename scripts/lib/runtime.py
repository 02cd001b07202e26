"""onnxruntime-web, which computes networks in the browser: a pinned package of npm's."""
import base64
import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path

from base import fail, run, say

PACKAGE = "onnxruntime-web@1.30.0"
SHA512 = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
FILES = {  # in the package: in the page's folder; every host knows the type of a file that ends in .js
    "package/dist/ort.wasm.bundle.min.mjs": "onnxruntime.js",
    "package/dist/ort-wasm-simd-threaded.wasm": "onnxruntime.wasm",
}


def fetch(kept):
    """The files, by their names in the page's folder: from the package in the folder `kept`, fetched if it is not there."""
    archive = kept / f"{PACKAGE.replace('@', '-')}.tgz"
    if not (archive.exists() and sum_of(archive) == SHA512):
        if not shutil.which("npm"):
            fail("npm is missing, which fetches onnxruntime-web (Debian and Ubuntu: apt-get install npm)")
        download(archive)
    with tarfile.open(archive) as package:
        return {name: package.extractfile(path).read() for path, name in FILES.items()}


def download(archive):
    say(f"fetching {PACKAGE} (33 MB)")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tmp-", dir=archive.parent) as folder:
        packed = run("npm", "pack", PACKAGE, "--silent", "--pack-destination", folder)
        found = next(Path(folder).glob("*.tgz"), None)
        if packed.returncode or not found:
            fail(f"`npm pack {PACKAGE}` failed:\n{packed.stderr.strip() or packed.stdout.strip()}")
        if sum_of(found) != SHA512:
            fail(f"{PACKAGE} is not the package that is pinned: its SHA-512 is {sum_of(found)}, expected {SHA512}")
        found.rename(archive)


def sum_of(path):
    """SHA-512 as npm writes it."""
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
