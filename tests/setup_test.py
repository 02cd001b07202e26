#!/usr/bin/env python3
"""Tests of scripts/lib (no network, nothing installed), and of what may not be under version control."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/lib"))
import checks  # noqa: E402
import libtorch  # noqa: E402
import packages  # noqa: E402
import runtime  # noqa: E402
import setup  # noqa: E402
import wasm  # noqa: E402
import web  # noqa: E402


def message(call, *arguments, env=None, **patches):
    """What `call` stops with, under a changed environment and with names of its module replaced."""
    module = sys.modules[call.__module__]
    with mock.patch.dict(os.environ, env or {}), mock.patch.multiple(module, say=lambda _: None, **patches):
        try:
            call(*arguments)
        except SystemExit as stop:
            return str(stop.code)
    return None


class Case(unittest.TestCase):
    def check(self, expected, call, *arguments, **options):
        """`call` stops with a message that holds each of `expected`, or does not stop where there is none."""
        found = message(call, *arguments, **options)
        if not expected:
            self.assertIsNone(found)
        for part in expected:
            self.assertIn(part, found or "")


class Machine(Case):
    def test_other_systems_are_named(self):
        cases = [
            (["Darwin", "arm64", "LIBTORCH"], "Darwin", "arm64", ("", "")),
            (["Linux", "aarch64"], "Linux", "aarch64", ("glibc", "2.36")),
            (["glibc 2.28", "glibc 2.17"], "Linux", "x86_64", ("glibc", "2.17")),
            (["another C library"], "Linux", "x86_64", ("", "")),
            ([], "Linux", "x86_64", ("glibc", "2.36")),
        ]
        for expected, system, machine, libc in cases:
            platform = mock.Mock(system=lambda: system, machine=lambda: machine, libc_ver=lambda: libc)
            self.check(expected, setup.check_machine, platform=platform)

    def test_rust_is_there_and_new_enough(self):
        def answers(version, tools=0, add=0):
            def run(*command, **_):
                status = {"rustc": 0, "cargo": tools, "rustup": add}[command[0]]
                return mock.Mock(returncode=status, stdout=version, stderr="no default toolchain")
            return run

        there, gone = mock.Mock(which=lambda _: "cargo"), mock.Mock(which=lambda _: None)
        cases = [
            (["no cargo", "rustup"], gone, answers("")),
            (["no default toolchain"], there, answers("")),
            (["rustc 1.80.1", "rustup update"], there, answers("rustc 1.80.1 (x)")),
            (["rustup component add rustfmt clippy"], there, answers("rustc 1.99.0", tools=1, add=1)),
            ([], there, answers("rustc 1.99.0", tools=1)),
            ([], there, answers("rustc 2.0.0")),
        ]
        for expected, shutil, run in cases:
            self.check(expected, setup.check_rust, True, shutil=shutil, run=run)


class Packages(Case):
    wanted = [("g++", "a C++ compiler", lambda: False), ("python3-pip", "pip", lambda: True)]

    def install(self, expected, uid=0, programs=("apt-get",), statuses=(0, 0), wanted=None):
        calls = []

        def run(command, **_):
            calls.append(command)
            return mock.Mock(returncode=statuses[len(calls) - 1])

        with mock.patch("os.geteuid", lambda: uid):
            self.check(expected, packages.install_packages, wanted or self.wanted,
                       shutil=mock.Mock(which=lambda p: p if p in programs else None), subprocess=mock.Mock(run=run))
        return calls

    def test_nothing_is_run_where_nothing_is_missing(self):
        self.assertEqual(self.install([], wanted=self.wanted[1:]), [])

    def test_the_missing_are_named_where_they_cannot_be_installed(self):
        self.assertEqual(self.install(["C++ compiler (g++)", "no apt-get"], programs=()), [])
        self.assertEqual(self.install(["administrator", "apt-get install g++"], uid=1000), [])
        self.install(["could not install g++", "apt-get install g++"], statuses=(0, 100))
        self.install(["g++ cannot be used"])

    def test_what_only_tests_need_may_stay_missing(self):
        with mock.patch("builtins.print") as told:
            self.check([], packages.install_if_possible, self.wanted, shutil=mock.Mock(which=lambda _: None))
        self.assertIn("are skipped", told.call_args.args[0])
        self.assertIn("g++", told.call_args.args[0])

    def test_only_the_missing_are_installed(self):
        found = iter([False, True])
        calls = self.install([], uid=1000, programs=("apt-get", "sudo"), statuses=(100, 0),
                             wanted=[("g++", "a C++ compiler", lambda: next(found)), self.wanted[1]])
        self.assertEqual([call[0] for call in calls], ["sudo", "sudo"])
        self.assertIn("g++", calls[1])
        self.assertNotIn("python3-pip", calls[1])


class Libtorch(Case):
    """Each test in a folder of its own, which stands for the project's root."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.root = Path(tmp.name)
        self.dest = self.root / ".libtorch"
        self.patches = {"ROOT": self.root, "DEST": self.dest, "pip_python": lambda: sys.executable}

    def fetch(self, variant="cpu", fails_at=None, **patches):
        """Fetches a made-up libtorch; what it stops with."""
        def wheel(_, requirement, digest, folder):
            if requirement.startswith(fails_at or "none"):
                libtorch.fail("no network")
            path = folder / "made-up.whl"
            with zipfile.ZipFile(path, "w") as out:
                for name in ("torch/include/torch/x.h", "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "torch/test.py"):
                    out.writestr(name, digest)
            return path

        return message(libtorch.fetch_libtorch, variant, "found", **{**self.patches, "fetch_wheel": wheel, **patches})

    def choose(self, flag=None, trouble="no driver"):
        with mock.patch.multiple(libtorch, say=lambda _: None, cuda_trouble=lambda: trouble, **self.patches):
            return libtorch.fetch_needed(flag)

    def test_only_needed_files_are_kept(self):
        self.assertIsNone(self.fetch())
        lib = self.dest / "torch/lib"
        self.assertEqual((lib / "libtorch_cuda.so").readlink(), Path("libtorch_cpu.so"))
        self.assertFalse((self.dest / "torch/test.py").exists())
        self.check([], libtorch.check_own_libtorch, str(self.dest / "torch"))
        self.assertIsNone(self.fetch("cuda"))
        self.assertFalse((lib / "libtorch_cuda.so").is_symlink())

    def test_a_failed_fetch_leaves_what_was_there(self):
        self.assertIn("no network", self.fetch(fails_at="nvidia"))
        self.assertEqual(list(self.root.iterdir()), [])
        self.fetch()
        self.assertIn("no network", self.fetch("cuda", fails_at="nvidia-cudnn"))
        self.assertEqual(list(self.root.iterdir()), [self.dest])
        self.assertIsNone(self.choose())

    def test_little_disk_space_is_told_before_fetching(self):
        full = mock.Mock(disk_usage=lambda _: mock.Mock(free=2**30))
        self.assertIn("1.2 GiB of free disk", self.fetch(shutil=full))
        self.assertIn("--cpu", self.fetch("cuda", shutil=full))

    def test_the_variant_fits_the_machine_and_the_flag(self):
        self.assertEqual(self.choose(), ("cpu", "found"))
        self.assertEqual(self.choose(trouble=None), ("cuda", "found"))
        self.assertEqual(self.choose("cuda"), ("cuda", "asked"))
        self.fetch("cpu")
        self.assertIsNone(self.choose())
        self.assertEqual(self.choose(trouble=None), ("cuda", "found"))
        self.assertIsNone(self.choose("cpu"))
        self.assertIsNone(self.choose(trouble=None), "an earlier --cpu holds")
        self.fetch("cuda")
        self.assertIsNone(self.choose(), "CUDA libraries run on a CPU too")

    def test_your_own_is_checked(self):
        self.fetch()
        own = self.dest / "torch"
        cases = [  # (message, LIBTORCH, its file with the version, that file's text)
            (["not an absolute path"], "some/folder", None, ""),
            (["does not exist", "libtorch_cpu.so"], self.root, None, ""),
            ([], own, None, ""),
            (["libtorch 2.1.0", f"expects {libtorch.TORCH}"], own, "build-version", "2.1.0+cu121"),
            ([], own, "build-version", f"{libtorch.TORCH}+cpu\n"),
            (["libtorch 2.2.0"], own, "version.py", "__version__ = '2.2.0+cpu'\n"),
            (["of unknown version"], own, "version.py", ""),
        ]
        for expected, path, file, text in cases:
            if file:
                (own / "build-version").unlink(missing_ok=True)
                (own / file).write_text(text)
            self.check(expected, libtorch.check_own_libtorch, str(path))
        self.check([], libtorch.check_own_libtorch, str(own), env={"LIBTORCH_BYPASS_VERSION_CHECK": "1"})


class Checks(unittest.TestCase):
    """Packages of the tests: put in place once, or said to be missing."""

    def fetch(self, folder, pip):
        """What is said; `pip` stands for pip's command."""
        said = []
        patches = {"DEST": folder / ".checks", "say": said.append, "pip_command": lambda _: pip, "pip_python": lambda: sys.executable}
        with mock.patch.multiple(checks, **patches):
            checks.fetch_checks()
        return " ".join(said)

    def test_what_cannot_be_had_is_said(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.assertIn("tests that need them are skipped", self.fetch(Path(tmp), ["false"]))
            self.assertEqual(list(Path(tmp).iterdir()), [])

    def test_what_is_in_place_is_not_fetched_again(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.assertNotIn("skipped", self.fetch(Path(tmp), ["true"]))
            found = subprocess.run([Path(tmp) / ".checks/python", "-c", "import sys; print(sys.path)"], capture_output=True, text=True)
            self.assertIn(f"{tmp}/.checks/packages", found.stdout)
            self.assertEqual(self.fetch(Path(tmp), ["false"]), "")

    def test_every_package_has_its_sums(self):
        lines = checks.PINS.read_text().replace("\\\n", " ").splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        self.assertTrue(packages and all(re.fullmatch(r"[a-z-]+==[\d.]+( +--hash=sha256:[0-9a-f]{64})+", line) for line in packages))


class Web(Case):
    """The page without a server, up to what takes a compiler and a network."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.top = Path(tmp.name)
        self.out = self.top / "site"
        self.bundle = self.top / "quick"
        shutil.copytree(ROOT / "tests/data/bundle", self.bundle)

    def make(self, expected):
        """Makes the folder with a program and a runtime of a few bytes."""
        program = self.top / "target/web/wasm32-unknown-unknown/wasm/browser.wasm"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_bytes(b"program")
        patches = {"wasm": mock.Mock(compile_program=lambda: program, target_folder=lambda: self.top), "runtime": mock.Mock(fetch=lambda _: {"onnxruntime.js": b"runtime"})}
        self.check(expected, web.make, str(self.bundle), str(self.out), **patches)

    def test_the_folder_holds_the_page_and_the_networks(self):
        self.make([])
        site = json.loads((self.out / "site.json").read_text())
        self.assertEqual(site["name"], "quick")
        self.assertEqual(web.names_in(self.out), {*site["files"], "site.json"})
        self.assertEqual((self.out / "link.js").read_text(), (web.ASSETS / "local.js").read_text())
        self.assertEqual((self.out / "bundle/model.onnx").read_bytes(), (self.bundle / "model.onnx").read_bytes())
        for name in re.findall(r'(?:src|href)="([^"]+)"', (self.out / "index.html").read_text()):
            self.assertTrue((self.out / name).exists(), name)
        self.assertEqual({path.name for path in self.top.iterdir()}, {"quick", "site", "target"})

    def test_only_a_folder_of_its_own_is_replaced(self):
        self.make([])
        (self.out / "link.js").write_text("older")
        self.make([])
        self.assertNotEqual((self.out / "link.js").read_text(), "older")
        (self.out / "notes.txt").write_text("mine")
        self.make(["not made by scripts/web alone (notes.txt)", "choose another folder"])
        shutil.rmtree(self.out)
        self.out.mkdir()
        self.make(["choose another folder"])
        self.out.rmdir()
        self.out.write_text("a file")
        self.make(["choose another folder"])

    def test_a_bundle_that_is_not_whole_is_named(self):
        manifest = json.loads((self.bundle / "model.json").read_text())
        cases = [
            ("model.onnx", b"other", ["model.onnx", "changed", "copy the whole bundle"]),
            ("model.onnx", None, ["model.onnx", "though model.json names it"]),
            ("model.json", json.dumps({**manifest, "files": []}).encode(), ["--format onnx"]),
            ("model.json", b"{}", ["no bundle", "fanqi export --out"]),
            ("model.json", b"{", ["no bundle"]),
            ("model.json", None, ["no bundle"]),
        ]
        for name, content, expected in cases:
            path = self.bundle / name
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
            self.make(expected)
            shutil.copy(ROOT / "tests/data/bundle" / name, path)
        self.assertFalse(self.out.exists())

    def test_another_package_is_not_used(self):
        def npm(*command, **_):
            (Path(command[-1]) / "a.tgz").write_bytes(b"other")
            return mock.Mock(returncode=0)

        there = mock.Mock(which=lambda _: "npm")
        self.check(["not the package that is pinned"], runtime.fetch, self.top, run=npm, shutil=there)
        failed = mock.Mock(returncode=1, stdout="", stderr="no network")
        self.check(["npm pack", "no network"], runtime.fetch, self.top, run=lambda *_, **__: failed, shutil=there)
        self.check(["npm is missing"], runtime.fetch, self.top, shutil=mock.Mock(which=lambda _: None))
        self.assertEqual({path.name for path in self.top.iterdir()}, {"quick"})

    def test_what_compiles_to_webassembly_is_found_or_named(self):
        debian = self.top / "usr"
        for path in ("lib/rustlib/wasm/libstd-1.rlib", "rustup/lib/rustlib/x/bin/rust-lld"):
            (debian / path).parent.mkdir(parents=True)
            (debian / path).touch()

        def answers(library, rustup=1):
            def run(*command, **_):
                folder = {"target-libdir": library, "sysroot": debian / "rustup"}
                known = command[0] == "rustc"
                return mock.Mock(returncode=0 if known else rustup, stdout=f"{folder[command[2]]}\n" if known else "")
            return run

        def toolchain(expected, **patches):
            self.check(expected, wasm.toolchain, **{"DEBIAN": debian, **patches})

        with_std, without = answers(debian / "lib/rustlib/wasm"), answers(self.top)
        rustup = mock.Mock(which=lambda _: "rustup")
        toolchain([], run=with_std)
        toolchain(["rustup target add", "apt-get install rustc-web cargo-web rust-web-src"], run=without, shutil=rustup)
        for path in wasm.DEBIAN_PACKAGES.values():
            (debian / path).parent.mkdir(parents=True, exist_ok=True)
            (debian / path).touch()
        toolchain([], run=without, shutil=rustup)
        with mock.patch.multiple(wasm, run=without, DEBIAN=debian):
            command, environment = wasm.toolchain()
        self.assertIn("build-std=std,panic_abort", command)
        self.assertTrue(environment["CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER"].endswith("rust-lld"))


class Tree(unittest.TestCase):
    """What is under version control must not be tied to the machine or the network it was written on."""

    def tracked(self):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode:
            self.skipTest("not a git checkout")
        for name in filter(None, listed.stdout.split("\0")):
            try:
                yield name, (ROOT / name).read_text()
            except (UnicodeDecodeError, FileNotFoundError):
                continue

    def test_no_folder_of_one_machine(self):
        private = re.compile(r"(?:^|[\s\"'`=(:])/(?:home|root|work|tmp|opt|mnt|Users)/", re.M)
        self.assertEqual([name for name, text in self.tracked() if private.search(text)], [])

    def test_vendored_files_are_those_that_are_pinned(self):
        for sums in ROOT.glob("train/assets/*/SHA256SUMS"):
            for line in sums.read_text().splitlines():
                pinned, name = line.split()
                self.assertEqual(hashlib.sha256((sums.parent / name).read_bytes()).hexdigest(), pinned, name)

    def test_no_package_source_but_the_default(self):
        code = re.compile(r"^(?:scripts|\.ci|\.cargo)/|Cargo\.toml$|build\.rs$")
        address = re.compile(r"\b(?:https?|ssh|git)://|index-url|find-links|replace-with|\[registries|\[source\.")
        self.assertEqual([name for name, text in self.tracked() if code.search(name) and address.search(text)], [])
        sources = set(re.findall(r'^source = "(.*)"', (ROOT / "Cargo.lock").read_text(), re.M))
        self.assertEqual(len(sources), 1, sources)


if __name__ == "__main__":
    unittest.main()
