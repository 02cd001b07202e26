#!/usr/bin/env python3
"""Makes a folder of static files: a page to play against an exported network, without a server.

OUT can be put on any host of files as it is; a page that is opened from the disk may load nothing, so try it with
`python3 -m http.server --directory OUT`. The rules are compiled to WebAssembly, the network is computed by onnxruntime-web."""
import argparse
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

import base
import runtime
import wasm
from base import ROOT, fail, say

ASSETS = ROOT / "train/web/assets"
LINKS = {"local.js": "link.js", "served.js": None}  # the one script that knows where the game is played
SITE = "site.json"  # what the folder is and holds; written last
PROGRAM = "fanqi scripts/web"


def manifest_of(bundle):
    """The text of the bundle's model.json, and its networks as ONNX."""
    path = bundle / "model.json"
    try:
        text = path.read_bytes()
        manifest = json.loads(text)
        files = [file for file in manifest["files"] if file["kind"] == "onnx"]
        ours = manifest["program"].startswith("fanqi ")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fail(f"{path}: no bundle of fanqi's ({error!r}); give the folder that `fanqi export --out` made")
    if not (ours and files):
        fail(f"{path}: the bundle has no network as ONNX; export it with `--format onnx`")
    return text, files


def networks(bundle, files):
    """Their bytes by name, as they were exported."""
    read = {}
    for file in files:
        path = bundle / Path(file["name"]).name
        try:
            read[path.name] = path.read_bytes()
        except OSError as error:
            fail(f"{path}: {error.strerror}, though model.json names it; copy the whole bundle again")
        if hashlib.sha256(read[path.name]).hexdigest() != file["sha256"]:
            fail(f"{path}: changed since it was exported (SHA-256); copy the whole bundle again")
    return read


def names_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def check_out(out):
    """Stops unless nothing lies at `out`, or nothing but what this program put there."""
    if not out.exists() and not out.is_symlink():
        return
    try:
        site = json.loads((out / SITE).read_text())
        ours = set(site["files"]) | {SITE} if site["program"] == PROGRAM else set()
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    others = sorted(names_in(out) - ours) if ours and not out.is_symlink() else [out.name]
    if others:
        fail(f"{out}: already there, and not made by scripts/web alone ({others[0]}); choose another folder")


def page_files():
    """The page's own files by name."""
    files = {}
    for path in sorted(ASSETS.iterdir()):
        name = LINKS.get(path.name, path.name)
        if name:
            files[name] = path.read_bytes()
    return files


def write(out, files, name):
    """Puts the files at `out`, all at once."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".tmp-{out.name}-", dir=out.parent) as folder:
        made = Path(folder) / "made"
        for path, content in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(content)
        site = {"program": PROGRAM, "name": name, "files": sorted(files)}
        (made / SITE).write_text(json.dumps(site, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if out.exists():
            out.rename(Path(folder) / "before")
        made.rename(out)


def make(bundle, out):
    bundle, out = Path(bundle), Path(os.path.abspath(out))
    text, listed = manifest_of(bundle)
    files = {f"bundle/{name}": content for name, content in networks(bundle, listed).items()}
    check_out(out)
    program = wasm.compile_program()
    files |= page_files() | runtime.fetch(wasm.target_folder())
    files |= {"bundle/model.json": text, "browser.wasm": program.read_bytes()}
    write(out, files, bundle.resolve().name)
    size = sum(map(len, files.values())) / 1e6
    say(f"{out}: {len(files) + 1} files, {size:.1f} MB; try it with `python3 -m http.server --directory {out}`")


def prepare():
    """Fetches what is missing to make a folder, or says what cannot be had; nothing is compiled."""
    wasm.toolchain()
    runtime.fetch(wasm.target_folder())
    say("all that it needs is here")


def main():
    base.who = "scripts/web"
    parser = argparse.ArgumentParser(prog="scripts/web", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", metavar="BUNDLE", nargs="?", help="a folder that `fanqi export --format onnx` made")
    parser.add_argument("out", metavar="OUT", nargs="?", help="the folder to make; one made before is replaced")
    parser.add_argument("--prepare", action="store_true", help="only fetch what it takes, or say what cannot be had")
    arguments = parser.parse_args()
    if arguments.prepare:
        return prepare()
    if not (arguments.bundle and arguments.out):
        parser.error("BUNDLE and OUT are needed")
    return make(arguments.bundle, arguments.out)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        fail(f"{error}")
