#!/usr/bin/env python3
"""plan run --resume: under another plan, with other settings, from damaged files, alongside another run; and training that
diverges.

Usage: resume_test.py <plan>
"""
import json
import random
import shutil
import signal
import subprocess
import time

import command
from command import run
from training import Training, latest_step, losses

MOE = {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4,
       "num_experts_per_tok": 2}
GPT = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 36, "n_layer": 6, "n_head": 6,
       "n_positions": 128, "hidden_act": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
# fp32 sums in another order. An optimizer that divides by the root of a gradient that is almost nothing widens that.
TOLERANCE = 2e-4


class Resume(Training):
    def plans(self, *layouts, model=None, precision="fp32"):
        """A plan for each (name, ranks, flags)."""
        for name, ranks, flags in layouts:
            self.plan_of(*flags, gpus=ranks, model=model, batch=12, sequence=36, precision=precision).rename(
                self.folder / f"{name}.json")

    def trained(self, plan, *words):
        done = run("run", "--plan", f"{plan}.json", *words, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return losses(done.stdout)

    def close(self, one, other):
        self.assertEqual([step for step, _, _ in one], [step for step, _, _ in other])
        for (step, loss, _), (_, expected, _) in zip(one, other):
            self.assertLess(abs(loss - expected) / expected, TOLERANCE, (step, one, other))

    def test_another_layout_goes_on_with_the_same_losses(self):
        cases = [
            ({"num_attention_heads": 6, "num_key_value_heads": 6, "hidden_size": 36, "intermediate_size": 72,
              "vocab_size": 258},
             [("tp2", 2, ["--tp", 2]), ("one", 1, []), ("pp3", 6, ["--pp", 3, "--dp", 2, "--zero", 1]),
              ("tp3", 3, ["--tp", 3, "--sequence-parallel", "on"]), ("zero3", 4, ["--dp", 4, "--zero", 3]),
              ("cp3", 3, ["--cp", 3, "--zero", 2])]),
            (MOE, [("ep4", 4, ["--ep", 4]), ("ep2", 2, ["--ep", 2]), ("one", 1, [])]),
            (GPT, [("pp2", 2, ["--pp", 2]), ("dp3", 3, ["--dp", 3, "--zero", 1]), ("tp2", 4, ["--tp", 2, "--dp", 2])]),
            ({"num_attention_heads": 6, "num_key_value_heads": 6, "hidden_size": 36},
             [("tp2", 2, ["--tp", 2, "--lora-rank", 2]), ("dp3", 3, ["--dp", 3, "--lora-rank", 2])]),
        ]
        for model, layouts in cases:
            with self.subTest(model=model):
                model = {**model, "max_position_embeddings": 128}
                self.plans(*layouts, model=model)
                first = layouts[0][0]
                shutil.rmtree(self.folder / "state", ignore_errors=True)
                whole = self.trained(first, "--steps", 4, "--warmup-steps", 1)
                self.trained(first, "--steps", 2, "--schedule-steps", 4, "--warmup-steps", 1, "--checkpoint", "state")
                for name, _, _ in layouts[1:]:
                    self.close(self.trained(name, "--steps", 2, "--resume", "state"), whole[2:])
                self.assertEqual(self.trained(first, "--steps", 2, "--resume", "state"), whole[2:])

    def test_a_killed_run_of_four_ranks_goes_on_with_two(self):
        """The example of docs/running.md."""
        self.plans(("four", 4, ["--tp", 2, "--dp", 2, "--zero", 1]), ("two", 2, ["--dp", 2]))
        whole = self.trained("four", "--steps", 12)
        words = ["run", "--plan", "four.json", "--steps", 12, "--checkpoint", "state", "--checkpoint-every", 2]
        job = subprocess.Popen([command.PLAN, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=self.folder)
        while latest_step(self.folder / "state") < 4 and job.poll() is None:
            time.sleep(0.005)
        job.send_signal(signal.SIGKILL)
        job.wait()
        reached = latest_step(self.folder / "state")
        self.assertGreaterEqual(reached, 4)
        rest = 12 - reached
        if rest:
            self.close(self.trained("two", "--steps", rest, "--resume", "state", "--checkpoint", "state"), whole[reached:])
        self.assertEqual(latest_step(self.folder / "state"), 12)

    def test_weights_have_the_names_of_transformers(self):
        self.plans(("one", 1, []))
        self.trained("one", "--steps", 1, "--checkpoint", "state")
        step = self.folder / "state" / "step-00000001"
        self.assertEqual(sorted(path.name for path in step.iterdir()),
                         ["config.json", "manifest.json", "model.safetensors", "optimizer.safetensors"])
        self.assertEqual(json.loads((step / "config.json").read_text())["model_type"], "llama")
        content = (step / "model.safetensors").read_bytes()
        header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        self.assertEqual(header.pop("__metadata__"), {"format": "pt"})
        self.assertEqual(header["model.layers.7.self_attn.q_proj.weight"]["shape"], [32, 32])
        self.assertEqual(len(header), 8 * 9 + 3)

    def test_a_run_goes_on_with_what_it_was_begun_with(self):
        self.plans(("one", 1, []))
        self.written("corpus.txt", "to be or not to be, that is the question " * 100)
        chosen = ["--seed", 5, "--learning-rate", 0.01, "--lr-schedule", "wsd", "--clip", 0.5, "--data", "corpus.txt",
                  "--schedule-steps", 6, "--warmup-steps", 2]
        chosen += ["--init", "xavier", "--clip-value", 0.02]
        whole = self.trained("one", "--steps", 6, *chosen)
        self.trained("one", "--steps", 3, *chosen, "--checkpoint", "state")
        self.assertEqual(self.trained("one", "--steps", 3, "--resume", "state"), whole[3:])
        self.assertEqual(self.trained("one", "--steps", 3, *chosen, "--resume", "state"), whole[3:])

    def test_a_schedule_that_decays_goes_on_as_it_was_begun(self):
        self.plans(("one", 1, []))
        for shape in ("exponential", "step"):
            with self.subTest(shape=shape):
                shutil.rmtree(self.folder / "state", ignore_errors=True)
                chosen = ["--lr-schedule", shape, "--schedule-steps", 6, "--warmup-steps", 0, "--lr-decay", 0.7]
                whole = self.trained("one", "--steps", 4, *chosen)
                self.trained("one", "--steps", 2, *chosen, "--checkpoint", "state")
                self.assertEqual(self.trained("one", "--steps", 2, "--resume", "state"), whole[2:])
                words = ["run", "--plan", "one.json", "--resume", "state", "--steps", 1]
                self.refused([*words, "--lr-decay", 0.9], "was trained with lr-decay 0.7, not 0.9")
                self.trained("one", *words[3:], "--lr-schedule", "constant", "--override", "lr-schedule")

    def test_what_contradicts_is_refused_unless_it_is_overridden(self):
        self.plans(("one", 1, []))
        self.trained("one", "--steps", 2, "--checkpoint", "state")
        self.written("corpus.txt", "something else " * 100)
        words = ["run", "--plan", "one.json", "--resume", "state", "--steps", 1]
        for name, value in [("seed", 1), ("learning-rate", 0.1), ("lr-schedule", "constant"), ("schedule-steps", 9),
                            ("warmup-steps", 1), ("clip", 7), ("clip-value", 0.5), ("init", "he"), ("patience", 3), ("data", "corpus.txt")]:
            with self.subTest(name=name):
                more = [*words, f"--{name}", value]
                self.refused(more, f"step-00000002: was trained with {name} ", f"or --override {name}")
                self.refused([*more, "--override", "optimizer"], f"--override {name}")
                self.trained("one", *more[3:], "--override", f"optimizer,{name}")
        self.refused([*words, "--override", "learningrate"], "--override", "nearest: learning-rate")
        self.refused(["run", "--plan", "one.json", "--override", "seed"], "--override: is given without --resume")
        for name, flags in [("global-batch", {"batch": 24}), ("seq-len", {"sequence": 16}),
                            ("model", {"model": {"rope_theta": 5000.0}})]:
            with self.subTest(name=name):
                self.plan_of(gpus=1, **{"batch": 12, "sequence": 36, **flags})
                more = ["run", "--plan", "plan.json", "--resume", "state", "--steps", 1]
                self.refused(more, f"was trained with {name} ", f"or --override {name}")
                done = run(*more, "--override", name, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.plan_of("--optimizer", "lion", gpus=1, batch=12, sequence=36)
        self.refused(["run", "--plan", "plan.json", "--resume", "state"], "was trained with optimizer adamw, not lion")
        self.refused(["run", "--plan", "plan.json", "--resume", "state", "--override", "optimizer"], "tensor")

    def test_a_damaged_byte_anywhere_is_refused_with_the_file(self):
        self.plans(("two", 2, ["--tp", 2]))
        self.trained("two", "--steps", 1, "--checkpoint", "state")
        step = self.folder / "state" / "step-00000001"
        chance, damages = random.Random(11), 0
        for path in sorted(step.iterdir()):
            good = path.read_bytes()
            for place in {0, len(good) - 1, *(chance.randrange(len(good)) for _ in range(8))}:
                bad = bytearray(good)
                bad[place] ^= 1 << chance.randrange(8)
                path.write_bytes(bad)
                self.refused(["run", "--plan", "two.json", "--resume", "state", "--steps", 1, "--record", "m.json"],
                             path.name)
                damages += 1
            path.write_bytes(good)
        print(f"{damages} damaged bytes, {damages} refused")
        self.assertFalse((self.folder / "m.json").exists())
        self.trained("two", "--steps", 1, "--resume", "state")

    def test_a_changed_step_or_seed_is_refused(self):
        self.plans(("one", 1, []))
        self.trained("one", "--steps", 1, "--checkpoint", "state")
        manifest = self.folder / "state" / "step-00000001" / "manifest.json"
        good = manifest.read_text()
        for before, after in [('"step": 1', '"step": 7'), ('"seed": 0', '"seed": 3')]:
            manifest.write_text(good.replace(before, after))
            self.assertNotEqual(manifest.read_text(), good)
            self.refused(["run", "--plan", "one.json", "--resume", "state", "--steps", 1], "manifest.json: is damaged")

    def test_one_run_at_a_time_into_a_folder_and_leavings_are_removed(self):
        self.plans(("one", 1, []))
        leavings = self.folder / "state" / "step-00000077.partial"
        leavings.mkdir(parents=True)
        (leavings / "model.safetensors").write_text("half")
        words = ["run", "--plan", "one.json", "--steps", 10**6, "--checkpoint", "state"]
        job = subprocess.Popen([command.PLAN, *map(str, words), "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, cwd=self.folder)
        try:
            self.assertTrue(job.stdout.readline())
            self.assertFalse(leavings.exists())
            leavings.mkdir()
            self.refused([*words[:3], "--steps", 1, "--checkpoint", "state"], "state: another run writes", code=3)
            self.assertTrue(leavings.exists())
        finally:
            job.kill()
            job.communicate()
        self.trained("one", "--steps", 1, "--checkpoint", "state")
        self.assertFalse(leavings.exists())

    def test_training_that_diverges_stops_and_keeps_the_last_good_checkpoint(self):
        self.plans(("two", 4, ["--pp", 2, "--dp", 2]))
        words = ["run", "--plan", "two.json", "--steps", 60, "--learning-rate", 100, "--lr-schedule", "constant",
                 "--warmup-steps", 0, "--clip", 0, "--checkpoint", "state", "--checkpoint-every", 1]
        done = run(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        line = self.one_line(done.stderr, ": the training has diverged; the last good checkpoint is state/step-")
        self.assertRegex(line, r"rank \d \(stage \d\) at the optimizer step of step \d+ ")
        last = latest_step(self.folder / "state")
        self.assertIn(f"state/step-{last:08}", line)
        self.assertFalse(list((self.folder / "state").glob("*.partial")))
        self.trained("two", "--steps", 1, "--resume", "state/step-00000001", "--override", "learning-rate",
                     "--learning-rate", 0)


if __name__ == "__main__":
    command.main()
