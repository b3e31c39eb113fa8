#!/usr/bin/env python3
"""CONTRIBUTING.md says how many files an addition touches, and names them: held against what names an existing one."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ("core", "kernels", "models", "planner", "runtime", "cli", "gui", "python")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

# row: one that exists, by what only the files that it touches say of it; and where the row counts nothing
EXAMPLES = {
    "an optimizer": (r"Optimizer::adagrad\b", ()),
    "an operator": (r"OpKind::dropout\b|TensorId dropout\(", ("models/import/", "planner/calibrate/")),
    # what only NCCL needs is counted apart
    "a collective": (r"Collective::broadcast\b|void (ExchangeCommunicator::)?broadcast\(",
                     ("runtime/nccl/", "core/cost/nccl_model.cpp")),
    "a pipeline schedule": (r"Schedule::zb_h1\b|\bzb_h1_(order|schedule)\b|ROW\(zb_h1\)", ()),
    "a launch target": (r"\btorchtitan(::|_record\b|_target\b)|Framework::torchtitan\b|frameworks/torchtitan/|ROW\(torchtitan,",
                        ("planner/frameworks/torchtitan/",)),
    "a legality rule": (r'"R15"', ()),
    "a verb": (r"\bDoctorVerb\b", ()),
    "a page of the window": (r"\bGraphPage\b", ()),
}


def rows():
    """Name of each row to its number, if it has one, and what it says to touch."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page[page.index("## To add X, touch Y"):page.index("\n## Style")]
    found = {}
    for name, number, touched in re.findall(r"^\| ([^|(]+?)(?: \((\d+)[^)]*\))? \| (.*) \|$", table, re.MULTILINE):
        found[name] = (int(number) if number else None, touched)
    return found


def paths(touched):
    """The files and folders that a row names; a name without a folder lies where the one before it does."""
    named, folder, stem = [], "", ""
    for text in re.findall(r"`([^`]+)`", touched):
        if not re.fullmatch(r"[\w./<>*-]+", text) or re.search(r"[<*]|TARGET", text):
            continue
        if text.startswith("."):  # `.cpp` of the header before
            text = stem + text
        elif "/" not in text and "." in text and folder:
            text = f"{folder}/{text}"
        if "/" not in text and text not in LIBRARIES:
            continue
        folder, stem = (str(pathlib.PurePosixPath(text).parent), text.rsplit(".", 1)[0]) if "." in text else (folder, stem)
        named.append(text)
    return named


def sources():
    tracked = subprocess.run(["git", "ls-files", *LIBRARIES], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    return [name for name in tracked.splitlines() if pathlib.PurePosixPath(name).suffix in SUFFIXES]


def naming(pattern, besides):
    return {name for name in sources() if not name.startswith(besides or ("//",))
            and re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)}


class Contributing(unittest.TestCase):
    def test_every_path_of_the_table_is_there(self):
        listed = [path for _, touched in rows().values() for path in paths(touched)]
        self.assertGreater(len(listed), 40)
        for path in listed:
            self.assertTrue((ROOT / path).exists(), path)

    def test_an_addition_touches_the_files_that_the_table_names(self):
        for row, (pattern, besides) in EXAMPLES.items():
            number, touched = rows()[row]
            listed = paths(touched)
            files = naming(pattern, besides)
            with self.subTest(row):
                self.assertEqual(len(files), number, sorted(files))
                for name in files:
                    is_listed = any(name == path or name.startswith(path + "/") for path in listed)
                    self.assertTrue(is_listed, f"{name} is not named in the row: {listed}")

    def test_a_framework_is_named_by_its_folder_and_its_row(self):
        table = "planner/frameworks/framework_list.h"
        frameworks = re.findall(r"ROW\((\w+), \"", (ROOT / table).read_text(encoding="utf-8"))
        self.assertGreater(len(frameworks), 5)
        for framework in frameworks:
            with self.subTest(framework):
                (record,) = naming(rf"^FrameworkRecord {framework}_record\(", ())
                home = pathlib.PurePosixPath(record).parent
                names = rf"\b{framework}_(record|target)\b|Framework::{framework}\b|{home}/|ROW\({framework},"
                if home.name != "plumbline":  # the namespace of all that is ours
                    names += rf"|\b{home.name}::"
                users = naming(names, f"{home}/")
                # Accelerate's YAML may name a file of DeepSpeed's
                users = {name for name in users if not (framework == "deepspeed" and "/accelerate/" in name)}
                self.assertEqual(users, {table})


if __name__ == "__main__":
    unittest.main()
