#!/usr/bin/env python3
"""make deb: the package holds the command, which runs from it, its data, a manual page for every verb and completions.

Usage: deb_test.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()) if len(sys.argv) > 1 else None


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.place.name)
        made = subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder], cwd=BUILD,
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
        packages = list(folder.glob("*.deb"))
        assert len(packages) == 1, packages
        cls.package = packages[0]
        cls.root = folder / "root"
        subprocess.run(["dpkg-deb", "-x", cls.package, cls.root], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def plan(self, *words):
        return subprocess.run([self.root / "usr/bin/plan", *words], cwd=self.place.name, capture_output=True, text=True)

    def test_the_command_runs_from_the_package(self):
        done = self.plan("estimate", "--model", "llama-3-8b", "--machine", "dgx-h100", "--global-batch", "64", "--tp", "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("llama-3-8b", done.stdout)

    def test_every_verb_has_a_manual_page(self):
        pages = self.root / "usr/share/man/man1"
        overview = self.plan("--help").stdout
        verbs = [line.split()[0] for line in overview.split("Verbs:\n")[1].split("\n\n")[0].splitlines()]
        self.assertIn("search", verbs)
        names = {path.name for path in pages.iterdir()}
        self.assertEqual(names, {"plan.1"} | {f"plan-{verb}.1" for verb in verbs})
        for name in names:
            self.assertTrue((pages / name).read_text().startswith(".TH PLAN"))

    def test_completions_and_data_are_there(self):
        share = self.root / "usr/share"
        for name in ("bash-completion/completions/plan", "zsh/site-functions/_plan", "zsh/vendor-completions/_plan", "fish/vendor_completions.d/plan.fish",
                     "plumbline/models/calibrations/priors.json"):
            self.assertTrue((share / name).is_file(), name)

    def test_the_window_is_there_with_its_desktop_file_where_it_was_built(self):
        desktop = self.root / "usr/share/applications/io.github.plumbline.Plumbline.desktop"
        if not (BUILD / "bin/plumbline").exists():
            self.assertFalse(desktop.exists())  # it would start nothing
            self.skipTest("the window was not built")
        words = dict(line.split("=", 1) for line in desktop.read_text().splitlines() if "=" in line)
        self.assertTrue(os.access(self.root / "usr/bin" / words["Exec"].split()[0], os.X_OK))
        icons = self.root / "usr/share/icons/hicolor/scalable/apps"
        self.assertTrue((icons / f"{words['Icon']}.svg").is_file())

    def test_it_says_what_it_is_and_needs(self):
        field = lambda name: subprocess.run(["dpkg-deb", "-f", self.package, name], capture_output=True,  # noqa: E731
                                            text=True, check=True).stdout.strip()
        self.assertEqual((field("Package"), field("Section")), ("plumbline", "science"))
        self.assertEqual(field("Version"), self.plan("--version").stdout.split()[1])
        self.assertIn("libc6", field("Depends"))
        files = [path for path in self.root.rglob("*") if path.is_file()]
        self.assertFalse([path for path in files if path.suffix in (".a", ".h")])


if __name__ == "__main__":
    if BUILD is None or not all(map(shutil.which, ("cpack", "dpkg-deb", "dpkg-shlibdeps"))):
        print("skipped: cpack, dpkg-deb or dpkg-shlibdeps (dpkg-dev) is missing")
        sys.exit(77)
    os.environ["LC_ALL"] = "C.UTF-8"
    unittest.main()
