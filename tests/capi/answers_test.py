#!/usr/bin/env python3
"""libplumbline, asked by a program in C: the bytes of the command, its refusals as values, progress and an early end;
nothing else is exported, and the header says all that is.

Usage: answers_test.py HEADER LIBRARY_FOLDER, with PLUMBLINE_PLAN the command
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

PLAN = os.environ.get("PLUMBLINE_PLAN", "")
QUESTION = {"model": "llama-3-8b", "machine": "dgx-h100", "gpus": 8, "seq_len": 4096, "global_batch": 64}
TOO_MUCH = {"model": "llama-3-70b", "machine": "dgx-h100", "gpus": 8, "global_batch": 64}
LONG = {"model": "llama-3-70b", "machine": "dgx-h100", "gpus": 128, "seq_len": 8192, "global_batch": 1024,
        "precision": ["bf16", "fp8"], "for": "any", "threads": 1}
WORK = {"model": "gpt2", "machine": "dgx-h100", "global_batch": 480, "tokens": 1e10, "gpus": [3, 6], "days": 30}
ANSWERS = [("estimate", dict(QUESTION, tp=2, sequence_parallel=True, recompute="full")), ("fit", dict(QUESTION, tp=2)),
           ("fit", TOO_MUCH), ("explain", dict(QUESTION, tp=2)), ("simulate", dict(QUESTION, pp=2, tp=4)), ("size", WORK),
           ("search", dict(QUESTION, top=3)), ("search", dict(QUESTION, top=2, fix={"tp": 2, "zero": [0, 1]}))]
REFUSED = [("fit", dict(QUESTION, tp=3, gpus=3)), ("fit", dict(QUESTION, model="lama-3-8b")), ("search", dict(QUESTION, top=0)),
           ("search", dict(QUESTION, time_limit="soon")), ("estimate", {"plan": "/nowhere/plan.json"})]
COMPILE = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]


def linked():
    return [f"-L{LIBRARIES}", "-lplumbline", f"-Wl,-rpath,{LIBRARIES}"]


def flags_of(question):
    def text(value):
        if isinstance(value, dict):
            return ",".join(f"{key}={text(one).replace(',', '|')}" for key, one in value.items())
        if isinstance(value, list):
            return ",".join(map(text, value))
        if isinstance(value, bool):
            return "on" if value else "off"
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    return [word for key, value in question.items() for word in ("--" + key.replace("_", "-"), text(value))]


def by_command(verb, question):
    return subprocess.run([PLAN, verb, *flags_of(question), "--json"], capture_output=True, text=True, check=False)


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.program = str(pathlib.Path(folder.name) / "ask")
        source = pathlib.Path(__file__).with_name("ask.c")
        made = subprocess.run([*COMPILE, f"-I{HEADER.parent}", source, *linked(), "-o", cls.program], capture_output=True,
                              text=True, check=False)
        assert made.returncode == 0, made.stderr

    def ask(self, verb, question, *then, **environment):
        text = question if isinstance(question, str) else json.dumps(question)
        return subprocess.run([self.program, verb, text, *then], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, **environment})

    def test_answers_have_the_bytes_of_the_command(self):
        for verb, question in ANSWERS:
            with self.subTest(verb, **question):
                expected, ours = by_command(verb, question), self.ask(verb, question)
                self.assertIn(expected.returncode, (0, 1), expected.stderr)
                self.assertEqual(ours.stdout, expected.stdout)
        for catalogue in "models", "machines", "stacks":
            listed = subprocess.run([PLAN, catalogue, "--json"], capture_output=True, text=True, check=True).stdout
            self.assertEqual(self.ask(catalogue, {}).stdout, listed)

    def test_a_plan_of_an_answer_is_asked_further_about(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = f"{folder}/plan.json"
            question = dict(QUESTION, top=1)
            subprocess.run([PLAN, "search", *flags_of(question), "--out", plan], capture_output=True, check=True)
            self.assertEqual(self.ask("search", question, "simulate").stdout, by_command("simulate", {"plan": plan}).stdout)
            self.assertEqual(self.ask("simulate", {"plan": plan}).stdout, by_command("simulate", {"plan": plan}).stdout)
        offers = json.loads(self.ask("fit", TOO_MUCH, "changes").stdout)
        self.assertEqual(offers, json.loads(self.ask("fit", TOO_MUCH).stdout)["offers"])
        self.assertTrue(offers["changes"] or offers["remedies"])

    def test_errors_are_values_in_the_words_of_the_command(self):
        for verb, question in REFUSED:
            with self.subTest(verb, **question):
                expected, ours = by_command(verb, question), self.ask(verb, question)
                self.assertEqual((expected.returncode, ours.returncode, ours.stdout), (2, 2, ""))
                self.assertEqual(ours.stderr.splitlines()[0], "ask: " + expected.stderr.strip().removeprefix("plan: "))
        self.assertIn("[--seq-len]", self.ask("fit", dict(QUESTION, seq_length=3)).stderr)

    def test_what_is_no_question_is_an_input_error(self):
        for verb, question, said in (("prophesy", "{}", "verb"), ("serach", "{}", "nearest: search"), ("fit", "[1]", "an object of JSON"),
                                     ("fit", "{", "question"), ("fit", '{"gpus": 1, "--gpus": 2}', "given twice"),
                                     ("size", '{"plan": "plan.json"}', "unknown argument of plumbline.size"),
                                     ("compare", '{"plan": "plan.json"}', "files"), ("changes", "{}", "--plan"),
                                     ("fit", '{"model": ""}', "its value is empty"), ("export", '{"plan": "p"}', "--to")):
            with self.subTest(verb=verb, question=question):
                done = self.ask(verb, question)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)

    def test_progress_is_reported_and_ends_the_work(self):
        done = self.ask("search", LONG, PLUMBLINE_STOP="15")
        report = json.loads(done.stderr.splitlines()[0].removeprefix("report: "))
        self.assertEqual(set(report), {"phase", "done", "total", "best_step_time_s", "text"})
        self.assertFalse(json.loads(done.stderr.splitlines()[-1])["complete"])
        limited = self.ask("search", dict(LONG, time_limit="200ms"))
        self.assertFalse(json.loads(limited.stderr.splitlines()[-1])["complete"])

    def test_the_program_on_the_page_compiles_and_answers(self):
        page = HEADER.parents[1] / "docs/c.md"
        (text,) = re.findall(r"^```c\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "page.c"
            source.write_text(text, encoding="utf-8")
            subprocess.run([*COMPILE, f"-I{HEADER.parent}", source, *linked(), "-o", f"{folder}/page"], check=True)
            done = subprocess.run([f"{folder}/page"], capture_output=True, text=True, check=False)
        question = {"model": "llama-3-8b", "machine": "dgx-h100", "gpus": 8, "global_batch": 64, "tp": 2}
        self.assertEqual((done.returncode, done.stdout), (0, by_command("fit", question).stdout))

    def test_nothing_but_the_functions_of_the_header_is_exported(self):
        exported = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARIES / "libplumbline.so")], capture_output=True,
                                  text=True, check=True).stdout
        declared = re.findall(r"^PLUMBLINE_API .*?\b(plumbline_\w+)\(", HEADER.read_text(), re.M)
        self.assertEqual(sorted(line.split()[-1] for line in exported.splitlines()), sorted(declared))

    def test_threads_share_the_library(self):
        library = ctypes.CDLL(str(LIBRARIES / "libplumbline.so"))
        expected = self.ask("estimate", QUESTION).stdout
        found = []

        def ask():
            request = (ctypes.c_void_p * 5)(40)
            texts = ctypes.c_char_p(b"estimate"), ctypes.c_char_p(json.dumps(QUESTION).encode())
            request[1], request[2] = (ctypes.cast(text, ctypes.c_void_p).value for text in texts)
            answer, error, text = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            code = library.plumbline_ask(request, None, None, ctypes.byref(answer), ctypes.byref(error))
            code = code or library.plumbline_answer_json(answer, ctypes.byref(text), ctypes.byref(error))
            found.append(ctypes.string_at(text.value).decode() if code == 0 else code)
            library.plumbline_text_free(text)
            library.plumbline_answer_free(answer)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, 8 * [expected])


if __name__ == "__main__":
    if not all(map(shutil.which, ("cc", "nm"))):
        print("skipped: cc or nm is missing")
        sys.exit(77)
    HEADER, LIBRARIES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
