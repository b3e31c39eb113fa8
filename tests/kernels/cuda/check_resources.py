#!/usr/bin/env python3
"""Compiles the CUDA kernels with nvcc and holds what the compiler made of them. No GPU is needed.

Usage: check_resources.py [--write] <nvcc> <repository root> <architecture>...   (sm_80, sm_90a)
Refuses registers that are spilled, arrays in local memory, files that take long, kernels that are not those of
kernels.txt beside this file, and kernels that are to run on tensor cores and have no such instruction. Prints each
file's seconds of processor time and the most registers of a kernel in it. --write writes kernels.txt.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

LONGEST_SECONDS = 60
SKIPPED = 77  # as ctest is told (SKIP_RETURN_CODE)
# sincosf reduces angles beyond 105 615, which only the longest contexts reach, by a table in local memory.
KEEP_LOCAL_ARRAYS = ("turn_heads",)
GOLDEN = pathlib.Path(__file__).with_name("kernels.txt")
# Operation of HMMA (mma.sync of 16-bit numbers) in the low 12 bits of an instruction of 16 bytes, from sm_70 to sm_90;
# as nvdisasm 13.2 shows it.
HMMA = 0x23C
INSTRUCTION_BYTES = 16
SPILL = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
FUNCTION = re.compile(r"Function properties for (\S+)")
REGISTERS = re.compile(r"Used (\d+) registers")


def spilled_functions(report):
    """Names of functions of a report of ptxas that spill, or keep an array in local memory."""
    name = "a kernel"
    for line in report.splitlines():
        if found := FUNCTION.search(line):
            name = found.group(1)
        elif (found := SPILL.search(line)) and found.groups() != ("0", "0", "0"):
            if found.group(2) == found.group(3) == "0" and any(kernel in name for kernel in KEEP_LOCAL_ARRAYS):
                continue
            yield f"{name}: {found.group(0)}"


def sections(elf):
    """(name, bytes) of each section of a 64-bit ELF file, which a cubin is."""
    offset = struct.unpack_from("<Q", elf, 0x28)[0]
    size, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    names = headers[names_at][4]
    for header in headers:
        begin = names + header[0]
        name = elf[begin:elf.index(b"\0", begin)].decode()
        yield name, elf[header[4]:header[4] + header[5]]


def kernels_in(cubin):
    """Pairs of a mangled kernel and how many tensor-core instructions it has."""
    for name, code in sections(cubin):
        if name.startswith(".text."):
            yield name[len(".text."):], sum(struct.unpack_from("<Q", code, at)[0] & 0xFFF == HMMA
                                            for at in range(0, len(code), INSTRUCTION_BYTES))


def short_name(demangled):
    """`void plumbline::cuda::(anonymous namespace)::multiply<...>(Product)` is `multiply`."""
    name = demangled.replace("(anonymous namespace)", "").removeprefix("void ")
    name = re.split(r"[<(]", name.removeprefix("plumbline::cuda::").lstrip(":"))[0]
    return name.rsplit("::", 1)[-1]


def golden_lines(source, cubin):
    """One line for each kernel of a file: how many of its templates there are, and whether all run on tensor cores."""
    kernels = list(kernels_in(cubin))
    plain = subprocess.run(["c++filt"], input="\n".join(name for name, _ in kernels), capture_output=True, text=True, check=True)
    found = collections.defaultdict(list)
    for name, (_, instructions) in zip(plain.stdout.splitlines(), kernels):
        found[short_name(name)].append(instructions > 0)
    return [f"{source} {name} x{len(tensor)}{' tensor-core' if all(tensor) else ''}" for name, tensor in sorted(found.items())]


def compile_one(nvcc, root, source, architecture):
    """(report of the compiler, seconds of processor time of one compilation, the cubin)"""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-diag-suppress=554", f"-arch={architecture}", "-I", str(root), "-Xptxas=-v",
                   "-cubin", str(source), "-o", os.path.join(folder, "kernels.cubin")]
        script = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=sys.stderr); "
                  "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime); sys.exit(code)")
        done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr, None, b""
        return done.stderr, float(done.stdout), pathlib.Path(folder, "kernels.cubin").read_bytes()


def problems_of(name, report, seconds):
    if seconds is None:
        return [f"{name}: does not compile\n{report}"]
    found = [f"{name}: {spilled}" for spilled in spilled_functions(report)]
    if seconds > LONGEST_SECONDS:
        found.append(f"{name}: takes {seconds:.0f} s to compile; at most {LONGEST_SECONDS} s are wanted")
    return found


def other_kernels(found, expected, architecture):
    """What is not as kernels.txt says."""
    for line in sorted(set(expected) - set(found)):
        yield f"kernels.txt, {architecture}: expected \"{line}\", and it is not so"
    for line in sorted(set(found) - set(expected)):
        yield f"kernels.txt, {architecture}: \"{line}\" is not in it; --write writes it"


def main():
    words = sys.argv[1:]
    is_written = words[0] == "--write"
    nvcc, root, *architectures = words[1:] if is_written else words
    if not shutil.which(nvcc):
        print(f"skipped: {nvcc} is no compiler of CUDA here")
        return SKIPPED
    root = pathlib.Path(root)
    sources = [source for folder in ("kernels/cuda", "runtime/cuda") for source in sorted((root / folder).glob("*.cu"))]
    jobs = [(source, architecture) for source in sources for architecture in architectures]
    problems = [] if jobs else ["no kernels were found"]
    lines = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_one(nvcc, root, *job), jobs)
        for (source, architecture), (report, seconds, cubin) in zip(jobs, results):
            name = f"{source.name} for {architecture}"
            registers = max((int(n) for n in REGISTERS.findall(report)), default=0)
            if seconds is not None:
                lines[architecture] += golden_lines(source.name, cubin)
                print(f"{name}: {seconds:.1f} s, at most {registers} registers", flush=True)
            problems += problems_of(name, report, seconds)
    if is_written:
        GOLDEN.write_text("\n".join(lines[architectures[0]]) + "\n", encoding="utf-8")
    for architecture in architectures:
        problems += other_kernels(lines[architecture], GOLDEN.read_text(encoding="utf-8").splitlines(), architecture)
    print("\n".join(problems) or "nothing is spilled, and all kernels are as kernels.txt says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
