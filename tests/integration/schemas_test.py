#!/usr/bin/env python3
"""The JSON Schema files against every file that ships, what the command writes, and what it refuses.

Usage: schemas_test.py <plan>. Skipped with a message where Python's jsonschema is not installed.
"""
import copy
import json
import pathlib
import re
import sys

import command
from command import QUESTION, Command, run

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
SCHEMA_OF = {"machine": "machine", "network": "network", "rows": "rows", "stack": "stack", "calibration": "calibration"}


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def validator(name):
    schema = read(MODELS / "schemas" / f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


VALIDATORS = {name: validator(name) for name in (*SCHEMA_OF.values(), "plan", "size", "fit-limits", "import")}


def faults(name, document):
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in VALIDATORS[name].iter_errors(document)]


def places(value, path=()):
    """Paths of all values of a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


class Schemas(Command):
    def test_every_file_that_ships_is_valid(self):
        counts = dict.fromkeys(SCHEMA_OF, 0)
        for path in sorted(MODELS.rglob("*.json")):
            document = read(path)
            kind = document.get("format", "").removeprefix("plumbline.").partition("/")[0]
            if kind not in SCHEMA_OF:
                continue
            counts[kind] += 1
            self.assertEqual(faults(SCHEMA_OF[kind], document), [], path)
        self.assertGreater(min(counts.values()), 10, counts)

    def test_the_schema_of_stacks_knows_every_feature_and_choice(self):
        page = (ROOT / "docs/stacks.md").read_text(encoding="utf-8")
        choices = {}
        for part in re.split(r"^## ", page, flags=re.MULTILINE):
            if named := re.match(r"`(\w+)`:", part):
                choices[named.group(1)] = re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)
        features = read(MODELS / "schemas/stack.schema.json")["properties"]["features"]["properties"]
        self.assertEqual({name: feature["properties"]["choice"]["enum"] for name, feature in features.items()}, choices)
        self.assertGreater(len(choices), 10)

    def test_plans_of_every_kind_are_valid(self):
        for words in (["--tp", 2, "--zero", 1], ["--pp", 2, "--schedule", "zbv", "--virtual-stages", 2, "--recompute", "full"],
                      ["--dp", 8, "--zero", 3, "--lora-rank", 8, "--tokens", "1T"],
                      ["--pp", 2, "--virtual-stages", 2, "--recompute", "optimal", "--optimizer-precision", "bf16"],
                      ["--cp", 2, "--zero", 2, "--precision", "fp16", "--optimizer", "sgd"],
                      ["--pp", 8, "--schedule", "dualpipev", "--virtual-stages", 2]):
            path = self.folder / "plan.json"
            done = run("estimate", *QUESTION, *words, "--json", "--out", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(faults("plan", json.loads(done.stdout)), [], words)
            self.assertEqual(faults("plan", read(path)), [], words)
            self.assertIn("launch", read(path))
        path = self.folder / "moe.json"
        done = run("estimate", "--model", "mixtral-8x7b", "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 64, "--tp", 2,
                   "--sequence-parallel", "on", "--ep", 2, "--etp", 2, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(faults("plan", read(path)), [])
        done = run("estimate", *QUESTION, "--tp", 2, "--ranks", "--json")
        self.assertEqual(faults("plan", json.loads(done.stdout)), [])
        for model, machine, offered in (("llama-3-8b", "dgx-h100", "changes"), ("llama-3.2-3b", "rtx4090-pcie", "remedies")):
            done = run("fit", "--model", model, "--machine", machine, "--gpus", 8 if offered == "changes" else 1, "--seq-len", 4096,
                       "--global-batch", 64, "--json")
            self.assertEqual(done.returncode, 1, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual(faults("plan", answer), [])
            self.assertGreater(len(answer["offers"][offered]), 0)
            path.write_text(done.stdout)
            self.assertEqual(run("estimate", "--plan", path).returncode, 0)

    def test_sizes_of_every_kind_are_valid(self):
        words = ["size", "--model", "llama-3-8b", "--machine", "dgx-h100", "--seq-len", 4096, "--global-batch", 64, "--tokens", "1T",
                 "--gpus", "1,8,16", "--fix", "tp=1,pp=1,cp=1"]
        for more, code in (([], 0), (["--days", 90, "--scaling", "both"], 0), (["--budget", 5], 1)):
            done = run(*words, *more, "--json")
            self.assertEqual(done.returncode, code, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual(faults("size", answer), [], more)
            self.assertEqual([row["run"] is None for row in answer["rows"] if row["devices"] == 1][:1], [True])
            for row in answer["rows"]:
                if row["plan"]:
                    self.assertEqual(faults("plan", row["plan"]), [])
            del answer["rows"][-1]["run"]["efficiency"]
            self.assertNotEqual(faults("size", answer), [])

    def test_the_most_that_fits_is_valid(self):
        words = ["fit", "--machine", "dgx-h100", "--gpus", 8, "--json"]
        for more in (["--model", "llama-3-8b", "--zero", 3], ["--family", "gpt2"], ["--model", "llama-3-70b", "--tp", 1],
                     ["--model", "resnet-50", "--dp", 8]):
            answer = json.loads(run(*words, *more).stdout)
            self.assertEqual(faults("fit-limits", answer), [], more)
            for limit in answer["limits"]:
                if limit["plan"]:
                    self.assertEqual(faults("plan", limit["plan"]), [])
            del answer["limits"][0]["kind"]
            self.assertNotEqual(faults("fit-limits", answer), [])

    def test_imported_launch_files_are_valid(self):
        for name in ("mixtral-8x7b", "sc21-figure-18", "deepseek-v3"):
            script = ROOT / "tests/data/launch/megatron-lm" / f"{name}.sh"
            answer = json.loads(run("import", script, "--from", "megatron-lm", "--gpus", 96, "--json").stdout)
            self.assertEqual(faults("import", answer), [], name)
            del answer["flags"]
            self.assertNotEqual(faults("import", answer), [])

    def test_what_the_command_refuses_of_a_plan_the_schema_refuses(self):
        plan = read(self.plan_file())
        broken = self.folder / "broken.json"
        checked = 0
        for path in list(places({key: plan[key] for key in ("machine", "training", "strategy")})):
            for change in ("drop", "rename", "text"):
                if not path or (len(path) == 1 and change == "text"):
                    continue
                document = copy.deepcopy(plan)
                parent, key = at(document, path[:-1]), path[-1]
                if not isinstance(parent, dict):
                    continue
                value = parent.pop(key)
                if change == "rename":
                    parent[key + "_of_mine"] = value
                if change == "text":
                    parent[key] = "no such value" if not isinstance(value, str) else 1
                broken.write_text(json.dumps(document))
                done = run("estimate", "--plan", broken)
                # Structure, as opposed to values that contradict each other.
                if any(word in done.stderr for word in ("missing", "unknown key", "found a")):
                    checked += 1
                    self.assertEqual(done.returncode, 2)
                    self.assertNotEqual(faults("plan", document), [], (path, change, done.stderr))
                if done.returncode == 0:
                    self.assertEqual(faults("plan", document), [], (path, change))
        self.assertGreater(checked, 40)

    def test_a_quantity_without_its_source_is_taken_by_both(self):
        document = {**read(MODELS / "machines" / "dgx-h100.json"), **read(MODELS / "machines" / "device-h100-sxm-80gb.json")}
        node = at(document, ("cluster", "nodes", 0))
        node.update(host_memory="2 TiB", host_power="3.5 kW")
        node["network"]["bandwidth"] = "400 Gb/s"
        document["cluster"]["price_usd_per_device_hour"] = 2.2
        self.assertEqual(faults("machine", document), [])
        words = ["estimate", *QUESTION]
        words[words.index("--machine") + 1] = self.written("own.json", json.dumps(document))
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_machine_with_a_mistake_is_refused_by_both(self):
        cluster = read(MODELS / "machines" / "dgx-h100.json")
        device = read(MODELS / "machines" / "device-h100-sxm-80gb.json")
        self.assertEqual(faults("machine", {**cluster, **device}), [])
        node = ("cluster", "nodes", 0)
        for path, key, value in (
                (node, "devices_per_node", 0), (node, "cpu_vendor", "cyrix"), (node, "gpus", 8), (node, "host_memory", "2"),
                ((*node, "interconnect"), "bandwidth", 450), ((*node, "network", "bandwidth"), "value", "400 gigs"),
                ((*node, "network", "bandwidth"), "kind", "guessed"), (("cluster",), "nodes", []),
                (("device",), "architecture", "pascal"), (("device", "memory"), "source", ""),
                (("device", "memory"), "date", "June"), (("device",), "peaks", {}), ((), "format", "plumbline.machine/9")):
            document = copy.deepcopy({**cluster, **device})
            at(document, path)[key] = value
            own = self.written("own.json", json.dumps(document))
            words = ["estimate", *QUESTION]
            words[words.index("--machine") + 1] = own
            with self.subTest(path=path, key=key):
                self.refused(words)
                self.assertNotEqual(faults("machine", document), [])


if __name__ == "__main__":
    command.main()
