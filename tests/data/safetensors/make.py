#!/usr/bin/env python3
"""Writes python.safetensors with the Python package, and reads a file that Plumbline wrote.

Needs the packages safetensors and numpy; run by hand when the format changes.
Usage: make.py                 writes python.safetensors beside this script (0.8.0 wrote the one kept here)
       make.py check <file>    reads <file> and fails unless it holds the same tensors
"""
import pathlib
import sys

import numpy
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

GOLDEN = pathlib.Path(__file__).with_name("python.safetensors")
TENSORS = {
    "layers.0.weight": numpy.array([[0.0, 1.5, -2.0], [3.25, 1e30, -0.0]], dtype=numpy.float32),
    "layers.0.bias": numpy.array([1.0, -0.5, 65504.0], dtype=numpy.float16),
    "step": numpy.array(1234567890123, dtype=numpy.int64),
    "empty": numpy.zeros((0, 4), dtype=numpy.float32),
    "bytes": numpy.array([1, 2, 255], dtype=numpy.uint8),
}
METADATA = {"format": "pt"}


def check(path):
    read = load_file(path)
    assert sorted(read) == sorted(TENSORS), sorted(read)
    for name, tensor in TENSORS.items():
        assert read[name].dtype == tensor.dtype and read[name].shape == tensor.shape, name
        assert read[name].tobytes() == tensor.tobytes(), name
    with safe_open(path, framework="np") as file:
        assert file.metadata() == METADATA, file.metadata()
    print(f"{path}: as expected")


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        save_file(TENSORS, GOLDEN, metadata=METADATA)
        check(GOLDEN)
