#!/usr/bin/env python3
"""Names that people choose: a path is a path, and what a name holds harms no terminal, report or picture.

Usage: names_test.py <plan>
"""
import json
import shutil
import subprocess
import unicodedata
import xml.dom.minidom

import command
from command import QUESTION, Command, run

HOSTILE = 'evil\033[31m<&">|*\u202e\u009b]0;title\007\r\nname'
MODEL = {"model_type": "gpt2", "n_layer": 3, "n_embd": 96, "n_head": 6, "vocab_size": 100, "n_positions": 128}


def controls(text):
    """What a terminal would obey in a text."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf")]


class PathsAndNames(Command):
    def question(self, model, *more):
        return run("estimate", "--model", model, "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 8, "--json", *more,
                   cwd=self.folder)

    def own(self, place):
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / place).write_text(json.dumps(MODEL))

    def test_a_model_of_ones_own_is_read_whatever_it_is_called(self):
        self.own("my/llama-3-8b/config.json")
        self.own("my/gpt2")
        self.own("gpt2/config.json")
        for model in ("my/llama-3-8b", "./my/llama-3-8b", "my/gpt2", self.folder / "my/gpt2", "./gpt2", "gpt2/",
                      "gpt2/config.json"):
            done = self.question(model)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(json.loads(done.stdout)["model"]["parameters"], 1e6, model)
            self.assertEqual(json.loads(run("models", model, "--json", cwd=self.folder).stdout)["layers"], 3)

    def test_a_name_that_is_both_is_said(self):
        self.own("gpt2/config.json")
        said = "plan: gpt2 is the catalogue's; the folder of that name is read as ./gpt2\n"
        done = self.question("gpt2")
        self.assertEqual(json.loads(done.stdout)["model"]["parameters"], 124439808)
        self.assertEqual(done.stderr, said)
        self.assertEqual(run("models", "gpt2", cwd=self.folder).stderr, said)
        self.assertEqual(run("search", "--model", "gpt2", "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 8,
                             cwd=self.folder).stderr, said)
        plan = self.folder / "plan.json"
        self.question("gpt2", "--out", plan)
        self.assertEqual(run("explain", "--plan", plan, cwd=self.folder).stderr, said)

    def test_a_path_that_is_mistyped_is_no_name(self):
        self.own("my/other/config.json")
        self.refused(["models", "my/llama-3-8b"], "my/llama-3-8b: no such file")
        self.refused(["models", "./llama-3-8b"], "./llama-3-8b: no such file")
        self.refused(["models", "a/b/llama-3-8b"], "a/b/llama-3-8b: no such file")
        self.assertEqual(run("models", "meta-llama/Meta-Llama-3-70B", cwd=self.folder).stderr, "")
        done = run("models", "somebody/llama-3-8b", cwd=self.folder)
        self.assertIn("there is no file somebody/llama-3-8b", done.stderr)

    def test_machines_and_stacks_likewise(self):
        machine = json.loads(run("machines", "dgx-a100-80g", "--json").stdout)
        stack = json.loads(run("stacks", "torchtitan", "--json").stdout)
        (self.folder / "my").mkdir()
        for place in ("dgx-h100", "my/dgx-h100", "this-computer"):
            self.written(place, json.dumps(machine))
        for place in ("plumbline", "my/plumbline"):
            self.written(place, json.dumps(stack))
        name = lambda *words: json.loads(run(*words, "--json", cwd=self.folder).stdout)
        self.assertEqual(name("machines", "my/dgx-h100"), machine)
        self.assertEqual(name("machines", "./dgx-h100"), machine)
        self.assertEqual(name("stacks", "my/plumbline")["name"], stack["name"])
        words = ["fit", "--model", "gpt2", "--gpus", 8, "--global-batch", 8, "--machine", "dgx-h100", "--stack", "plumbline"]
        done = run(*words, cwd=self.folder)
        self.assertIn("dgx-h100 is the catalogue's; the file of that name is read as ./dgx-h100; plumbline is the "
                      "catalogue's; the file of that name is read as ./plumbline", done.stderr)
        self.assertIn("this-computer is the catalogue's", run("machines", "this-computer", cwd=self.folder).stderr)

    def test_what_a_plan_names_is_not_shown(self):
        plan = json.loads(self.plan_file().read_text())
        secret = self.written("secret.json", '{"token": "hunter2", "format": "hunter2", "model_type": "hunter2"}')
        broken = self.written("broken", "root:hunter2:0:0")
        for part, key in (("model", "source"), ("machine", "source"), ("provenance", "stack_calibration")):
            for file in (secret, broken):
                changed = json.loads(json.dumps(plan))
                changed[part][key] = str(file)
                path = self.written("plan.json", json.dumps(changed))
                for verb in (["fit"], ["explain"], ["run"], ["simulate"], ["compare", "--measured", path]):
                    done = run(*verb, "--plan", path, cwd=self.folder)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertNotIn("hunter2", done.stderr)
                    self.assertIn(f"/{part}/{key}: ", done.stderr)
                    self.assertIn("cannot be read as a ", done.stderr)


class WhatNamesHold(Command):
    def network(self, name):
        file = {"format": "plumbline.network/1", "name": name, "aliases": [name], "source": name, "note": name, "config": MODEL}
        return self.written("net.json", json.dumps(file))

    def machine(self, name):
        file = json.loads(run("machines", "dgx-h100", "--json").stdout)
        file["cluster"]["name"] = file["cluster"]["nodes"][0]["name"] = name
        file["cluster"]["nodes"][0]["device"]["name"] = file["cluster"]["fabric"]["name"] = name
        for level in file["cluster"]["fabric"]["levels"]:
            level["name"] = name
        file["cluster"]["nodes"][0]["host_memory"]["source"] = name
        return self.written("machine.json", json.dumps(file))

    def stack(self, name):
        file = {"format": "plumbline.stack/1", "name": name.replace("/", ""), "aliases": [name], "framework": name,
                "description": name, "like": "torchtitan-2024.12", "traits": {}}
        return self.written("stack.json", json.dumps(file))

    def answers(self, name):
        model, machine, stack = self.network(name), self.machine(name), self.stack(name)
        plan = self.folder / "plan.json"
        words = ["--model", model, "--machine", machine, "--stack", stack, "--gpus", 8, "--global-batch", 16]
        yield run("models", model)
        yield run("machines", machine)
        yield run("stacks", stack)
        yield run("models", model, "--graph", "dot")
        yield run("estimate", *words, "--pp", 3, "--dp", 1, "--tp", 2)  # a message
        yield run("estimate", *words, "--out", plan)
        yield run("search", *words)
        for verb in ("fit", "explain", "simulate"):
            yield run(verb, "--plan", plan)
        yield run("explain", "--plan", plan, "--against", plan)

    def test_no_control_character_reaches_the_terminal(self):
        for done in self.answers(HOSTILE):
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)
            self.assertEqual(controls(done.stdout + done.stderr), [], done.args)

    def test_tables_stay_within_a_hundred_columns(self):
        for name in ("a" * 90, "long words of a name " * 4, "\u4e2d\u6587" * 20):
            for done in self.answers(name):
                if "digraph" in done.stdout:
                    continue
                self.assertLessEqual(max(map(len, done.stdout.splitlines()), default=0), 100, (done.args, done.stdout))

    def test_messages_are_short(self):
        words = ["estimate", *QUESTION, "--stack"]
        file = {"format": "plumbline.stack/1", "name": "mine", "framework": "x", "description": "x", "like": "torchtitn",
                "traits": {}}
        for stack in ("megatron", "x" * 3000, self.written("stack.json", json.dumps(file))):
            self.refused([*words, stack], "plan stacks")
            self.assertLess(len(run(*words, stack).stderr), 400)

    def test_pictures_and_graphs_are_well_formed(self):
        model = self.folder / "nam\udce9<&"  # not UTF-8
        model.mkdir()
        (model / "config.json").write_text(json.dumps(MODEL))
        words = ["--model", model, "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 16, "--pp", 2]
        picture = self.folder / "step.svg"
        done = subprocess.run([command.PLAN, "simulate", *map(str, words), "--picture", picture], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done.stdout.decode("utf-8")
        xml.dom.minidom.parseString(picture.read_bytes())
        done = subprocess.run([command.PLAN, "simulate", *map(str, words), "--trace", self.folder / "t.json"],
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        json.loads((self.folder / "t.json").read_bytes().decode("utf-8"))
        dot = run("models", self.network('a"; node [label="x'), "--graph", "dot").stdout
        self.assertIn('a\\"; node [label=\\"x', dot)
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tcanon"], input=dot, text=True, check=True, capture_output=True)

    def test_a_report_is_markdown_that_holds(self):
        rows = {"format": "plumbline.rows/1", "name": "set | *of* <b>rows</b>",
                "rows": [{"id": "a | b `c` <i>", "model": "gpt2", "machine": "dgx-h100", "gpus": 8, "global_batch": 8,
                          "micro_batch": 1, "seq_len": 1024, "measured": {"step_time_s": 1.0}}]}
        report = self.folder / "report.md"
        done = run("validate", "--rows", self.written("rows.json", json.dumps(rows)), "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = report.read_text()
        self.assertNotIn("<b>", text)
        self.assertIn("\\| \\*of\\* \\<b\\>", text)
        self.assertNotIn("a | b", text)


if __name__ == "__main__":
    command.main()
