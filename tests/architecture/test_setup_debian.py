#!/usr/bin/env python3
"""scripts/setup_debian.sh in a root with nothing installed: it names what is missing, and trips over none of it."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/setup_debian.sh"


class SetupDebian(unittest.TestCase):
    def test_without_any_program_only_what_is_missing_is_said(self):
        with tempfile.TemporaryDirectory() as nothing:
            done = subprocess.run(["/bin/bash", SCRIPT, "bench", "fuzz", "lint", "mpi", "gui", "python", "deb"], capture_output=True,
                                  text=True, check=False, env={"PATH": nothing})
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (3, "", 1), done.stderr)
        self.assertTrue(done.stderr.startswith("setup: no apt-get here; install the equivalents of: g++ cmake "), done.stderr)
        for package in ("python3", "python3-venv", "dpkg-dev"):
            self.assertIn(package, done.stderr.split())


if __name__ == "__main__":
    unittest.main()
