"""The pinned libtorch in .libtorch, or the user's own."""
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from base import ROOT, fail, run, say
from packages import pip_python

DEST = ROOT / ".libtorch"  # .cargo/config.toml points LIBTORCH at DEST/torch
TORCH = "2.13.0"  # what torch-sys 0.26 expects
LAYOUT = 1  # of DEST; raised when other files are taken from the same wheels
PIN = {  # variant: {requirement: sha256 of its x86_64 wheel}
    "cpu": {
        "torch==2.13.0": "60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7",
        # libtorch_cpu.so of this wheel is linked against these two
        "nvidia-cuda-runtime==13.0.96": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        "nvidia-cuda-cupti==13.0.85": "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
    },
}
PIN["cuda"] = {
    **PIN["cpu"],
    "nvidia-cudnn-cu13==9.20.0.48": "0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304",
    "nvidia-cusparselt-cu13==0.8.1": "786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0",
    "nvidia-nccl-cu13==2.29.7": "edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d",
    "nvidia-nvshmem-cu13==3.4.5": "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80",
    "nvidia-cublas==13.1.1.3": "37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436",
    "nvidia-cuda-nvrtc==13.0.88": "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
    "nvidia-cufft==12.0.0.61": "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3",
    "nvidia-cufile==1.15.1.6": "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44",
    "nvidia-curand==10.4.0.35": "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
    "nvidia-cusolver==12.0.4.66": "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112",
    "nvidia-cusparse==12.6.3.3": "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b",
    "nvidia-nvjitlink==13.5.37": "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
}
NEEDS_GIB = {"cpu": 1.2, "cuda": 5.0}  # free disk while fetching: the unpacked files and the largest wheel
CUDA_DRIVER, CUDA_CAPABILITY = 13000, (7, 5)  # oldest that the wheel's CUDA 13.0 runs on
WHEEL_TAGS = [f"manylinux_2_{n}_x86_64" for n in range(28, 4, -1)] + ["manylinux2014_x86_64"]


def cuda_trouble():
    """Why the CUDA libtorch cannot run here; None where it can."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver"
    if (error := cuda.cuInit(0)) != 0:
        return f"the NVIDIA driver finds no usable GPU (cuInit gives error {error})"
    version, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if version.value < CUDA_DRIVER:
        return "the NVIDIA driver is older than 580"
    cuda.cuDeviceGetCount(ctypes.byref(count))
    best = max((cuda_capability(cuda, device) for device in range(count.value)), default=(0, 0))
    return None if best >= CUDA_CAPABILITY else "the GPU is older than compute capability {}.{}".format(*CUDA_CAPABILITY)


def cuda_capability(cuda, device):
    value = [ctypes.c_int(), ctypes.c_int()]
    for out, attribute in zip(value, (75, 76)):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        cuda.cuDeviceGetAttribute(ctypes.byref(out), attribute, device)
    return tuple(v.value for v in value)


def check_own_libtorch(path):
    """Stops with a message unless the user's LIBTORCH can be built against."""
    torch = Path(path)
    advice = f"Point LIBTORCH at a libtorch {TORCH}, or unset it to have one fetched."
    if not torch.is_absolute():
        fail(f"LIBTORCH={path} is not an absolute path. {advice}")
    library = Path(os.environ.get("LIBTORCH_LIB", torch)) / "lib/libtorch_cpu.so"
    headers = Path(os.environ.get("LIBTORCH_INCLUDE", torch)) / "include/torch"
    for needed in (library, headers):
        if not needed.exists():
            fail(f"LIBTORCH={path} holds no libtorch: {needed} does not exist. {advice}")
    version = own_version(torch, headers)
    if version != TORCH and "LIBTORCH_BYPASS_VERSION_CHECK" not in os.environ:
        fail(f"LIBTORCH={path} is libtorch {version or 'of unknown version'}, but tch expects {TORCH}. {advice} "
             "Or export LIBTORCH_BYPASS_VERSION_CHECK=1 to try it.")
    say(f"libtorch {version or 'of unknown version'} of your own: LIBTORCH={path}")


def own_version(torch, headers):
    """"2.13.0", or None; a libtorch zip has the first file, a Python package the last two."""
    sources = ((torch / "build-version", r"([\d.]+)"), (torch / "version.py", r"__version__ = '([\d.]+)"),
               (headers / "headeronly/version.h", r'TORCH_VERSION \\\s*"([\d.]+)'))
    found = (re.search(pattern, file.read_text()) for file, pattern in sources if file.exists())
    return next((match[1] for match in found if match), None)


def stamp_of(variant):
    """What the stamp file holds, less its last word: "asked" for (by a flag) or "found" fit."""
    contents = repr((LAYOUT, sorted(PIN[variant].items())))
    return f"{TORCH} {variant} {hashlib.sha256(contents.encode()).hexdigest()}"


