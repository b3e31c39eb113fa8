#!/usr/bin/env python3
"""Writes orders.json: the compute orders that PyTorch's pipeline schedules make, and V-Half's.

Usage: make_orders.py <checkout of sail-sg/zero-bubble-pipeline-parallelism> > orders.json

Needs torch (2.15). Each class's own method that makes one rank's order is called on a stand-in for the schedule, so
no process group is needed; checks of the constructors are skipped, which matters for ZB-H1 only (with one stage per
rank its order does not depend on the rounds that its constructor asks for). V-Half comes from the authors' scheduler,
megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py, with equal times and no latency.
"""
import importlib.util
import json
import sys
import types

import torch.distributed.pipelining.schedules as schedules


def stand_in(kind, p, v, m):
    self = types.SimpleNamespace(
        pp_group_size=p, n_local_stages=v, _num_stages=p * v, num_stages=p * v, _n_microbatches=m,
        microbatches_per_round=m // max(1, m // p) if v > 1 else m, _stages=[None] * v)
    return lambda rank: kind._calculate_single_rank_operations(self, rank)


def single(kind, p, m):
    self = types.SimpleNamespace(_num_stages=p, _n_microbatches=m)
    orders = kind._get_pipeline_order(self)
    return lambda rank: [a for a in orders[rank] if a is None or a.is_compute_op]


class RecordingStage:
    """Notes what a schedule asks of its stage; sends and receives nothing."""

    def __init__(self, rank):
        self.stage_index, self.calls, self.submod = rank, [], None

    def forward_one_chunk(self, i, *_, **__):
        self.calls.append(f"{self.stage_index}F{i}")

    def backward_one_chunk(self, i, *_, **__):
        self.calls.append(f"{self.stage_index}B{i}")

    def __getattr__(self, name):  # get_fwd_recv_ops and the like
        return lambda *_, **__: []


def one_f_one_b(p, m):
    """What the schedule runs; the list that it prints assumes more micro-batches than stages."""
    def of_rank(rank):
        nothing = lambda *_, **__: None
        self = types.SimpleNamespace(_num_stages=p, _n_microbatches=m, _stage=RecordingStage(rank),
                                     _finalize_gradients=False, scale_grads=False, _initialize_stage=nothing, _maybe_compute_loss=nothing, _maybe_get_loss=nothing,
                                     _update_losses=nothing)
        self._check_inputs = lambda a, k, *_, **__: ([()] * m, [{}] * m)
        schedules.Schedule1F1B._step_microbatches(self, [()] * m, [{}] * m)
        return self._stage.calls
    return of_rank


def text(actions):
    return ",".join(str(a) for a in actions if a is not None)


def v_half_scheduler(checkout):
    """The authors' module, its imports of their training loop replaced by nothing."""
    for name in ("megatron", "megatron.core", "megatron.core.pipeline_parallel", "megatron.training",
                 "megatron.core.pipeline_parallel.zerobubble",
                 "megatron.core.pipeline_parallel.zerobubble.scheduler",
                 "megatron.core.pipeline_parallel.zerobubble.scheduler.graph"):
        module = sys.modules.setdefault(name, types.ModuleType(name))
        for attribute in ("ScheduledNode", "B", "W", "F", "FuncType", "get_args"):
            setattr(module, attribute, None)
    path = f"{checkout}/megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py"
    spec = importlib.util.spec_from_file_location("zbv_greedy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PipelineGraph


def v_half(graph, p, m):
    maker = graph(p, m, "half", 1, 1, 1, 0)
    _, _, order = maker.schedule_from_pattern(maker.stable_pattern_v_half(p), m, [1] * 6)
    letters, chunks = "FFIIWW", [0, 1, 1, 0, 1, 0]

    def of_rank(rank):
        return [f"{(rank, 2 * p - 1 - rank)[chunks[kind]]}{letters[kind]}{i}" for kind, i in order[rank]]
    return of_rank


def main():
    graph = v_half_scheduler(sys.argv[1])
    schedules._wait_and_release_fwd_send = lambda *_: None
    makers = [
        ("gpipe", 1, lambda p, m: single(schedules.ScheduleGPipe, p, m)),
        ("1f1b", 1, one_f_one_b),
        ("interleaved", 2, lambda p, m: stand_in(schedules.ScheduleInterleaved1F1B, p, 2, m)),
        ("interleaved", 3, lambda p, m: stand_in(schedules.ScheduleInterleaved1F1B, p, 3, m)),
        ("zb-h1", 1, lambda p, m: stand_in(schedules.ScheduleInterleavedZeroBubble, p, 1, m)),
        ("zbv", 2, lambda p, m: stand_in(schedules.ScheduleZBVZeroBubble, p, 2, m)),
        ("v-half", 2, lambda p, m: v_half(graph, p, m)),
        ("dualpipev", 2, lambda p, m: stand_in(schedules.ScheduleDualPipeV, p, 2, m)),
    ]
    rows = []
    for name, v, maker in makers:
        for p in (2, 4, 8):
            for m in (p, 2 * p, 2 * p + 1, 4 * p):
                if name == "interleaved" and (m % p != 0 or (v == 3 and m != 2 * p)):
                    continue
                if name == "dualpipev" and m < 2 * p:
                    continue
                of_rank = maker(p, m)
                rows.append({"schedule": name, "pipeline_stages": p, "virtual_stages": v, "micro_batches": m,
                             "orders": [text(of_rank(rank)) for rank in range(p)]})
    source = ("torch.distributed.pipelining.schedules of PyTorch 2.15; v-half: zbv_greedy.py of "
              "sail-sg/zero-bubble-pipeline-parallelism; made by make_orders.py")
    head = {"format": "plumbline.test-rows/1", "source": source}
    print("{" + json.dumps(head)[1:-1] + ', "rows": [')
    print(",\n".join(json.dumps(row, separators=(",", ":")) for row in rows))
    print("]}")


if __name__ == "__main__":
    main()
