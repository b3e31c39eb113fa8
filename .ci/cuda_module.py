#!/usr/bin/env python3
"""Compiles what runs on a GPU where nvcc is: libplumbline-cuda.so for one architecture, and its benchmark. No GPU is needed.

Usage: cuda_module.py. Skipped, with a line, where there is no nvcc. Exits with 1 where a file does not compile or takes too long
(cuDNN's frontend excepted, which is headers alone), where the compiler spills registers, or where the program cannot load
the module. What else the machine code must be is a test: kernels_cuda_resources.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build-cuda"
TIMES = FOLDER / "compile_times.txt"  # where CMakePresets.json has them written
LONGEST_SECONDS = 60
LONG_FILES = ("cudnn_of_system.cpp",)  # 34 to 42 s at rest, by far the longest


def found_nvcc(places=None):
    """Where runtime/cuda/CMakeLists.txt looks; None: there is none."""
    places = places or [*os.environ.get("PATH", "").split(os.pathsep), os.environ.get("CUDA_PATH", "/nowhere") + "/bin",
                        "/usr/local/cuda/bin"]
    return shutil.which("nvcc", path=os.pathsep.join(places))


def compile_times(log):
    """Seconds of processor time of each file of the module, of compile_time.py's log: the last time that it was compiled."""
    lines = [line.split() for line in log.splitlines()]
    return {name: float(seconds) for seconds, name in lines}


def long_files(seconds):
    return [f"{name} takes {time:.0f} s to compile; at most {LONGEST_SECONDS} s are wanted"
            for name, time in sorted(seconds.items()) if time > LONGEST_SECONDS and name not in LONG_FILES]


def load_problem(module, has_frontend):
    """What hinders the module, of plan doctor --json; empty: nothing. Loading needs no driver."""
    if module["problem"]:
        return f"libplumbline-cuda.so: {module['problem']}"
    if has_frontend and "built without" in str(module["cudnn_problem"]):
        return f"libplumbline-cuda.so: {module['cudnn_problem']}; expected attention by cuDNN, whose frontend is there"
    return ""


def frontend():
    """The headers of cuDNN's frontend, of a Python package, so that attention by cuDNN is compiled too."""
    folder = FOLDER / "packages"
    if not (folder / "include/cudnn_frontend.h").exists():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check",
                               "--target", folder, "nvidia-cudnn-frontend==1.*"], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            print("not compiled: attention by cuDNN; pip installs no nvidia-cudnn-frontend here")
            return []
    return [f"-DPLUMBLINE_CUDNN_FRONTEND={folder / 'include'}"]


def main():
    nvcc = found_nvcc()
    if nvcc is None:
        print("skipped: what runs on a GPU is not compiled; no nvcc in PATH, CUDA_PATH or /usr/local/cuda (make cuda installs one)")
        return
    begin = time.time()
    headers = frontend()
    subprocess.run(["cmake", "--preset", "cuda", *headers], cwd=ROOT, check=True)
    if subprocess.run(["cmake", "--build", "--preset", "cuda"], cwd=ROOT, check=False).returncode != 0:
        raise SystemExit(f"cuda: the module does not compile with {nvcc}")
    seconds = compile_times(TIMES.read_text(encoding="utf-8") if TIMES.exists() else "")
    doctor = subprocess.run([FOLDER / "bin/plan", "doctor", "--json"], check=False, capture_output=True, text=True).stdout
    problems = long_files(seconds)
    if problem := load_problem(json.loads(doctor)["module"], bool(headers)):
        problems.append(problem)
    if not seconds:
        problems.append(f"{TIMES}: names no file of the module; expected those of kernels/cuda and runtime/cuda")
    if problems:
        raise SystemExit("\n".join(problems))
    longest = max(seconds, key=seconds.get)
    print(f"{len(seconds)} files compiled with {nvcc} in {time.time() - begin:.0f} s; the longest, {longest}, in {seconds[longest]:.0f} s")


if __name__ == "__main__":
    main()
