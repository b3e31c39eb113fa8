#!/usr/bin/env python3
"""plan run and compare --track: what experiment trackers read is what the run was.

Usage: tracking_test.py <plan>
"""
import json

import command
import tracked_files
from command import run
from training import Training


class Tracking(Training):
    def run_tracked(self, steps, *more):
        plan = self.plan_of("--dp", 2, gpus=2)
        done = run("run", "--plan", plan, "--steps", steps, "--json", "--record", self.folder / "m.json", *more,
                   cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return plan, [json.loads(line) for line in done.stdout.splitlines()]

    def the_file(self, folder, pattern):
        files = list((self.folder / folder).glob(pattern))
        self.assertEqual(len(files), 1, files)
        return files[0]

    def test_tensorboard_has_every_step(self):
        _, steps = self.run_tracked(5, "--track", "tensorboard:tb")
        events = tracked_files.tensorboard(self.the_file("tb", "*/events.out.tfevents.*").read_bytes())
        self.assertEqual([step for step, _ in events[:5]], [1, 2, 3, 4, 5])
        for said, (_, numbers) in zip(steps, events):
            for name in ("loss", "gradient_norm", "learning_rate"):
                self.assertAlmostEqual(numbers[name], said[name], delta=1e-6 * abs(said[name]))
            self.assertGreater(numbers["tokens_per_second"], 0)
        summary = events[5][1]
        for name in ("predicted/step_time_s", "measured/step_time_s", "predicted/peak_memory_bytes"):
            self.assertGreater(summary[name], 0)

    def test_mlflow_has_parameters_and_every_step(self):
        _, steps = self.run_tracked(4, "--track", "mlflow:ml")
        meta = self.the_file("ml", "0/*/meta.yaml")
        self.assertIn("status: 3", meta.read_text())
        losses = tracked_files.mlflow_metric(meta.parent / "metrics" / "loss")
        self.assertEqual(losses, [(step["step"], step["loss"]) for step in steps])
        self.assertEqual((meta.parent / "params" / "ranks").read_text(), "2")
        self.assertEqual((meta.parent / "params" / "optimizer").read_text(), "adamw")
        begin, end = (int(next(line for line in meta.read_text().splitlines() if line.startswith(key)).split()[1])
                      for key in ("start_time:", "end_time:"))
        self.assertLessEqual(begin, end)

    def test_wandb_has_config_history_and_summary(self):
        # As many steps as need several blocks of the log.
        _, steps = self.run_tracked(300, "--track", "wandb:wb")
        path = self.the_file("wb", "offline-run-*/run-*.wandb")
        self.assertGreater(path.stat().st_size, 65536)
        records = tracked_files.wandb(path.read_bytes())
        self.assertEqual([tracked_files.of(record, 1)[0] for record in records], list(range(1, len(records) + 1)))
        started = tracked_files.of(records[1], 17)[0]
        config = {tracked_files.of(item, 1)[0]: json.loads(tracked_files.of(item, 16)[0])
                  for item in tracked_files.of(tracked_files.of(started, 4)[0], 1)}
        self.assertEqual(config[b"ranks"], "2")
        history = [tracked_files.of(record, 2)[0] for record in records if tracked_files.of(record, 2)]
        self.assertEqual(len(history), 300)
        for said, row in zip(steps, history):
            numbers = {tracked_files.of(item, 2)[0]: json.loads(tracked_files.of(item, 16)[0])
                       for item in tracked_files.of(row, 1)}
            self.assertEqual((numbers[b"_step"], numbers[b"loss"]), (said["step"], said["loss"]))
        summary = [tracked_files.of(record, 3)[0] for record in records if tracked_files.of(record, 3)]
        self.assertEqual(len(summary), 1)
        self.assertTrue(tracked_files.of(records[-2], 18))

    def test_compare_adds_both_sides_of_memory_and_wire(self):
        plan, _ = self.run_tracked(4)
        words = ["compare", "--plan", plan, "--measured", self.folder / "m.json", "--json"]
        for _ in range(2):  # the same record is the same run
            done = run(*words, "--track", "mlflow:ml", "--track", "tensorboard:tb", cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        metrics = self.the_file("ml", "0/*/meta.yaml").parent / "metrics"
        lines = {(line["stage"], line["class"]): line for line in answer["memory"]}
        for (stage, name), line in lines.items():
            for side in ("predicted", "measured"):
                value = tracked_files.mlflow_metric(metrics / side / "memory_bytes" / f"stage_{stage}" / name)[0][1]
                self.assertEqual(value, line[f"{side}_bytes"])
        self.the_file("tb", "*/events.out.tfevents.*")

    def test_mistakes_are_said_before_any_work(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        (self.folder / "file").write_text("mine")
        for value, says in [("tensorbord:x", "nearest: tensorboard"), ("mlflow", "names no folder"),
                            ("wandb:", "names no folder"), ("mlflow:file", "--track")]:
            done = run("run", "--plan", plan, "--steps", 1, "--track", value, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.one_line(done.stderr, "--track", says)
        self.assertEqual((self.folder / "file").read_text(), "mine")


if __name__ == "__main__":
    command.main()
