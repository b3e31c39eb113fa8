#pragma once
/// \file sample_record.h: a small run record with every kind of value in it, for tests of what reads and writes it.

#include "core/measurement/run_record.h"

namespace plumbline {

[[nodiscard]] inline RunRecord sample_record() {
  RunRecord record;
  record.program_version = "1.0";
  record.plan_fingerprint = "0123456789abcdef";
  record.model = "nano-llama";
  record.model_fingerprint = "fedcba9876543210";
  record.machine = "this-computer";
  record.backend = "cpu";
  record.transport = "local";
  record.launch = "graph";
  record.seed = 7;
  record.tokens_per_step = 1000;
  record.warmup_steps = 1;
  record.traced_step = 2;
  record.steps = {{0, 5.5, 2.0, 1e-3, 9'000'000'000, StepOutcome::taken, {}},
                  {1, 5.25, 1.5, 1e-3, 4'000'000'000, StepOutcome::skipped, {}},
                  {2, 5.0, 1.25, 1e-3, 2'000'000'000, StepOutcome::taken, {}},
                  {3, 4.75, 1.0, 1e-3, 1'000'000'000, StepOutcome::taken, {}}};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankRecord of_rank;
    of_rank.rank = rank;
    of_rank.stage = rank;
    of_rank.memory.at_peak[MemoryClass::weights] = Bytes(4096);
    of_rank.memory.at_peak[MemoryClass::activations] = Bytes(100 + rank);
    of_rank.memory.highest = of_rank.memory.at_peak;
    of_rank.memory.highest[MemoryClass::working_buffers] = Bytes(64);
    of_rank.memory.arena = 8_KiB;
    of_rank.memory.on_host = 2_KiB;
    of_rank.memory.process_resident = 1_MiB;
    if (rank == 1) of_rank.memory.device = {{1_MiB, 64_KiB, 32_KiB, 16_KiB, 8_KiB, Bytes(512)}, 2_MiB, 4_KiB, 2};
    of_rank.sent = {{"pipeline", "send-receive", 1, Bytes(64)}, {"control", "all-reduce", 1, Bytes(4)}};
    of_rank.actions = {{0, ActionKind::forward, Stream::compute, 0, 10 + rank, 110, 90, Bytes(0), "forward 0"},
                       {1, ActionKind::send_forward, Stream::pipeline, 0, 110, 120, 12, Bytes(64), "send-forward 0"},
                       {5, ActionKind::optimizer_step, Stream::compute, -1, 130, 190, 61, Bytes(0), "optimizer-step"}};
    if (rank == 1) of_rank.routed = {{3, 0, {100, 90, 40, 50}, {20, 30, 8, 9}}, {4, 0, {80, 85}, {15, 10}}};
    record.ranks.push_back(of_rank);
  }
  return record;
}

}  // namespace plumbline
