#!/usr/bin/env python3
"""The recipe of a plan file: a run obeys every key, or refuses it in one line.

Usage: recipe_test.py <plan>.
"""
import json

import command
from command import run
from training import Training, losses

LONG = "the quick brown fox jumps over the lazy dog " * 40


class RecipeTest(Training):
    def run_with(self, plan, *flags, **recipe):
        document = json.loads(plan.read_text())
        document["recipe"].update(recipe)
        path = self.written("edited.json", json.dumps(document))
        return run("run", "--plan", path, "--generate", 0, "--json", *flags, cwd=self.folder)

    def trained(self, plan, *flags, **recipe):
        done = self.run_with(plan, *flags, **recipe)
        self.assertEqual(done.returncode, 0, done.stderr)
        return losses(done.stdout)

    def test_every_key_is_obeyed(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        self.written("text.txt", LONG)
        (self.folder / "numbers").write_bytes(bytes([1, 0, 2, 0, 3, 0]) * 800)
        usual = self.trained(plan, "--steps", 3)
        for recipe in ({"seed": 4}, {"learning_rate": 0.01}, {"lr_schedule": "constant"}, {"lr_schedule": "linear"},
                       {"final_learning_rate": 0.0005}, {"schedule_steps": 30},
                       {"warmup_steps": 2}, {"lr_schedule": "step", "lr_decay": 0.5, "lr_decay_every": 1}, {"clip": 0.01},
                       {"clip_value": 1e-5}, {"beta1": 0.1}, {"beta2": 0.1}, {"epsilon": 0.1}, {"weight_decay": 10},
                       {"init": "xavier"}, {"data": "text.txt"}, {"data": "numbers", "data_format": "u16"}, {"held_out": 0.5}):
            with self.subTest(recipe=recipe):
                changed = self.trained(plan, "--steps", 3, **recipe)
                self.assertEqual(len(changed), 3)
                self.assertNotEqual(changed, usual)
        self.assertEqual(len(self.trained(plan, steps=2)), 2)
        self.trained(plan, steps=2, checkpoint="state", checkpoint_every=1)
        self.assertEqual(len([p for p in (self.folder / "state").iterdir() if p.name.startswith("step-")]), 2)

    def test_what_is_written_is_the_default(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        document = json.loads(plan.read_text())
        del document["recipe"]
        bare = self.written("bare.json", json.dumps(document))
        done = run("run", "--plan", bare, "--generate", 0, "--json", "--steps", 3)
        self.assertEqual(losses(done.stdout), self.trained(plan, "--steps", 3))

    def test_a_flag_goes_before_the_recipe(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        usual = self.trained(plan, "--steps", 3)
        self.assertEqual(self.trained(plan, "--steps", 3, "--seed", 0, "--clip", 1, seed=4, clip=0.01, steps=9), usual)
        self.assertEqual(self.trained(plan, "--steps", 3, "--lr-schedule", "cosine", lr_schedule="step", lr_decay=0.1), usual)

    def test_loss_scaling_is_obeyed(self):
        plan = self.plan_of("--dp", 2, gpus=2, precision="fp16")
        usual = self.trained(plan, "--steps", 3)
        scale = {"initial": 2.0, "smallest": 1.0, "largest": 2.0, "growth_interval": 1}
        self.assertNotEqual(self.trained(plan, "--steps", 3, loss_scale=scale), usual)

    def test_scales_of_fp8_products_are_obeyed_and_continued(self):
        wide = {"hidden_size": 256, "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 4}
        plan = self.plan_of(gpus=1, model=wide, precision="fp8")
        usual = self.trained(plan, "--steps", 2)
        self.assertEqual(self.trained(plan, "--steps", 2, fp8_scaling="tensor"), usual)
        rows = self.trained(plan, "--steps", 2, "--schedule-steps", 4, "--checkpoint", "state", fp8_scaling="row")
        self.assertNotEqual(rows, self.trained(plan, "--steps", 2, "--schedule-steps", 4))
        whole = self.trained(plan, "--steps", 4, fp8_scaling="row")
        goes_on = self.trained(plan, "--steps", 2, "--resume", "state")
        self.assertEqual([rows, goes_on], [whole[:2], whole[2:]])
        done = self.run_with(plan, "--steps", 1, "--resume", "state", "--fp8-scaling", "tensor")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.one_line(done.stderr, "was trained with fp8-scaling row, not tensor; expected row, or --override fp8-scaling")
        bf16 = self.plan_of(gpus=1, model=wide, precision="bf16")
        self.assertNotIn("fp8_scaling", json.loads(bf16.read_text())["recipe"])
        self.one_line(self.run_with(bf16, "--steps", 1, fp8_scaling="row").stderr, "the plan's precision is bf16; expected a plan of fp8")

    def test_what_cannot_be_obeyed_is_refused(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        for recipe, says in (({"learning_rate": -1}, "/recipe/learning_rate"), ({"learning_rate": "fast"}, "/recipe/learning_rate"),
                             ({"steps": 0}, "/recipe/steps"), ({"momentum": 0.5}, "/recipe/momentum"), ({"lr": 1}, "/recipe/lr"),
                             ({"loss_scale": {}}, "/recipe/loss_scale"), ({"lr_schedule": "cosy"}, "cosy"),
                             ({"lr_decay": 0.5}, "lr-decay"),
                             ({"lr_schedule": "constant", "final_learning_rate": 0}, "final-learning-rate"), ({"data_format": "u16"}, "data-format"),
                             ({"checkpoint_every": 5}, "checkpoint-every"), ({"expert_routing": "learned"}, "no experts"),
                             ({"init": "lucky"}, "lucky"), ({"data": "nowhere.txt"}, "nowhere.txt")):
            with self.subTest(recipe=recipe):
                done = self.run_with(plan, "--steps", 1, **recipe)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.one_line(done.stderr, says)

    def test_verbs_that_write_a_plan_keep_its_recipe(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        document = json.loads(plan.read_text())
        document["recipe"]["learning_rate"] = 0.25
        path, again = self.written("edited.json", json.dumps(document)), self.folder / "again.json"
        for verb in ("estimate", "simulate", "explain"):
            done = run(verb, "--plan", path, "--out", again)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(again.read_text())["recipe"], document["recipe"])


if __name__ == "__main__":
    command.main()
