#!/usr/bin/env python3
"""The verb simulate: its JSON, orders of one's own, stages of other speeds, traces and pictures.

Usage: simulate_test.py <plan>
"""
import json
from xml.etree import ElementTree

import command
from command import Command, run
from trace_format import check_trace

PIPELINE = ["--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", "16", "--seq-len", "4096", "--global-batch", "32",
            "--tp", "2", "--pp", "4", "--zero", "1"]


class Simulate(Command):
    def test_simulation_equals_the_closed_form_without_interleaving(self):
        path = self.plan_file()
        trace, order = self.folder / "trace.json", self.folder / "order.csv"
        done = run("simulate", "--plan", path, "--json", "--trace", trace, "--schedule-csv", order)
        self.assertEqual(done.returncode, 0, done.stderr)
        simulated, priced = json.loads(done.stdout), json.loads(path.read_text())["prediction"]
        self.assertAlmostEqual(sum(simulated["time"].values()), simulated["step_time_s"], places=9)
        self.assertAlmostEqual(simulated["step_time_s"], priced["step_time_s"]["expected"], places=9)
        self.assertEqual(simulated["stage_peak_memory_bytes"], priced["stage_peak_memory_bytes"])
        self.assertEqual(simulated["peak_memory_bytes"], priced["peak_memory_bytes"])
        self.assertGreater(simulated["actions"], 0)
        check_trace(self, trace)
        self.assertTrue(order.read_text().startswith("0F0,0B0"))

    def test_traces_keep_the_format(self):
        path = self.folder / "trace.json"
        for words in ([], ["--schedule", "gpipe"], ["--schedule", "interleaved", "--virtual-stages", 4],
                      ["--schedule", "zb-h1", "--by-block"], ["--schedule", "dualpipev", "--virtual-stages", 2]):
            done = run("simulate", *PIPELINE, *words, "--trace", path, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            events = check_trace(self, path)
            micro_batches = len({e["args"]["micro_batch"] for e in events["X"] if "micro_batch" in e["args"]})
            chunks = {(e["pid"], e["name"].split(" part ")[0]) for e in events["X"] if e["cat"] == "forward"}
            boundaries = len(chunks) // micro_batches - 1
            if "dualpipev" in words:
                boundaries -= 1  # the V turns round on the last rank
            self.assertEqual(len(events["s"]), 2 * boundaries * micro_batches, words)

    def test_an_order_that_is_written_and_read_back_is_the_same_simulation(self):
        order, again = self.folder / "order.csv", self.folder / "again.csv"
        for words in (["--schedule", "interleaved", "--virtual-stages", 2], ["--schedule", "zb-h1"]):
            own = run("simulate", *PIPELINE, *words, "--schedule-csv", order, "--json")
            read = run("simulate", *PIPELINE, *words, "--order-csv", order, "--schedule-csv", again, "--json")
            self.assertEqual((own.returncode, read.returncode), (0, 0), own.stderr + read.stderr)
            own, read = json.loads(own.stdout), json.loads(read.stdout)
            self.assertEqual((own.pop("order_csv"), read.pop("order_csv")), (None, str(order)))
            self.assertEqual(own, read)
            self.assertEqual(order.read_bytes(), again.read_bytes())

    def test_a_million_micro_batches_are_simulated_as_a_few(self):
        trace, picture = self.folder / "trace.json", self.folder / "step.svg"
        long = ["--model", "gpt2", "--machine", "dgx-h100", "--gpus", 4, "--pp", 4, "--seq-len", 1024,
                "--global-batch", 1_000_000]
        for words in ([], ["--schedule", "zbv", "--virtual-stages", 2]):
            done = run("simulate", *long, *words, "--json", "--trace", trace, "--picture", picture)
            self.assertEqual(done.returncode, 0, done.stderr)
            simulated = json.loads(done.stdout)
            self.assertGreater(simulated["micro_batches_left_out"], 990_000)
            self.assertGreater(simulated["actions"], 10_000_000)
            # Both round to a picosecond for each micro-batch, of which each takes more than a millisecond.
            self.assertAlmostEqual(simulated["step_time_s"] / simulated["closed_form_step_time_s"], 1, delta=1e-9)
            self.assertAlmostEqual(sum(simulated["time"].values()) / simulated["step_time_s"], 1, places=9)
            self.assertLess(len(check_trace(self, trace)["X"]), simulated["actions"] / 100)
            left_out = f"{simulated['micro_batches_left_out']} micro-batches like those before"
            self.assertIn(left_out, trace.read_text())
            self.assertIn(left_out, picture.read_text())
        self.assertEqual(run("simulate", *PIPELINE, "--json").returncode, 0)
        self.assertEqual(json.loads(run("simulate", *PIPELINE, "--json").stdout)["micro_batches_left_out"], 0)

    def test_an_order_of_ones_own_is_simulated(self):
        order = self.folder / "order.csv"
        gpipe = run("simulate", *PIPELINE, "--schedule", "gpipe", "--schedule-csv", order, "--json")
        brought = run("simulate", *PIPELINE, "--schedule", "1f1b", "--order-csv", order, "--json")
        gpipe, brought = json.loads(gpipe.stdout), json.loads(brought.stdout)
        for key in ("step_time_s", "stage_peak_memory_bytes", "stages"):
            self.assertEqual(gpipe[key], brought[key])
        self.assertEqual(brought["schedule"], "1f1b")
        text = run("simulate", *PIPELINE, "--schedule", "1f1b", "--order-csv", order).stdout
        self.assertIn(f"order of {order}", text)
        self.assertIn("closed form of schedule 1f1b", text)

    def test_orders_that_do_not_belong_are_refused(self):
        simulate = ["simulate", *PIPELINE, "--schedule", "1f1b", "--order-csv"]
        self.refused([*simulate, "none.csv"], "none.csv: no such file; expected a pipeline schedule as CSV")
        self.refused([*simulate, self.written("rows.csv", "0F0,0B0\n1F0,1B0\n")], "rows.csv:2:1: 2 rows in the file",
                     "expected 4 pipeline ranks, a row each")
        rows = [",".join(f"{r}F{m},{r}B{m}" for m in range(16)) for r in range(4)]
        self.refused([*simulate, self.written("stage.csv", "\n".join(rows).replace("2B3", "4B3"))],
                     "stage.csv:3:29: stage 4; expected below 4")
        self.refused([*simulate, self.written("micro.csv", "\n".join(rows).replace("0F15", "0F16"))], "micro-batch 16",
                     "expected below 16")
        self.refused([*simulate, self.written("rank.csv", "\n".join(rows[::-1]))], "rank.csv:1:1: stage 3 on rank 0")
        rows[2] = ",".join(reversed(rows[2].split(",")))
        self.refused([*simulate, self.written("wait.csv", "\n".join(rows))], "wait.csv:3:1: rank 2 waits at backward 15 for",
                     "rank 3, which waits at forward 0 for forward 0 of rank 2")

    def test_stages_of_other_speeds(self):
        simulate = ["simulate", *PIPELINE, "--schedule", "1f1b"]
        priced = json.loads(run(*simulate, "--json").stdout)
        self.assertEqual((priced["stage_speed"], priced["step_time_at_speed_1_s"]), (None, None))
        slow = json.loads(run(*simulate, "--stage-speed", "3=0.8,1=0.5", "--json").stdout)
        self.assertEqual(slow["stage_speed"], [1, 0.5, 1, 0.8])
        self.assertEqual(slow["step_time_at_speed_1_s"], priced["step_time_s"])
        self.assertGreater(slow["step_time_s"], max(priced["step_time_s"], sum(slow["stages"][1]["busy_s"].values())))
        self.assertLess(slow["step_time_s"], 2 * priced["step_time_s"])  # as if all stages were at half speed
        self.assertAlmostEqual(slow["stages"][1]["busy_s"]["compute"], 2 * priced["stages"][1]["busy_s"]["compute"])
        self.assertIn("all stages at speed 1: ", run(*simulate, "--stage-speed", "1=0.5").stdout)
        for text, says in (("4=0.5", "a pipeline stage from 0 to 3"), ("1", "STAGE=SPEED"), ("1=0", "from 0.01 to 100"),
                           ("1=-2", "from 0.01"), ("1=nan", "from 0.01"), ("1=2x", "from 0.01"), ("1=2,1=3", "each stage once"),
                           ("1=2,", "parts apart by commas"), ("x=2", "a pipeline stage")):
            self.refused([*simulate, "--stage-speed", text], "--stage-speed", says)

    def test_the_json_says_what_each_stage_did_and_held(self):
        simulated = json.loads(run("simulate", *PIPELINE, "--schedule", "interleaved", "--virtual-stages", 2, "--json").stdout)
        self.assertEqual(len(simulated["stages"]), 4)
        overhead = simulated["time"]["step_overhead"]
        for stage, (report, peak, idle) in enumerate(
                zip(simulated["stages"], simulated["stage_peak_memory_bytes"], simulated["stage_idle_s"])):
            self.assertEqual(report["idle_s"], idle)
            self.assertAlmostEqual(sum(report["busy_s"].values()) + idle + overhead, simulated["step_time_s"], places=9)
            self.assertEqual((report["peak"]["stage"], report["peak"]["bytes"]), (stage, peak))
            self.assertEqual(sum(report["peak"]["memory"].values()), peak)
            self.assertTrue(0 <= report["peak"]["at_s"] < simulated["step_time_s"])
            sizes = [buffer["bytes"] for buffer in report["peak"]["largest_buffers"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            self.assertLessEqual(sum(sizes), peak)
        self.assertEqual(simulated["peak"], simulated["stages"][simulated["heaviest_stage"]]["peak"])
        self.assertEqual(simulated["peak"]["bytes"], simulated["peak_memory_bytes"])
        self.assertTrue(any(buffer["class"] == "activations" and buffer["micro_batch"] is not None
                            for buffer in simulated["peak"]["largest_buffers"]))

    def test_a_picture_is_drawn(self):
        path = self.folder / "step.svg"
        done = run("simulate", *PIPELINE, "--schedule", "zb-h1", "--picture", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = [element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
        for expected in ("llama-3-8b on 16 x H100-SXM-80GB", "stage 0", "stage 3", "time in the step, ms", "weight gradient"):
            self.assertIn(expected, words)
        drawn = path.read_bytes()
        run("simulate", *PIPELINE, "--schedule", "zb-h1", "--picture", path)
        self.assertEqual(path.read_bytes(), drawn)


if __name__ == "__main__":
    command.main()
