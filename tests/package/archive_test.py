#!/usr/bin/env python3
"""make package: the archive holds a command that runs in an empty folder and needs no library but the C library's.

Usage: archive_test.py BUILD_DIR     leaves the archive in BUILD_DIR and prints its path and the oldest glibc it runs with
"""
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
ALLOWED = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*\.so\.\d+")
SEARCH = ("search", "--model", "llama-3-70b", "--machine", "dgx-h100", "--gpus", "64", "--seq-len", "8192", "--global-batch",
          "512", "--top", "1", "--json")


def read_elf(program, what):
    return subprocess.run(["readelf", what, "--wide", program], check=True, capture_output=True, text=True).stdout


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "TGZ", "-B", BUILD], cwd=BUILD, check=True,
                       capture_output=True, text=True)
        (cls.archive,) = BUILD.glob("plumbline-*.tar.gz")
        cls.place = tempfile.TemporaryDirectory()
        with tarfile.open(cls.archive) as archive:
            archive.extractall(cls.place.name)
        (cls.program,) = pathlib.Path(cls.place.name).rglob("bin/plan")

    @classmethod
    def tearDownClass(cls):
        newest = max(tuple(map(int, version)) for version in re.findall(r"GLIBC_(\d+)\.(\d+)",
                                                                        read_elf(cls.program, "--version-info")))
        print(f"{cls.archive}: {cls.archive.stat().st_size >> 20} MiB, for glibc {newest[0]}.{newest[1]} or later")
        cls.place.cleanup()

    def run_plan(self, program, *words):
        return subprocess.run([program, *words], cwd=self.place.name, env={}, capture_output=True, text=True)

    def test_it_needs_no_library_but_those_of_the_c_library(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf(self.program, "--dynamic"))
        self.assertTrue(needed)
        self.assertEqual([name for name in needed if not ALLOWED.fullmatch(name)], [])

    def test_it_answers_in_an_empty_folder_what_the_build_answers(self):
        from_archive = self.run_plan(self.program, *SEARCH)
        self.assertEqual(from_archive.returncode, 0, from_archive.stderr)
        self.assertIn('"format": "plumbline.search/1"', from_archive.stdout)
        built = BUILD.parent / "build/bin/plan"  # of the ordinary build, where there is one
        if built.exists():
            self.assertEqual(from_archive.stdout, self.run_plan(built, *SEARCH).stdout)

    def test_it_reads_yaml(self):
        config = pathlib.Path(self.place.name, "fsdp.yaml")
        config.write_text("distributed_type: FSDP\nnum_processes: 8\nmixed_precision: bf16\nfsdp_config:\n  fsdp_version: 2\n",
                          encoding="utf-8")
        done = self.run_plan(self.program, "import", str(config), "--from", "accelerate", "--model", "llama-3-8b",
                             "--global-batch", "64", "--seq-len", "4096")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_bad_input_is_refused_in_one_line(self):
        done = self.run_plan(self.program, "fit", "--model", "lama-3-8b", "--machine", "dgx-h100")
        self.assertEqual(done.returncode, 2)
        self.assertIn("llama-3-8b", done.stderr)


if __name__ == "__main__":
    unittest.main()
