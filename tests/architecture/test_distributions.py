#!/usr/bin/env python3
""".ci/distributions.sh says in one sentence why it skips where it can make no bare root."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci/distributions.sh"
# What the script needs beside what a test puts there.
PROGRAMS = ("bash", "chmod", "dirname", "grep", "mktemp", "nproc", "rm", "sort")


class Distributions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in PROGRAMS:
            found = next(pathlib.Path(part, name) for part in os.environ["PATH"].split(":") if pathlib.Path(part, name).exists())
            (self.folder / name).symlink_to(found)

    def program(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def skips(self, why):
        (self.folder / "temporary").mkdir()
        done = subprocess.run(["bash", SCRIPT], capture_output=True, text=True, check=False,
                              env={"PATH": str(self.folder), "TMPDIR": str(self.folder / "temporary")})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"distributions: skipped: {why}\n", ""))
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])

    def test_without_mmdebstrap(self):
        self.skips("mmdebstrap is not installed, which makes the bare root")

    def test_for_others_than_root(self):
        self.program("mmdebstrap", "exit 1")
        self.program("id", "echo 1000")
        self.skips("only root can enter a bare root")

    def test_without_a_mirror(self):
        self.program("mmdebstrap", "exit 1")
        self.program("id", "echo 0")
        self.program("apt-get", "echo http://nowhere.invalid/debian/")
        self.program("timeout", "exit 100")
        self.skips("none of this machine's apt sources that can be reached has trixie")


if __name__ == "__main__":
    unittest.main()
