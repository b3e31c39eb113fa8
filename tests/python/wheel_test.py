#!/usr/bin/env python3
"""The wheel: the same bytes from the same files, installed into a fresh virtual environment without a network, a
compiler or our build folder, and asked there.

Usage: wheel_test.py MAKE_WHEEL PACKAGE VERSION LICENCE...
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

MAKE_WHEEL, PACKAGE, VERSION, *LICENCES = sys.argv[1:]
ASK = """
import plumbline
assert plumbline.__file__.startswith({folder!r}), plumbline.__file__
plan = plumbline.fit(model="llama-3-8b", machine="dgx-h100", gpus=8, global_batch=64, tp=2, zero=1)
assert plan.fits and plan.strategy.tensor_parallel == 2
assert not plumbline.fit(model="llama-3-70b", machine="dgx-h100", gpus=6, global_batch=60)
found = plumbline.search(model="llama-3-8b", machine="dgx-h100", gpus=6, global_batch=60, top=2)
assert len(found) == 2
print(plan.reason)
"""


def wheel_in(folder):
    made = subprocess.run([sys.executable, MAKE_WHEEL, PACKAGE, VERSION, folder, *LICENCES], capture_output=True,
                          text=True, check=False)
    assert made.returncode == 0, made.stderr
    return pathlib.Path(made.stdout.strip())


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()

    def test_the_same_files_give_the_same_bytes(self):
        first, second = (wheel_in(self.root / name) for name in ("a", "b"))
        self.assertEqual(first.name, second.name)
        self.assertEqual(hashlib.sha256(first.read_bytes()).digest(), hashlib.sha256(second.read_bytes()).digest())
        self.assertRegex(first.name, rf"^plumbline-{VERSION}-py3-none-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(first) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            self.assertEqual(len(names), len(set(names)))
            recorded = archive.read(names[-1]).decode().splitlines()
            stub = archive.read("plumbline/__init__.pyi").decode()
        self.assertEqual(sorted(line.split(",")[0] for line in recorded), sorted(names))
        self.assertIn("plumbline/py.typed", names)
        self.assertIn("seq_len: ", stub)

    def test_it_is_installed_offline_into_a_fresh_environment_and_answers(self):
        wheel = wheel_in(self.root / "wheel")
        made = subprocess.run([sys.executable, "-m", "venv", str(self.root / "venv")], capture_output=True, text=True,
                              check=False)
        if made.returncode != 0:
            self.skipTest("SKIPPED LOUDLY: this Python makes no virtual environments (Debian: python3-venv)")
        python = str(self.root / "venv/bin/python")
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PATH")}
        environment["PATH"] = "/nonexistent"  # no compiler, nothing to build with
        done = subprocess.run([python, "-m", "pip", "install", "--no-index", "--quiet", str(wheel)], capture_output=True,
                              text=True, env=environment, cwd=self.root, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        asked = subprocess.run([python, "-c", ASK.format(folder=str(self.root / "venv"))], capture_output=True, text=True,
                               env=environment, cwd=self.root, check=False)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn("GiB", asked.stdout)
        checked = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
