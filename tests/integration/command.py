"""What the tests of the command share: running it, and how a mistake must look."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PLAN = ""
QUESTION = ["--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", "8", "--seq-len", "4096", "--global-batch", "64"]


def run(*words, **more):
    return subprocess.run([PLAN, *map(str, words)], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=300, **more)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, words, *says, code=2):
        done = run(*words, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, r"^plan: (?!plan: )")  # which does not stutter
        self.assertLess(len(done.stderr), 2000)
        for words_said in says:
            self.assertIn(words_said, done.stderr)

    def written(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def plan_file(self):
        path = self.folder / "plan.json"
        done = run("estimate", *QUESTION, "--tp", 2, "--zero", 1, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path


def main():
    """Runs the tests of the calling file; its first argument is the command."""
    global PLAN
    PLAN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(module="__main__")
