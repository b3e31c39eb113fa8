"""What the tests of executed plans share: a network that trains in milliseconds, its plans, and what a run left."""
import json
import pathlib

import command

TINY = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 256, "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 4,
        "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "hidden_act": "silu",
        "rope_theta": 10000.0}
# What no two runs have in common, and what says how it ran.
NOT_COMPARED = {"time_ns", "start_ns", "end_ns", "median_ns", "process_resident_bytes", "transport"}


class Training(command.Command):
    def plan_of(self, *strategy, gpus=4, model=None, sequence=32, batch=8, precision="fp32"):
        config = self.written("tiny.json", json.dumps({**TINY, **(model or {})}))
        path = self.folder / "plan.json"
        done = command.run("estimate", "--model", config, "--machine", "this-computer", "--gpus", gpus, "--seq-len",
                           sequence, "--global-batch", batch, "--precision", precision, *strategy, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def one_line(self, text, *says):
        """Exactly one line is the command's own; a launcher may add its words."""
        lines = [line for line in text.splitlines() if line.startswith("plan: ")]
        self.assertEqual(len(lines), 1, text)
        self.assertFalse(lines[0].startswith("plan: plan: "), text)
        for words in says:
            self.assertIn(words, lines[0])
        return lines[0]

    def same_files(self, one, other):
        one, other = self.folder / one, self.folder / other
        names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
        self.assertTrue(names)
        self.assertEqual(names, sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file()))
        for name in names:
            self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)


def losses(lines):
    """Of `plan run --json`; every digit counts."""
    return [(step["step"], step["loss"], step["gradient_norm"]) for step in map(json.loads, lines.splitlines())]


def facts(path):
    """A record without what no two runs have in common."""
    def of(value):
        if isinstance(value, dict):
            return {key: of(one) for key, one in value.items() if key not in NOT_COMPARED}
        return [of(one) for one in value] if isinstance(value, list) else value
    return of(json.loads(pathlib.Path(path).read_text()))


def latest_step(folder):
    """Of the complete checkpoints; 0 without one."""
    if not folder.is_dir():
        return 0
    return max((int(path.name[5:]) for path in folder.iterdir() if path.name[5:].isdigit()), default=0)
