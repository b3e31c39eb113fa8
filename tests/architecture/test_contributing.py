#!/usr/bin/env python3
"""CONTRIBUTING.md says how many files an addition touches, and names them: held against the record of a commit that made
one (scripts/count_touched.py), or where there is none, against what names an existing one."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from count_touched import FORMAT, commit_of, of_row, record_of, records, touched  # noqa: E402

LIBRARIES = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

FILES_OF_A_KERNEL = 4
# Where no commit is recorded. Row: one that exists, by what only the files that it touches say of it; and where the row counts nothing
EXAMPLES = {
    "an optimizer": (r"Optimizer::adagrad\b", ()),
    "an operator": (r"OpKind::dropout\b|TensorId dropout\(", ("models/import/", "runtime/measure/")),
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


def is_named(name, listed):
    return any(name == path or name.startswith(path + "/") for path in listed)


def faults(record, table):
    """What a row of the table does not say of a recorded addition."""
    if record["row"] not in table:
        return [f"no row \"{record['row']}\""]
    number, said = table[record["row"]]
    counted, kernels = of_row(record)
    found = [f"{name} is not named" for name in counted if not is_named(name, paths(said))]
    if number != len(counted):
        found.append(f"({number}) stands there, and {len(counted)} were touched")
    if kernels and len(kernels) != FILES_OF_A_KERNEL:
        found.append(f"a kernel adds {FILES_OF_A_KERNEL}, and {len(kernels)} were touched")
    return found


class Contributing(unittest.TestCase):
    def test_every_path_of_the_table_is_there(self):
        listed = [path for _, touched in rows().values() for path in paths(touched)]
        self.assertGreater(len(listed), 40)
        for path in listed:
            self.assertTrue((ROOT / path).exists(), path)

    def test_an_addition_touches_the_files_that_the_table_names(self):
        recorded = {record["row"] for record in records(ROOT)}
        for row, (pattern, besides) in EXAMPLES.items():
            if row in recorded:
                continue
            number, said = rows()[row]
            listed = paths(said)
            files = naming(pattern, besides)
            with self.subTest(row):
                self.assertEqual(len(files), number, sorted(files))
                for name in files:
                    self.assertTrue(is_named(name, listed), f"{name} is not named in the row: {listed}")

    def test_a_recorded_addition_touched_what_its_row_says(self):
        for record in records(ROOT):
            with self.subTest(record["subject"]):
                self.assertEqual(record["format"], FORMAT)
                self.assertEqual(faults(record, rows()), [])

    def test_a_record_is_what_its_commit_touched(self):
        for record in records(ROOT):
            with self.subTest(record["subject"]):
                commit = commit_of(ROOT, record)
                if commit is None:
                    continue  # history is cut off, or squashed
                self.assertEqual(record["files"], touched(ROOT, commit))

    def test_what_a_row_leaves_out_is_a_fault(self):
        table = {"a thing": (2, "its row in `core/a/table.h`, its answer in `planner/io`")}
        record = {"row": "a thing", "files": ["core/a/table.h", "planner/io/thing_json.cpp"]}
        self.assertEqual(faults(record, table), [])
        self.assertEqual(faults({**record, "row": "another"}, table), ['no row "another"'])
        record["files"].append("cli/thing.cpp")
        self.assertEqual(faults(record, table),
                         ["cli/thing.cpp is not named", "(2) stands there, and 3 were touched"])
        record["files"][-1] = "kernels/kernel_list.h"
        self.assertEqual(faults(record, table), ["a kernel adds 4, and 1 were touched"])

    def test_a_commit_is_recorded_by_the_files_of_the_product(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*arguments):
                author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
                subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)

            def commit(subject, *names):
                for name in names:
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(subject)
                git("add", "--all")
                git("commit", "-m", subject)

            git("init", "-q")
            commit("Begin", "core/a.h")
            commit("Add the thing", "core/a.h", "planner/io/thing.cpp", "models/schemas/plan.schema.json",
                   "core/CMakeLists.txt", "docs/thing.md", "tests/unit/thing_test.cpp", "CHANGELOG.md")
            commit("Go on", "core/b.h")
            record = record_of(folder, "a thing", "HEAD~1")
            self.assertEqual(record["subject"], "Add the thing")
            self.assertEqual(record["files"], ["core/a.h", "models/schemas/plan.schema.json", "planner/io/thing.cpp"])
            self.assertEqual(touched(folder, commit_of(folder, record)), record["files"])
            self.assertIsNone(commit_of(folder, {"subject": "Begin"}))  # nothing to hold it against
            with tempfile.TemporaryDirectory() as clone:
                subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{folder}", clone], check=True,
                               capture_output=True)
                self.assertIsNone(commit_of(clone, record))  # its parent is cut off

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
