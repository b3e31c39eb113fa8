#!/usr/bin/env python3
"""Writes a wheel of the package that was built: what `pip install` takes, without a compiler and without a network.

Usage: make_wheel.py PACKAGE_FOLDER VERSION OUTPUT_FOLDER LICENSE...   prints the wheel's path

A wheel is a zip archive with METADATA, WHEEL and RECORD (PEP 427). Its platform is manylinux_X_Y, X.Y the newest version
of glibc that the C library in it asks for (PEP 600), if it needs no library beyond that policy's; else the script refuses.
One wheel serves every CPython from 3.9. The same files give the same bytes.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

# Libraries of glibc, the loader and what unwinds exceptions, which PEP 600 lets a wheel need.
ALLOWED = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d+|ld-linux.*\.so\.\d+")
# A zip archive knows no time before 1980.
TIME = (1980, 1, 1, 0, 0, 0)
SUMMARY = "Plans the training of neural networks on GPUs: which configuration to launch, whether it fits, what it costs"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def platform_of(library):
    """The platform's tag, from what the library needs. It is loaded by ctypes: any Python 3 and any ABI will do."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", str(library)))
    if foreign := [name for name in needed if not ALLOWED.fullmatch(name)]:
        sys.exit(f"make_wheel: {library.name} needs {', '.join(foreign)}, which not every Linux has; "
                 "expected static archives of them (Debian: libyaml-cpp-dev, libstdc++-12-dev)")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", str(library)))
    newest = max((int(major), int(minor)) for major, minor in versions)
    return f"manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: plumbline\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            f"Requires-Python: >=3.9\nClassifier: Operating System :: POSIX :: Linux\n"
            f"Classifier: Programming Language :: Python :: 3\nClassifier: Typing :: Typed\n")


def contents(package, version, licences):
    """Bytes by their path in the archive, without RECORD, and the wheel's name."""
    library = package / "libplumbline.so"
    tag = f"py3-none-{platform_of(library)}"
    info = f"plumbline-{version}.dist-info"
    files = {f"plumbline/{path.name}": path.read_bytes()
             for path in package.iterdir() if path.suffix in (".py", ".pyi") or path.name == "py.typed"}
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / library.name
        run("strip", "--strip-unneeded", "-o", str(stripped), str(library))
        files[f"plumbline/{library.name}"] = stripped.read_bytes()
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: plumbline ({version})\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    files.update({f"{info}/{path.name}": path.read_bytes() for path in licences})
    return files, info, f"plumbline-{version}-{tag}.whl"


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
