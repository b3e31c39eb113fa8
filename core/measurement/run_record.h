#pragma once
/// \file run_record.h: what one executed run did: losses, times of steps and actions, bytes held and bytes sent.
///
/// Answers: facts of one run, in nanoseconds from each step's begin (the first rank's, where ranks share a clock) and
/// in bytes; nothing that was predicted. Model: times are of the steps after the warm-up; one of them, the traced one,
/// keeps when each action started and ended. Memory and what was sent are counted by the runtime when buffers are bound
/// and messages leave. Source: the Program that was run (core/program/program.h) names actions: `ActionRecord::action`
/// is the index in its rank's list. Not modelled: clocks of several hosts that run apart. Checked against:
/// tests/unit/core/io/run_record_json_test.cpp (round trip), tests/error/run_record_json_test.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measurement/device_memory.h"
#include "core/plan/estimate.h"
#include "core/program/program.h"
#include "core/program/routed_rows.h"

namespace plumbline {

/// `skipped`: gradients overflowed, so the optimizer did not step.
enum class StepOutcome : std::uint8_t { taken, skipped };

struct StepRecord {
  std::int64_t step = 0;  ///< from 0 over the whole training, resumed runs included
  double loss = 0;        ///< mean over the tokens of the global batch
  double gradient_norm = 0;
  double learning_rate = 0;
  std::int64_t time_ns = 0;  ///< until the last rank was done
  StepOutcome outcome = StepOutcome::taken;
  std::optional<double> held_out_loss;  ///< after the step, where it was evaluated
  bool operator==(const StepRecord&) const = default;
};

struct ActionRecord {
  std::int32_t action = 0;  ///< index in the rank's program
  ActionKind kind = ActionKind::forward;
  Stream stream = Stream::compute;
  std::int32_t micro_batch = -1;  ///< -1: none
  std::int64_t start_ns = 0;      ///< in the traced step
  std::int64_t end_ns = 0;
  std::int64_t median_ns = 0;  ///< of its length over the steps after the warm-up
  Bytes sent{0};               ///< by this rank, in the traced step
  std::string name;            ///< "forward 3 of chunk 1"
  bool operator==(const ActionRecord&) const = default;
};

/// What one rank sent in one step. Collectives alongside the plan's (norms, flags, losses) name a group that is no
/// axis. Copies of activations to the host and back are those of the group "host".
struct SentRecord {
  std::string group;       ///< "tensor", "gradient", ...: Axis
  std::string collective;  ///< "all-reduce", ...: core/sharding/collective.h
  std::int64_t calls = 0;  ///< that this rank made; of messages, the sends
  Bytes bytes{0};
  bool operator==(const SentRecord&) const = default;
};

/// Bytes of tensors that one rank held.
struct MemoryRecord {
  MemoryBreakdown at_peak;                   ///< when all classes together were most
  MemoryBreakdown highest;                   ///< of each class by itself, at any time
  Bytes arena{0};                            ///< that was reserved for all of them
  Bytes on_host{0};                          ///< activations that waited in host memory, at the most in a step
  Bytes process_resident{0};                 ///< of the process at its highest, shared by its ranks; 0: unknown
  std::optional<DeviceMemoryRecord> device;  ///< of a device with memory of its own
  bool operator==(const MemoryRecord& other) const {
    return at_peak.by_class == other.at_peak.by_class && highest.by_class == other.highest.by_class &&
           arena == other.arena && on_host == other.on_host && process_resident == other.process_resident &&
           device == other.device;
  }
};

/// Rows of experts that one execution of a block exchanged for one micro-batch.
struct RoutedRecord {
  std::int32_t execution = 0;  ///< of Graph::sequence()
  std::int32_t micro_batch = 0;
  RoutedRows all;      ///< over all steps
  RoutedRows at_peak;  ///< in the step that held most
  bool operator==(const RoutedRecord&) const = default;
};

struct RankRecord {
  std::int32_t rank = 0;   ///< of the world
  std::int32_t stage = 0;  ///< pipeline rank: whose program it ran
  MemoryRecord memory;
  std::vector<SentRecord> sent;
  std::vector<ActionRecord> actions;  ///< in order of issue
  std::vector<RoutedRecord> routed;   ///< where ranks exchange rows of experts
  bool operator==(const RankRecord&) const = default;
};

/// Under the names of their flags: "beta1", "weight-decay", ...; those that the optimizer reads.
struct OptimizerRecord {
  std::string name;  ///< "adamw", ...
  std::vector<std::pair<std::string, double>> numbers;
  bool operator==(const OptimizerRecord&) const = default;
};

/// What was trained on, and what the network made of it.
struct TextRecord {
  std::int64_t tokens = 0;     ///< that were trained on
  std::int64_t held_out = 0;   ///< tokens that were not
  double unigram_entropy = 0;  ///< of those trained on, in nats
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> generated;  ///< after the last step, behind the prompt
  bool operator==(const TextRecord&) const = default;
};

struct RunRecord {
  std::string program_version;
  std::string plan_fingerprint;  ///< of the question and strategy that were run
  std::string model;
  std::string model_fingerprint;  ///< of the graph
  std::string machine;
  std::string backend;    ///< "cpu"
  std::string transport;  ///< "local", "mpi", "nccl"
  /// How steps behind the first were given to the device: "graph" as one CUDA graph; empty: call by call.
  std::string launch;
  std::uint64_t seed = 0;
  std::int64_t tokens_per_step = 0;
  std::int32_t warmup_steps = 0;  ///< at the begin of `steps`, not timed
  std::int32_t traced_step = -1;  ///< index into `steps`; -1: none
  OptimizerRecord optimizer;
  TextRecord text;
  std::vector<StepRecord> steps;
  std::vector<RankRecord> ranks;  ///< by rank
  bool operator==(const RunRecord&) const = default;
};

/// Of the steps after the warm-up; zero where there are none.
[[nodiscard]] std::int64_t median_step_ns(const RunRecord& record);
[[nodiscard]] double tokens_per_second(const RunRecord& record);
/// The middle one of the values, or the lower of two; zero of none.
[[nodiscard]] std::int64_t median(std::vector<std::int64_t> values);

}  // namespace plumbline
