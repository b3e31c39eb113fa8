#!/usr/bin/env python3
"""What tutorials say of their own output is true of it: sentences held against the numbers that the page shows.

Each claim quotes the words that make it. run_pages.py sees to it that the output is what the program prints.
"""
import pathlib
import re
import unittest

PAGES = pathlib.Path(__file__).resolve().parents[3] / "docs/tutorials"


def transcripts(page):
    """Of each block of a page what its commands print, without the commands."""
    blocks, inside, continues = [], False, False
    for line in page.splitlines():
        if line.startswith("```"):
            inside = not inside
            if inside:
                blocks.append([])
            continue
        if not inside:
            continue
        if continues or line.startswith("$ "):
            continues = line.endswith("\\")
            continue
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def tables(text):
    """Rankings without an empty cell: each a list of rows, a dict by column title."""
    found = []
    for line in text.splitlines():
        joined = re.sub(r"(\d) x (\d)", r"\1x\2", re.sub(r" \(([\d.]+-[\d.]+)\)", r"", line))
        if re.match(r" *# ", line):
            titles = re.sub("mbs x m", "mbs", re.sub(r"step s \(interval\)", "step", re.sub("GiB left", "left", line)))
            found.append((titles.split(), []))
        elif found and re.match(r" *\d+ +\d", line):
            cells = joined.split()
            found[-1][1].append(dict(zip(found[-1][0], cells)))
        elif found and found[-1][1] and line.startswith("In all of them: "):
            for pair in line[len("In all of them: "):].split(", "):
                for row in found[-1][1]:
                    row.setdefault(*pair.rsplit(" ", 1))
    return [rows for _, rows in found]


class Claims(unittest.TestCase):
    def page(self, name, *words):
        text = (PAGES / name).read_text(encoding="utf-8")
        flat = " ".join(text.split())
        for claim in words:
            self.assertIn(claim, flat, f"{name} makes this claim no more")
        return transcripts(text)

    def test_experts_on_ranks_of_their_own_lead(self):
        blocks = self.page("mixture-of-experts.md", "Experts that live on ranks of their own lead (`ep` 16, over two nodes)",
                           "room for micro-batches of several sequences", "both are slower, but within the model's noise",
                           "Mixtures of experts were measured with the stack that answers here")
        ranking, = tables(blocks[0])
        self.assertEqual(ranking[0]["ep"], "16")
        self.assertTrue(all(int(row["mbs"].split("x")[0]) > 1 for row in ranking))
        self.assertNotIn("\ntrust ", blocks[0])
        whole, inside, across = (table[0] for table in tables(blocks[1]))
        self.assertEqual((whole["zero"], inside["ep"], across["ep"]), ("3", "8", "16"))
        self.assertNotIn("ep", whole)
        noise = float(re.search(r"noise \(([\d.]+) %\)", blocks[0]).group(1))
        for other in (whole, inside):
            slower = 100 * (float(other["step"]) / float(across["step"]) - 1)
            self.assertTrue(0 < slower < noise, f"{slower} % slower, noise of {noise} %")

    def test_the_bill_is_the_last_line(self):
        blocks = self.page("first-pretraining.md", "The table is sorted by step time", "The last line is the bill.")
        steps = [float(step) for step in re.findall(r" ([\d.]+) \([\d.]+-[\d.]+\)", blocks[0])]
        self.assertEqual(len(steps), 5)
        self.assertEqual(steps, sorted(steps))
        self.assertRegex(blocks[0].splitlines()[-1], r"^The best plan takes .*\$")

    def test_more_gpus_fewer_days(self):
        blocks = self.page("how-many-gpus.md", "Days fall and GPU-hours rise")
        rows = re.findall(r"^ *(\d+)  [\d.]+ \([\d.-]+\).*?  ([\d.]+) \([\d.-]+\)", blocks[0], re.M)
        self.assertGreaterEqual(len(rows), 3)
        days = [float(each) for _, each in rows]
        self.assertEqual(days, sorted(days, reverse=True))

    def test_changes_that_fit_come_by_step_time(self):
        blocks = self.page("out-of-memory.md", "each line is a change that makes it fit, with the step time that it costs",
                           "Optimizer state is already shared (ZeRO-1); what is left is activations and 16-bit weights with "
                           "32-bit gradients on every rank.")
        self.assertIn("zero-1, bf16 with fp32 gradients", blocks[0])
        changes = re.findall(r"^(?!\(as it is\))\S.*?  +[\d.]+ +\+([\d.]+) % .*(yes|no)$", blocks[0], re.M)
        self.assertGreaterEqual(len(changes), 3)
        self.assertEqual({fits for _, fits in changes}, {"yes"})
        costs = [float(cost) for cost, _ in changes]
        self.assertEqual(costs, sorted(costs))

    def test_adapters_fit_with_room_and_all_weights_do_not(self):
        blocks = self.page("consumer-cards.md", "No measured run carries this card or that framework",
                           "The answer is for Accelerate", "LoRA of rank 16 fits with room",
                           "A shorter sequence buys tokens per second")
        self.assertIn("No plan of this space fits.", blocks[0])
        self.assertIn("for Accelerate:", blocks[1])
        self.assertRegex(blocks[1], r"trust +unknown: no run of this device or stack measured")
        self.assertIn("\nfits: ", "\n" + blocks[2])
        long, short = tables(blocks[1])[0], tables(blocks[3])[0]
        self.assertEqual(long[0]["recompute"], "full")
        self.assertGreater(float(short[0]["tok/s/GPU"]), float(long[0]["tok/s/GPU"]))


if __name__ == "__main__":
    unittest.main()
