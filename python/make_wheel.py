#!/usr/bin/env python3
"""Writes a wheel of the package that was built: what `pip install` takes, without a compiler and without a network.

Usage: make_wheel.py PACKAGE_FOLDER VERSION OUTPUT_FOLDER LICENSE...   prints the wheel's path

A wheel is a zip archive with METADATA, WHEEL and RECORD (PEP 427). Its platform is manylinux_X_Y, X.Y the newest version
of glibc that the module asks for (PEP 600), if it needs no library beyond that policy's; else the script refuses. The
same files give the same bytes.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# Libraries of glibc and the loader, which PEP 600 lets a wheel need.
ALLOWED = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*\.so\.\d+")
# A zip archive knows no time before 1980.
TIME = (1980, 1, 1, 0, 0, 0)
SUMMARY = "Plans the training of neural networks on GPUs: which configuration to launch, whether it fits, what it costs"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def tags(module):
    """(Python's tag, the ABI's, the platform's) of an extension module, from its name and what it needs."""
    found = re.search(r"\.cpython-(\d+)-(\w+?)-linux-gnu\.so$", module.name)
    if not found:
        sys.exit(f"make_wheel: {module.name}: expected a module of CPython for Linux with glibc")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", str(module)))
    if foreign := [name for name in needed if not ALLOWED.fullmatch(name)]:
        sys.exit(f"make_wheel: {module.name} needs {', '.join(foreign)}, which not every Linux has; "
                 "expected static archives of them (Debian: libyaml-cpp-dev, libstdc++-12-dev)")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", str(module)))
    newest = max((int(major), int(minor)) for major, minor in versions)
    return f"cp{found[1]}", f"cp{found[1]}", f"manylinux_{newest[0]}_{newest[1]}_{found[2]}"


def metadata(version, python):
    release = f"{python[2]}.{python[3:]}"
    return (f"Metadata-Version: 2.1\nName: plumbline\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            f"Requires-Python: =={release}.*\nClassifier: Operating System :: POSIX :: Linux\n"
            f"Classifier: Programming Language :: Python :: {release}\nClassifier: Typing :: Typed\n")


def contents(package, version, licences):
    """Bytes by their path in the archive, without RECORD, and the wheel's name."""
    (module,) = package.glob("_native.*.so")
    python, abi, platform = tags(module)
    info = f"plumbline-{version}.dist-info"
    files = {f"plumbline/{path.name}": path.read_bytes()
             for path in package.iterdir() if path.suffix in (".py", ".pyi") or path.name == "py.typed"}
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / module.name
        run("strip", "--strip-unneeded", "-o", str(stripped), str(module))
        files[f"plumbline/{module.name}"] = stripped.read_bytes()
    files[f"{info}/METADATA"] = metadata(version, python).encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: plumbline ({version})\nRoot-Is-Purelib: false\n"
                              f"Tag: {python}-{abi}-{platform}\n").encode()
    files.update({f"{info}/{path.name}": path.read_bytes() for path in licences})
    return files, info, f"plumbline-{version}-{python}-{abi}-{platform}.whl"


def record(files, info):
    def line(name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(data)}\n"

    return "".join(line(name, data) for name, data in sorted(files.items())) + f"{info}/RECORD,,\n"


def write(path, files):
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data)
    part.replace(path)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    package, version, output = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    files, info, name = contents(package, version, [pathlib.Path(path) for path in sys.argv[4:]])
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("plumbline-*.whl"):
        old.unlink()
    # RECORD last, as the format recommends.
    write(output / name, sorted(files.items()) + [(f"{info}/RECORD", record(files, info).encode())])
    print(output / name)


if __name__ == "__main__":
    main()
