"""The page's program as WebAssembly: which Rust can compile it, and the compiling."""
import os
import shutil
import subprocess
from pathlib import Path

from base import ROOT, fail, run, say

TARGET = "wasm32-unknown-unknown"
DEBIAN = Path("/usr")  # where Debian's packages lie; rustup's toolchain usually has no standard library for the target
DEBIAN_PACKAGES = {"rustc-web": "bin/rustc", "cargo-web": "bin/cargo", "rust-web-src": "lib/rustlib/src"}
BUILD = ["build", "--locked", "--profile", "wasm", "--package", "browser", "--target", TARGET]


def has_library():
    """Whether the Rust on PATH has a standard library for the target."""
    folder = run("rustc", "--print", "target-libdir", "--target", TARGET)
    return folder.returncode == 0 and any(Path(folder.stdout.strip()).glob("libstd-*"))


def linker():
    """A linker of WebAssembly: the one in rustup's toolchain, or Debian's."""
    toolchain = run("rustc", "--print", "sysroot").stdout.strip()
    own = next(Path(toolchain).glob("lib/rustlib/*/bin/rust-lld"), None) if toolchain else None
    return own or shutil.which("wasm-ld")


def debian_missing():
    """What Debian's toolchain, which compiles the standard library itself, lacks; a list of packages."""
    missing = [package for package, path in DEBIAN_PACKAGES.items() if not (DEBIAN / path).exists()]
    return missing + ([] if linker() else ["lld"])


def toolchain():
    """The command that compiles, and what its environment has besides."""
    if has_library():
        return ["cargo", *BUILD], {}
    missing = debian_missing()
    if not missing:
        environment = {"RUSTC": str(DEBIAN / "bin/rustc"), "RUSTC_BOOTSTRAP": "1",  # for build-std
                       "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": str(linker())}
        return [str(DEBIAN / "bin/cargo"), *BUILD, "-Z", "build-std=std,panic_abort"], environment
    if shutil.which("rustup"):
        say("adding WebAssembly to the Rust toolchain")
        if run("rustup", "target", "add", TARGET).returncode == 0 and has_library():
            return ["cargo", *BUILD], {}
    return fail(f"Rust cannot compile to WebAssembly here: `rustup target add {TARGET}`, or on Debian install what is missing of its own "
                f"Rust: apt-get install {' '.join(missing)}")


def target_folder():
    """Where everything is kept between two runs: Debian's cargo must not meet what another one built."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute() / "web"


def compile_program():
    """The compiled program."""
    command, environment = toolchain()
    target = target_folder()
    say("compiling the game to WebAssembly (minutes, the first time)")
    status = subprocess.run([*command, "--target-dir", str(target)], cwd=ROOT, env={**os.environ, **environment}).returncode
    if status:
        fail(f"the game could not be compiled: `{' '.join(command)}` ended with {status}")
    return target / TARGET / "wasm/browser.wasm"
