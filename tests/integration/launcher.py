"""What a launcher knows of a plan: everything that each rank is, holds and does, from plan.json and nothing else.

Written for someone who has a JSON parser and docs/plan-file.md; it imports nothing of this program.
"""
import json


class PlanFile:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.plan = json.load(file)
        self.launch = self.plan["launch"]
        self.strategy = self.plan["strategy"]
        self.groups = {**self.plan["layout"]["groups"], **self.launch["groups"]}
        self.blocks = self.launch["blocks"]
        # By execution, in the order of the network: the block it runs and its name.
        self.block_of, self.unit_names = [], []
        for run in self.launch["units"]:
            for _ in range(run["count"]):
                layers = sum(name.startswith("layers.") for name in self.unit_names)
                self.unit_names.append(f"layers.{layers}" if run["name"] == "layers" else run["name"])
                self.block_of.append(run["block"])

    # Places

    def ranks(self):
        return self.plan["machine"]["devices"]

    def place(self, rank):
        """Host, and the device of it."""
        return divmod(rank, self.plan["machine"]["devices_per_node"])

    def coordinate(self, rank, group):
        return rank // self.groups[group]["stride"] % self.groups[group]["size"]

    def members(self, rank, group):
        """Ranks of the rank's group of this name; none: it has no such group."""
        of = self.groups[group]
        if of is None:
            return []
        if group == "embedding_tie":
            stage = self.stage(rank)
            if stage not in (0, self.strategy["pipeline_stages"] - 1):
                return []
            first = rank if stage == 0 else rank - of["stride"]
        else:
            first = rank - self.coordinate(rank, group) * of["stride"]
        return [first + i * of["stride"] for i in range(of["size"])]

    def stage(self, rank):
        return self.coordinate(rank, "pipeline")

    # Tensors

    def chunks(self, rank):
        """Executions of each chunk."""
        return [list(range(ends[0], ends[1] + 1)) if ends else [] for ends in self.launch["stages"][self.stage(rank)]["units"]]

    def units(self, rank):
        return [unit for chunk in self.chunks(rank) for unit in chunk]

    def shared_units(self, rank):
        """Executions that are gathered and reduced together: `layers_per_unit` layers of a chunk, or one of anything."""
        layers, found = self.launch["gathers"].get("layers_per_unit", 1), []
        for chunk in self.chunks(rank):
            takes_more = False
            for execution in chunk:
                is_layer = self.unit_names[execution].startswith("layers.")
                if is_layer and takes_more:
                    found[-1].append(execution)
                else:
                    found.append([execution])
                takes_more = is_layer and len(found[-1]) < layers
        return found

    def unit_of(self, rank):
        """By execution, the first of its unit."""
        return {execution: unit[0] for unit in self.shared_units(rank) for execution in unit}

    def joined(self, rank, unit):
        """The sections of one unit: (trained, over, parts, elements, padded, the (execution, parameter) in their order)."""
        if len(unit) == 1:
            return [(s["trained"], s["over"], s["parts"], s["elements"], s["padded"], [(unit[0], p) for p in s["parameters"]])
                    for s in self.blocks[self.block_of[unit[0]]]["sections"]]
        kinds = {}
        for execution in unit:
            for section in self.blocks[self.block_of[execution]]["sections"]:
                kinds.setdefault((section["over"] != "shard", not section["trained"]), []).append((execution, section))
        found = []
        for _, sections in sorted(kinds.items()):
            first = sections[0][1]
            matrices = [(e, p) for e, s in sections for p in s["parameters"][:s.get("matrices", 0)]]
            others = [(e, p) for e, s in sections for p in s["parameters"][s.get("matrices", 0):]]
            elements = sum(s["elements"] for _, s in sections)
            name = first["over"]
            multiple = self.groups[name]["size"] * self.groups[name.replace("shard", "replicate")]["size"]
            found.append((first["trained"], name, first["parts"], elements, -(-elements // multiple) * multiple, matrices + others))
        return found

    def shard(self, parameter, rank):
        """Where a rank's part of a parameter begins, and its shape."""
        begin, shape = [0] * len(parameter["shape"]), list(parameter["shape"])
        for one in parameter["divided"]:
            ranks, index = self.groups[one["over"]]["size"], self.coordinate(rank, one["over"])
            whole = parameter["shape"][one["dimension"]]
            heads = one.get("heads", whole)
            if heads < ranks:  # ranks share copies of a head
                shape[one["dimension"]] = whole // heads
                begin[one["dimension"]] = index * heads // ranks * (whole // heads)
            else:  # a vocabulary that does not divide is padded at its end
                shape[one["dimension"]] = -(-heads // ranks) * (whole // heads)
                begin[one["dimension"]] = index * shape[one["dimension"]]
        return begin, shape

    def parameters(self, rank):
        """In the flat order of each section: (name, begin, shape, section, first element in it, trained)."""
        found, first_section = [], 0
        holds_input = 0 in self.units(rank)
        for unit in self.shared_units(rank):
            places, sections = {}, self.joined(rank, unit)
            for number, section in enumerate(sections):
                first = 0
                for execution, index in section[5]:
                    places[execution, index] = (first_section + number, first)
                    first += size(self.shard(self.blocks[self.block_of[execution]]["parameters"][index], rank)[1])
                assert first == section[3]
            for execution in unit:
                for index, parameter in enumerate(self.blocks[self.block_of[execution]]["parameters"]):
                    if (execution, index) not in places:
                        assert parameter["tied"] and holds_input  # the embedding itself
                        continue
                    is_tied = parameter.get("tied")
                    name = "input.embedding.weight" if is_tied else f"{self.unit_names[execution]}.{parameter['name']}"
                    begin, shape = self.shard(parameter, rank)
                    found.append((name, begin, shape, *places[execution, index], parameter["trained"]))
            first_section += len(sections)
        return found

    def sections(self, rank):
        """(elements, padded, parts, the rank's part, where it begins, its length)."""
        found = []
        for unit in self.shared_units(rank):
            for _, over, parts, elements, padded, _ in self.joined(rank, unit):
                part = rank // self.groups[over]["stride"] % parts
                length = padded // parts
                found.append((elements, padded, parts, part, part * length, length))
        return found

    def owned(self, rank):
        """Of each trained parameter, in the rank's list, the elements whose optimizer state the rank keeps."""
        sections, found = self.sections(rank), []
        for index, (_, _, shape, section, first, trained) in enumerate(self.parameters(rank)):
            begin, length = sections[section][4:]
            start, end = max(first, begin), min(first + size(shape), begin + length)
            if trained and start < end:
                found.append((index, start - first, end - start))
        return found

    def elements(self, rank):
        """That a rank keeps between steps: of weights, gradients and optimizer state."""
        total = dict.fromkeys(("weights", "gradients", "optimizer"), 0)
        trained = [section[0] for unit in self.shared_units(rank) for section in self.joined(rank, unit)]
        for is_trained, (_, padded, _, _, _, length) in zip(trained, self.sections(rank)):
            for what in total:
                if is_trained or what == "weights":
                    total[what] += length if self.launch["kept"][what] == "part" else padded
        return total

    # Tokens

    def tokens(self, rank):
        """Slices (first, count) of every sequence."""
        return self.launch["sequence"]["slices"][self.coordinate(rank, "context")]

    def first_sequences(self, rank):
        """Of the global batch, by micro-batch."""
        s = self.strategy
        return [(m * s["data_parallel"] + self.coordinate(rank, "data")) * s["micro_batch"] for m in range(s["micro_batches"])]

    # Actions

    def order(self, rank):
        """(kind, chunk, micro-batch) of every compute action."""
        actions = []
        for run in self.launch["stages"][self.stage(rank)]["order"]:
            for time in range(run["times"]):
                actions += [(a[0], a[1], a[2] + time * run["step"]) for a in run["actions"]]
        return actions

    def network_stage(self, stage, chunk):
        stages = self.strategy["pipeline_stages"]
        if self.launch["placement"] == "looped":
            return chunk * stages + stage
        return stage if chunk == 0 else 2 * stages - 1 - stage

    def stage_of(self, network_stage):
        stages = self.strategy["pipeline_stages"]
        if self.launch["placement"] == "looped":
            return network_stage % stages
        return network_stage if network_stage < stages else 2 * stages - 1 - network_stage

    def is_elsewhere(self, rank, network_stage):
        s = self.strategy
        return 0 <= network_stage < s["pipeline_stages"] * s["virtual_stages"] and self.stage_of(network_stage) != self.stage(rank)

    def actions(self, rank):
        """Compute, transfers, gathers and releases: (kind, chunk, micro-batch, units)."""
        return self.with_gathers(rank, self.with_transfers(rank, self.compute(rank))) + [("optimizer-step", None, None, [])]

    def compute(self, rank):
        chunks, replayed = self.chunks(rank), {u for first, last in self.launch["replays"] for u in range(first, last + 1)}
        actions = []
        for kind, chunk, micro_batch in self.order(rank):
            for unit in chunks[chunk] if kind == "forward" else reversed(chunks[chunk]):
                if kind in ("backward", "backward-input") and unit in replayed:
                    actions.append(("recompute", chunk, micro_batch, [unit]))
                actions.append((kind, chunk, micro_batch, [unit]))
        return actions

    def with_transfers(self, rank, before):
        actions = []
        for i, action in enumerate(before):
            stage = self.network_stage(self.stage(rank), action[1])
            way = {"forward": ("forward", -1, 1), "weight": None}.get(pass_of(action), ("backward", 1, -1))
            if way and (i == 0 or group_of(before[i - 1]) != group_of(action)) and self.is_elsewhere(rank, stage + way[1]):
                actions.append(("receive-" + way[0], *action[1:3], []))
            actions.append(action)
            is_last = i + 1 == len(before) or group_of(before[i + 1]) != group_of(action)
            if way and is_last and self.is_elsewhere(rank, stage + way[2]):
                actions.append(("send-" + way[0], *action[1:3], []))
        return actions

    def is_shared(self, unit):
        return any(s["trained"] and s["parts"] > 1 for s in self.blocks[self.block_of[unit]]["sections"])

    def with_gathers(self, rank, before):
        """ZeRO-3: every unit of every pass, one ahead or its own. ZeRO-1 and 2: what was updated, one ahead of the
        first forwards, or all before the first."""
        if self.launch["kept"]["optimizer"] == "whole":
            return before
        each_pass = self.launch["kept"]["weights"] == "part"
        is_ahead = self.launch["gathers"]["units_ahead"] > 0
        unit_of = self.unit_of(rank)
        runs, first_micro_batch = [], {}
        for i, action in enumerate(before):
            if not uses_parameters(action) or (i > 0 and segment_of(before[i - 1]) == segment_of(action)):
                continue
            if not each_pass:
                if pass_of(action) != "forward" or first_micro_batch.setdefault(action[1], action[2]) != action[2]:
                    continue
                if not self.is_shared(action[3][0]):
                    continue
            elif runs and group_of(before[runs[-1]]) == group_of(action):
                if unit_of[before[runs[-1]][3][0]] == unit_of[action[3][0]]:
                    continue
            runs.append(i)

        def follows(n):
            if n == 0 or n >= len(runs):
                return False
            return not each_pass or (is_ahead and group_of(before[runs[n]]) == group_of(before[runs[n - 1]]))

        def gather(n):
            kind, chunk, micro_batch, units = before[runs[n]]
            return ("all-gather-parameters", chunk, micro_batch, [unit_of[unit] for unit in units])

        if not each_pass and not is_ahead:
            return [gather(n) for n in range(len(runs))] + before
        actions, n = ([] if each_pass or not runs else [gather(0)]), 0
        for i, action in enumerate(before):
            begins = n < len(runs) and runs[n] == i
            if begins and each_pass and not follows(n):
                actions.append(gather(n))
            actions.append(action)
            if begins:
                n += 1
                if follows(n):
                    actions.append(gather(n))
            goes_on = i + 1 < len(before) and uses_parameters(before[i + 1]) and group_of(before[i + 1]) == group_of(action)
            if each_pass and uses_parameters(action) and not goes_on:
                actions.append(("release-parameters", *action[1:3], []))
        return actions

    def reductions(self, rank):
        """Units whose gradients are reduced together: in passes of one micro-batch that is not the last; at the end."""
        of_stage = self.launch["stages"][self.stage(rank)]["reductions"]
        return of_stage["each"], of_stage["last"]


def size(shape):
    product = 1
    for one in shape:
        product *= one
    return product


def pass_of(action):
    kind = action[0]
    if kind in ("forward", "receive-forward", "send-forward"):
        return "forward"
    return "weight" if kind == "backward-weight" else "backward"


def group_of(action):
    return action[1], action[2], pass_of(action)


def segment_of(action):
    return (*group_of(action), *action[3])


def uses_parameters(action):
    return bool(action[3]) and pass_of(action) != "weight"
