#!/usr/bin/env python3
"""The command as people meet it: exit codes, one clear line per mistake, JSON that keeps its contract, Ctrl-C.

Usage: cli_test.py <plan>
"""
import json
import os
import re
import signal
import subprocess
import time

import command
from command import QUESTION, Command, run

STRATEGY_KEYS = {"data_parallel", "tensor_parallel", "sequence_parallel", "pipeline_stages", "virtual_stages",
                 "context_parallel", "expert_parallel", "zero_stage", "shard_group", "schedule", "micro_batch",
                 "micro_batches", "recompute", "split", "layers_per_stage", "precision", "optimizer", "flash_attention"}
PREDICTION_KEYS = {"step_time_s", "tokens_per_s_per_gpu", "mfu", "hfu", "peak_memory_bytes", "peak_memory_interval_bytes", "stage_peak_memory_bytes",
                   "memory", "time", "bubble_fraction", "communication"}
PLAN_KEYS = {"format", "model", "machine", "training", "strategy", "layout", "prediction", "verdict", "provenance"}


class Mistakes(Command):
    def test_verbs_and_flags(self):
        self.refused([], "no verb")
        self.refused(["serch"], "serch: unknown verb; expected one of", "nearest: search")
        self.refused(["--vers"], "nearest: --version")
        self.refused(["fit", "--gpu", "8"], "--gpu: unknown flag of plan fit; nearest: --gpus")
        self.refused(["fit", "stray"], "stray: unexpected argument")
        self.refused(["fit", "--gpus"], "--gpus: its value is missing")
        self.refused(["estimate", "--model", "gpt2", "--machine", "dgx-h100"], "--global-batch: is missing")
        self.refused(["fit", "--machine", "dgx-h100"], "--model: is missing", "--family")
        self.refused(["fit", *QUESTION, "--family", "llama"], "--family: is asked about without --global-batch")
        self.refused(["fit", *QUESTION[:-2], "--family", "lama"], "--family: ", "nearest: codellama, llama")
        self.refused(["fit", *QUESTION[:-2], "--out", "plan.json"], "--out: there is no one plan to write")

    def test_names_with_typos_get_the_nearest(self):
        self.refused(["fit", "--model", "lama-3-8b", "--machine", "dgx-h100", "--global-batch", 8], "nearest: llama-3-8b")
        self.refused(["fit", "--model", "gpt2", "--machine", "dgx-h10", "--global-batch", 8], "nearest: dgx-h100")
        self.refused(["models", "gtp2"], "nearest: gpt2")
        self.refused(["fit", *QUESTION, "--optimizer", "adamv"], "--optimizer", "nearest: adam, adamw")
        self.refused(["fit", *QUESTION, "--recompute", "ful"], "nearest: full")
        self.refused(["fit", *QUESTION, "--schedule", "1f1"], "nearest: 1f1b")
        self.refused(["fit", *QUESTION, "--precision", "bf61"], "nearest: bf16")

    def test_formats_without_units_are_refused(self):
        words = ["--model", "llama-3-8b", "--gpus", 8, "--global-batch", 64]
        for verb in ("fit", "estimate", "simulate", "explain", "search"):
            self.refused([verb, *words, "--machine", "dgx-a100-80g", "--precision", "fp8"],
                         "--precision: fp8 multiplies in fp8_e4m3, for which A100-SXM-80GB has no units",
                         "expected one of fp32, tf32, fp16, bf16, bf16-pure, fp16-pure; nearest: bf16")
            self.refused([verb, *words, "--machine", "dgx-h100", "--precision", "nvfp4"], "fp4", "H100-SXM-80GB")
        self.refused(["search", *words, "--machine", "dgx1-v100", "--precision", "fp16,fp8"], "--precision: fp8 ",
                     "one of fp32, fp16, fp16-pure; nearest: fp16")
        self.assertEqual(run("estimate", *words, "--machine", "dgx-h100", "--precision", "fp8").returncode, 0)
        self.assertEqual(run("estimate", "--model", "nano-llama", "--machine", "this-computer", "--gpus", 1,
                             "--global-batch", 2, "--precision", "fp8").returncode, 0)
        self.refused(["search", *QUESTION, "--objective", "tim"], "nearest: time")
        self.refused(["search", *QUESTION, "--fix", "tpp=2"], "nearest: tp, pp")
        self.refused(["search", *QUESTION, "--fix", "tp=8,tp=4"], "--fix: names tp twice", "its values apart by |")
        for flag in ("--stack", "--flash-attention", "--recompute", "--machine", "--for", "--fix"):
            self.refused(["search" if flag in ("--for", "--fix") else "estimate", *QUESTION, flag, ""],
                         f"{flag}: its value is empty; expected a value")
        done = run("estimate", *QUESTION, "--tp", 2, "--sequence-parallel", "--prefetch", "--zero", 3)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_absurd_numbers(self):
        for flag, value in [("--gpus", "0"), ("--gpus", "-5"), ("--gpus", "99999999999"), ("--gpus", "1e300"),
                            ("--gpus", "nan"), ("--gpus", ""), ("--seq-len", "0"), ("--global-batch", "-1"),
                            ("--tokens", "0"), ("--tokens", "1e30"), ("--tp", "0"), ("--tp", "2.5"), ("--zero", "4"),
                            ("--micro-batch", "x"), ("--lora-rank", "-1")]:
            self.refused(["fit", *QUESTION, flag, value], flag + ": ")
        self.refused(["search", *QUESTION, "--top", "0"], "--top")
        self.refused(["search", *QUESTION, "--time-limit", "30"], "--time-limit", "has no unit")
        self.refused(["fit", *QUESTION, "--tp", 9999999, "--pp", 9999999, "--cp", 9999999], "strategy")

    def test_strategies_that_do_not_multiply_up(self):
        self.refused(["fit", *QUESTION, "--tp", 3], "tp x cp x pp = 3 does not divide 8 GPUs")
        self.refused(["fit", *QUESTION, "--tp", 2, "--dp", 2], "R01")
        self.refused(["fit", *QUESTION, "--micro-batch", 7], "global batch")
        self.refused(["fit", *QUESTION, "--freeze", "layers:0-99"], "frozen layers")

    def test_layers_by_hand_that_do_not_add_up(self):
        self.refused(["fit", *QUESTION, "--pp", 2, "--layers-per-stage", "16,17"], "R19", "sum to 33, not 32")
        self.refused(["fit", *QUESTION, "--pp", 2, "--layers-per-stage", "32"], "R19", "1 numbers for 2 chunks")
        self.refused(["fit", *QUESTION, "--pp", 2, "--layers-per-stage", "16,"], "--layers-per-stage")
        self.refused(["fit", *QUESTION, "--pp", 2, "--layers-per-stage", "16,-16"], "--layers-per-stage")
        self.refused(["fit", *QUESTION, "--pp", 2, "--split", "balancd"], "nearest: balanced")
        self.refused(["fit", *QUESTION, "--pp", 2, "--schedule", "gpipe", "--split", "balanced"], "R19")

    def test_files(self):
        self.refused(["fit", "--plan", "none.json"], "none.json: no such file")
        self.refused(["fit", "--plan", self.written("cut.json", '{"format": "plumbline.pl')], "cut.json", "not valid JSON")
        self.refused(["fit", "--plan", self.written("deep.json", "[" * 100000)], "nested deeper than 64 levels")
        self.refused(["fit", "--plan", self.written("empty.json", "")], "not valid JSON")
        self.refused(["fit", "--plan", self.folder], "not a regular file")
        huge = self.folder / "huge.json"
        with open(huge, "wb") as file:
            file.truncate(2 << 30)
        for words in (["fit", "--plan", huge], ["models", huge], ["machines", huge]):
            self.refused(words, "file of 2048 MiB; expected at most 64 MiB")

    def test_plan_files_are_read_strictly(self):
        good = json.loads(self.plan_file().read_text())
        for pointer, change, says in [
                ("/strategy/tensor_paralel", lambda p: p["strategy"].update(tensor_paralel=2), "nearest: tensor_parallel"),
                ("/strategy/data_parallel", lambda p: p["strategy"].update(data_parallel=-1), "expected a whole number"),
                ("/strategy", lambda p: p["strategy"].pop("zero_stage"), 'key "zero_stage" is missing'),
                ("/format", lambda p: p.update(format="other/1"), "plumbline.plan/1"),
                ("/training/global_batch", lambda p: p["training"].update(global_batch="64"), "found a string")]:
            plan = json.loads(json.dumps(good))
            change(plan)
            self.refused(["fit", "--plan", self.written("bad.json", json.dumps(plan))], "bad.json:" + pointer + ": ", says)
        self.refused(["fit", "--plan", self.plan_file(), "--tp", "2"], "--tp: cannot be combined with --plan")
        good["strategy"]["data_parallel"] = 8
        good["strategy"]["micro_batches"] = 8
        self.refused(["fit", "--plan", self.written("bad.json", json.dumps(good))], "R01")

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        self.refused(["estimate", *QUESTION, "--out", self.folder / "no" / "plan.json"], "there is no folder")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_standard_output_that_is_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([command.PLAN, "models"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)


class Answers(Command):
    def check_plan(self, plan):
        self.assertLessEqual(PLAN_KEYS, plan.keys())
        self.assertEqual(plan["format"], "plumbline.plan/1")
        self.assertLessEqual(STRATEGY_KEYS, plan["strategy"].keys())
        prediction = plan["prediction"]
        self.assertLessEqual(PREDICTION_KEYS, prediction.keys())
        step = prediction["step_time_s"]
        self.assertLessEqual(step["low"], step["expected"])
        self.assertLessEqual(step["expected"], step["high"])
        self.assertAlmostEqual(sum(prediction["time"].values()) / step["expected"], 1, delta=1e-12)
        peaks = prediction["stage_peak_memory_bytes"]
        self.assertEqual(prediction["peak_memory_bytes"], max(peaks))
        self.assertEqual([sum(stage.values()) for stage in prediction["memory"]], peaks)
        self.assertEqual(len(plan["layout"]["stages"]), plan["strategy"]["pipeline_stages"])
        for group in plan["layout"]["groups"].values():
            self.assertEqual(group["size"] * group["count"], plan["machine"]["devices"])
        self.assertIn(plan["verdict"]["fits"], (True, False))

    def test_version_and_help(self):
        first, *built = run("--version").stdout.splitlines()
        self.assertRegex(first, r"^plan \d+\.\d+\.\d+$")
        facts = dict(re.split(r"  +", line, maxsplit=1) for line in built)
        self.assertEqual(set(facts), {"commit", "compiler", "matrix products", "allocator", "MPI", "CUDA and NCCL", "window"})
        self.assertRegex(facts["commit"], r"^[0-9a-f]{12}(, with changes)?$|^unknown: ")
        self.assertEqual(facts["MPI"] == "built in", json.loads(run("doctor", "--json").stdout)["launch"]["built_with_mpi"])
        self.assertIn("Verbs:", run("--help").stdout)
        for verb in ("search", "fit", "estimate", "size", "simulate", "explain", "models", "machines", "stacks", "export", "import",
                     "doctor", "completion", "man"):
            done = run(verb, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Example:\n  plan " if verb != "completion" else "Example:", done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100, verb)

    def test_fit_without_a_batch_says_the_most_that_fits(self):
        words = ["fit", *QUESTION[:-2], "--zero", 3, "--json"]
        limits = {limit["kind"]: limit for limit in json.loads(run(*words).stdout)["limits"]}
        for kind, flag, devices in (("micro_batch", "--micro-batch", 8), ("sequence_length", "--seq-len", 8)):
            for part, fits in (("value", True), ("beyond", False)):
                value = limits[kind]["value"] if part == "value" else limits[kind]["beyond"]["value"]
                micro_batch = value if kind == "micro_batch" else 1
                again = [word for word in QUESTION[:-2] if flag != "--seq-len" or word not in ("--seq-len", "4096")]
                again += [flag, value, "--global-batch", 2 * devices * micro_batch, "--zero", 3, "--json"]
                plan = json.loads(run("fit", *again).stdout)
                self.assertEqual(plan["verdict"]["fits"], fits, (kind, part))
        tight = json.loads(run(*words, "--headroom", "20%").stdout)["limits"][0]
        self.assertLess(tight["value"], limits["micro_batch"]["value"])
        none = run("fit", "--model", "llama-3.1-405b", "--machine", "rtx4090-pcie", "--gpus", 1, "--tp", 1)
        self.assertIn("none", none.stdout)

    def test_fit_says_yes_and_no(self):
        yes = run("fit", *QUESTION, "--tp", 2, "--zero", 1, "--json")
        self.assertEqual(yes.returncode, 0, yes.stderr)
        self.check_plan(json.loads(yes.stdout))
        no = run("fit", *QUESTION)
        self.assertEqual(no.returncode, 1, no.stderr)
        self.assertIn("does not fit", no.stdout)
        self.assertIn("The cheapest changes that make it fit", no.stdout)
        self.assertEqual(run("estimate", *QUESTION).returncode, 0)

    def test_a_plan_file_prices_to_itself(self):
        path = self.plan_file()
        again = self.folder / "again.json"
        self.assertEqual(run("fit", "--plan", path, "--out", again).returncode, 0)
        self.assertEqual(path.read_bytes(), again.read_bytes())

    def test_placed_recompute_and_uneven_layers_come_back_from_their_file(self):
        tight = [*QUESTION, "--tp", 2, "--pp", 2, "--micro-batch", 8, "--recompute", "optimal"]
        for split in ([], ["--split", "balanced"], ["--layers-per-stage", "17,15"]):
            path = self.folder / "placed.json"
            flags = run("estimate", *tight, *split, "--json", "--out", path)
            self.assertEqual(flags.returncode, 0, flags.stderr)
            self.assertEqual(run("estimate", "--plan", path, "--json").stdout, flags.stdout)
            plan = json.loads(flags.stdout)
            self.assertTrue(plan["verdict"]["fits"])
            self.assertTrue(any(layers["replayed"] for stage in plan["layout"]["stages"] for layers in stage["recompute"]))
            simulated = json.loads(run("simulate", "--plan", path, "--json").stdout)
            self.assertAlmostEqual(simulated["step_time_s"], plan["prediction"]["step_time_s"]["expected"], delta=1e-9)
            self.assertIn("replay", run("explain", "--plan", path).stdout)

    def test_search_keeps_its_contract(self):
        out = self.folder / "best.json"
        done = run("search", *QUESTION, "--json", "--pareto", "--tokens", "1T", "--top", 5, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["format"], "plumbline.search/1")
        self.assertEqual(answer["considered"], sum(answer["rejected"].values()) + answer["solved"] + answer["unvisited"])
        self.assertTrue(answer["complete"])
        self.assertEqual(len(answer["plans"]), 5)
        for plan in answer["plans"]:
            self.check_plan(plan)
            self.assertTrue(plan["verdict"]["fits"])
        times = [plan["prediction"]["step_time_s"]["expected"] for plan in answer["plans"]]
        # Of those within 1 % of the fastest the simplest comes first.
        as_fast = [time for time in times if time <= 1.01 * min(times)]
        self.assertEqual(times[:len(as_fast)], as_fast)
        self.assertEqual(times[len(as_fast):], sorted(times[len(as_fast):]))
        written = json.loads(out.read_text())
        launch, recipe = written.pop("launch"), written.pop("recipe")
        self.assertEqual((launch["format"], set(recipe.values())), ("plumbline.launch/1", {None}))
        self.assertEqual(written, answer["plans"][0])
        self.assertTrue(answer["pareto"])

    def test_threads_do_not_change_a_byte(self):
        answers = {run("search", *QUESTION, "--json", "--threads", n).stdout for n in (1, 2, 7)}
        self.assertEqual(len(answers), 1)

    def test_executable_plans_are_those_for_plumbline(self):
        words = ["search", *QUESTION, "--json"]
        self.assertEqual(run(*words, "--executable").stdout, run(*words, "--for", "plumbline").stdout)
        self.assertNotEqual(run(*words, "--executable").stdout, run(*words).stdout)
        self.refused(["search", *QUESTION, "--executable", "--for", "deepspeed"],
                     "--executable: cannot be combined with --for deepspeed")

    def test_executable_plans_are_none_that_plan_run_refuses(self):
        def words(model, *more):
            return ["search", "--model", model, "--machine", "this-computer", "--seq-len", 128, "--global-batch", 8,
                    "--executable", *more]
        self.refused(words("bert-base", "--gpus", 2), "--for: plan run: ", "(a loss of masked tokens) is not executed")
        self.refused(words("nano-moe", "--gpus", 2, "--precision", "fp8"), "experts in fp8 are not executed")
        self.refused(words("gpt2", "--gpus", 2, "--fix", "tp=2"),
                     "--fix tp: plan run executes tensor parallelism that divides the vocabulary")
        done = run(*words("gpt2", "--gpus", 4, "--json", "--precision", "fp32"))
        strategies = [plan["strategy"] for plan in json.loads(done.stdout)["plans"]]
        self.assertTrue(strategies)
        self.assertEqual({s["tensor_parallel"] for s in strategies}, {1})  # a vocabulary of 50257
        self.assertFalse([s for s in strategies if s["schedule"] == "zbv" and s["zero_stage"] >= 2])
        tied = run(*words("gpt2", "--gpus", 4, "--json", "--fix", "schedule=zbv,zero=2,pp=2"))
        self.assertNotEqual(tied.returncode, 0, tied.stdout)

    def test_text_fits_the_columns(self):
        path = self.plan_file()
        for words in (["search", *QUESTION, "--pareto"], ["fit", *QUESTION], ["estimate", "--plan", path],
                      ["simulate", "--plan", path], ["explain", "--plan", path], ["explain", "--plan", path, "--against", path], ["models"],
                      ["machines"], ["models", "deepseek-v3"], ["machines", "dgx-h100"], ["stacks"], ["stacks", "torchtitan"],
                      ["estimate", "--model", "llama-3-70b", "--machine", "l40s-pcie", "--gpus", 65536, "--global-batch", 65536]):
            # Catalogues and rankings have numbers for more than 80 columns, and do not cut them.
            for columns in (100, 80, 70) if words[0] in ("fit", "estimate", "simulate", "explain") else (100,):
                done = run(*words, cwd=self.folder, env={**os.environ, "COLUMNS": str(columns)})
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), columns, words)
                self.assertNotIn("\033", done.stdout)

    def test_a_ranking_uses_a_wider_terminal(self):
        def ranking(columns):
            return run("search", *QUESTION, env={**os.environ, "COLUMNS": str(columns)}).stdout
        self.assertIn("tok/s/GPU", ranking(200))
        self.assertNotIn("No room for", ranking(200))
        narrow = ranking(80)
        self.assertIn("No room for tok/s/GPU, MFU%", narrow)
        self.assertLessEqual(max(map(len, narrow.splitlines())), 100)  # its numbers are never cut

    def test_nothing_fits(self):
        done = run("search", "--model", "llama-3.1-405b", "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 64,
                   "--out", self.folder / "plan.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("No plan of this space fits", done.stdout)
        self.assertIn("too much", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_explain(self):
        path = self.plan_file()
        done = run("explain", "--plan", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("Bottleneck: ", "One step along each axis", "where the step goes"):
            self.assertIn(words, done.stdout)
        answer = json.loads(run("explain", "--plan", path, "--json").stdout)
        self.check_plan(answer["plan"])

    def test_catalogue(self):
        models = json.loads(run("models", "--json").stdout)
        self.assertGreaterEqual(len(models), 60)
        for model in models:
            self.assertLessEqual({"name", "parameters", "active_parameters", "source"}, model.keys())
            self.assertLessEqual(model["active_parameters"], model["parameters"])
        self.assertTrue(all({"name", "source"} <= machine.keys() for machine in json.loads(run("machines", "--json").stdout)))
        self.assertTrue(run("models", "gpt2", "--graph", "dot").stdout.startswith("digraph"))
        machine = self.written("mine.json", run("machines", "dgx-h100", "--json").stdout)
        self.assertEqual(run("machines", machine, "--json").stdout, machine.read_text())

    def test_software_stacks(self):
        names = run("stacks", "--names").stdout.split()
        stacks = json.loads(run("stacks", "--json").stdout)
        self.assertEqual([stack["name"] for stack in stacks], names)
        for stack in stacks:
            self.assertLessEqual({"framework", "traits", "residuals", "description"}, stack.keys())
            self.assertIn(stack["residuals"]["regime"], ("calibrated", "few_rows", "unknown"))
        mine = self.written("mine.json", run("stacks", "torchtitan", "--json").stdout)
        self.assertEqual(run("stacks", mine, "--json").stdout, mine.read_text())
        fork = {"format": "plumbline.stack/1", "name": "fork", "framework": "torchtitan", "description": "with CUDA graphs",
                "like": "torchtitan-2024.12", "traits": {"launch": "cuda_graphs"}}
        path = self.written("fork.json", json.dumps(fork))
        plan = self.folder / "plan.json"
        for verb in (["fit", "--zero", 3], ["estimate", "--zero", 3], ["search"]):
            done = run(*verb, *QUESTION, "--stack", path, "--out", plan)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("explain", "--plan", plan).returncode, 0)  # the plan remembers the file
        self.refused(["stacks", "torchtitn"], "stack: ", "nearest: torchtitan")
        self.refused(["fit", *QUESTION, "--stack", self.written("bad.json", json.dumps({**fork, "traits": {"lanch": "eager"}}))],
                     "/traits/lanch: is no axis", "nearest: launch")

    def test_an_answer_far_from_measured_runs_says_so(self):
        words = ["estimate", "--model", "llama-3-8b", "--machine", "dgx-h100", "--global-batch", 65536, "--zero", 1, "--json"]
        near, far = (json.loads(run(*words, "--gpus", gpus).stdout) for gpus in (64, 65536))
        self.assertFalse(near["provenance"]["trust"]["is_far"])
        self.assertTrue(far["provenance"]["trust"]["is_far"])
        self.assertIn("65536 GPUs where at most", far["provenance"]["trust"]["beyond"][0])
        width = lambda plan: plan["prediction"]["step_time_s"]["high"] / plan["prediction"]["step_time_s"]["low"]
        self.assertGreater(width(far), width(near))
        self.assertIn("far from anything measured", run(*words[:-1], "--gpus", 65536).stdout)

    def test_ranks(self):
        ranks = json.loads(run("estimate", *QUESTION, "--tp", 2, "--json", "--ranks").stdout)["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], list(range(8)))
        self.assertEqual([rank["coordinates"]["tensor"] for rank in ranks], [0, 1] * 4)
        self.assertEqual([rank["coordinates"]["data"] for rank in ranks], [0, 0, 1, 1, 2, 2, 3, 3])

    def test_time_limit_and_interruption_keep_the_best_so_far(self):
        words = ["search", "--model", "llama-3.1-405b", "--machine", "dgx-h100", "--gpus", 16384, "--seq-len", 8192,
                 "--global-batch", 2048, "--precision", "bf16,fp8,fp16", "--json"]
        limited = run(*words, "--time-limit", "1ms")
        self.assertEqual(limited.returncode, 0, limited.stderr)
        self.assertFalse(json.loads(limited.stdout)["complete"])
        for delay in (0.02, 0.1, 0.3):
            process = subprocess.Popen([command.PLAN, *map(str, words), "--threads", "1"], text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=120)
            if process.returncode == -signal.SIGINT:
                continue  # it had not begun to search
            self.assertEqual(process.returncode, 0, error)
            answer = json.loads(out)
            self.assertEqual(answer["considered"],
                             sum(answer["rejected"].values()) + answer["solved"] + answer["unvisited"])

    def test_bash_completes_axes_and_values_of_fix(self):
        script = run("completion", "bash").stdout + """
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _plan; echo "${COMPREPLY[*]}"; }
complete_words plan search --fix sch
complete_words plan search --fix schedule = zb
complete_words plan search --fix tp = 8,mic
complete_words plan search --fix tp = 8,prefetch =
complete_words plan search --objective to
"""
        done = subprocess.run(["bash"], input=script, text=True, capture_output=True)
        self.assertEqual(done.stdout.splitlines(), ["schedule=", "zb-h1 zb-h2 zbv", "8,micro-batch=", "on off", "tokens-per-dollar"])

    def test_completions_and_manual(self):
        bash = run("completion", "bash").stdout
        self.assertEqual(subprocess.run(["bash", "-n"], input=bash, text=True).returncode, 0)
        for flag in ("--virtual-stages", "--time-limit", "--against"):
            self.assertIn(flag, bash)
            self.assertIn(flag[2:], run("completion", "fish").stdout)
        self.assertIn(".SH EXIT STATUS", run("man").stdout)
        page = run("man", "search").stdout
        for part in (".SH NAME\nplan\\-search", ".SS Output", "\\-\\-time\\-limit", ".SH EXAMPLE"):
            self.assertIn(part, page)
        self.assertIn("nearest: search", run("man", "serch").stderr)
        self.assertEqual(run("man", "search", "--pages", self.folder).returncode, 2)
        self.assertEqual(run("man", "--pages", self.folder / "man1").returncode, 0)
        for page in (self.folder / "man1").iterdir():
            self.assertEqual(page.suffix, ".1")


if __name__ == "__main__":
    command.main()