def installed():
    """(variant, "asked" | "found") of the libtorch in place, or (None, None)."""
    try:
        stamp, _, how = (DEST / "stamp").read_text().rpartition(" ")
    except OSError:
        return None, None
    return next(((variant, how) for variant in PIN if stamp == stamp_of(variant)), (None, None))


def wanted_variant(flag):
    """(variant, "asked" | "found"): CUDA libraries run on a CPU too, and an earlier flag holds."""
    present, how = installed()
    if flag:
        return flag, "asked"
    if present == "cuda" or how == "asked":
        return present, how
    trouble = cuda_trouble()
    if present is None:
        say(f"the {'CPU' if trouble else 'CUDA'} build of libtorch will do: {trouble or 'an NVIDIA GPU is there'}")
    return "cpu" if trouble else "cuda", "found"


def is_wanted(name, variant):
    """Whether the build or a run needs this file of a wheel."""
    cuda = variant == "cuda"
    if name.startswith("torch/include/"):
        return True
    if name.startswith("nvidia/"):
        return ".so" in name and (cuda or bool(re.search(r"lib(cudart|cupti)\.so", name)))
    libraries = ["libtorch_cpu.so", "libc10.so", "libgomp.so.1"]
    if cuda:
        libraries += ["libtorch.so", "libtorch_cuda.so", "libc10_cuda.so", "libtorch_cuda_linalg.so",
                      "libtorch_nvshmem.so", "libcaffe2_nvrtc.so"]
    return name in [f"torch/lib/{library}" for library in libraries]


def pip_command(scratch):
    python = pip_python()
    if python is None:  # has_pip saw ensurepip: a throw-away environment
        python = scratch / "venv/bin/python"
        made = run(sys.executable, "-m", "venv", str(scratch / "venv"))
        if made.returncode:
            fail(f"python3 has no pip, and making an environment with it failed:\n{made.stdout}{made.stderr}")
    return [str(python), "-m", "pip"]


def fetch_wheel(pip, requirement, digest, folder):
    """Downloads one wheel, checked against its digest, and gives its path."""
    (folder / "pinned.txt").write_text(f"{requirement} --hash=sha256:{digest}\n")
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    tags = [argument for tag in WHEEL_TAGS for argument in ("--platform", tag)]
    command = [*pip, "download", *quiet, "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--require-hashes",
               "--only-binary=:all:", "--implementation", "cp", "--python-version", "311", *tags,
               "--dest", str(folder), "--requirement", str(folder / "pinned.txt")]
    environment = {**os.environ, "TMPDIR": str(folder), "PIP_REQUIRE_VIRTUALENV": "0"}
    if subprocess.run(command, env=environment).returncode:
        fail(f"pip could not fetch {requirement} (its messages are above): is the network up, and the disk not full? "
             "Nothing half done was left; run this again.")
    return next(folder.glob("*.whl"))


def fetch_libtorch(variant, how):
    free = shutil.disk_usage(ROOT).free / 2**30
    if free < NEEDS_GIB[variant]:
        fail(f"fetching libtorch ({variant}) needs {NEEDS_GIB[variant]} GiB of free disk at {ROOT}; there are {free:.1f}."
             + (" `scripts/setup --cpu` needs less." if variant == "cuda" else ""))
    part = DEST.with_name(".libtorch.part")  # renamed when whole
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        pip = pip_command(part)
        for requirement, digest in PIN[variant].items():  # one at a time: less spare disk
            say(f"fetching {requirement}")
            with tempfile.TemporaryDirectory(dir=part) as tmp:
                with zipfile.ZipFile(fetch_wheel(pip, requirement, digest, Path(tmp))) as wheel:
                    wheel.extractall(part, [name for name in wheel.namelist() if is_wanted(name, variant)])
        shutil.rmtree(part / "venv", ignore_errors=True)
        finish(part, variant, how)
        say(f"libtorch {TORCH} ({variant}) is in {DEST}")
    finally:
        shutil.rmtree(part, ignore_errors=True)


def finish(part, variant, how):
    """Completes the unpacked wheels and moves them to DEST in one step."""
    (part / "torch/build-version").write_text(TORCH)  # read by torch-sys
    if variant == "cpu":
        # The wheel's libtorch.so asks for libtorch_cuda.so. With both names leading to the CPU library, torch-sys
        # links the same names in both variants and need not be rebuilt when one replaces the other.
        for name in ("libtorch.so", "libtorch_cuda.so"):
            (part / "torch/lib" / name).symlink_to("libtorch_cpu.so")
    (part / "stamp").write_text(f"{stamp_of(variant)} {how}")
    (DEST / "stamp").unlink(missing_ok=True)  # first: half removed must not look whole
    shutil.rmtree(DEST, ignore_errors=True)
    part.rename(DEST)


def fetch_needed(flag):
    """(variant, "asked" | "found") to be fetched, or None where what is in place will do."""
    variant, how = wanted_variant(flag)
    present, earlier = installed()
    if present != variant:
        return variant, how
    if how != earlier:
        (DEST / "stamp").write_text(f"{stamp_of(variant)} {how}")
    return None
