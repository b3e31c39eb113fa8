#pragma once
/// \file execution_checks.h: tiny networks, and comparisons of runs with each other and with what was predicted.

#include <chrono>
#include <cmath>

#include "core/training/adaptation.h"
#include "tests/catch.h"
#include "tests/executed.h"
#include "tests/host_copies.h"
#include "tests/sanitized.h"

namespace plumbline {

enum class Net : std::uint8_t { gpt, llama, moe };

/// Of Net::llama and Net::moe: every feature is divided by 2 and 4 ranks.
inline LlamaShape llama_shape(Net net) {
  LlamaShape shape{.layers = 4, .hidden = 32, .heads = 8, .kv_heads = 4, .head_dim = 8, .width = 64, .vocabulary = 64};
  if (net == Net::moe) {
    shape.experts = 8;
    shape.chosen = 2;
    shape.expert_width = shape.shared_width = 16;
    shape.dense_layers = 1;
  }
  return shape;
}

inline Graph network(Net net) {
  if (net == Net::gpt) return gpt({4, 32, 4, 64, 32, Dropout::no});
  return llama(llama_shape(net));
}

inline Training recipe(Optimizer optimizer = Optimizer::sgd) {
  Training training;
  training.sequence_length = 16;
  training.global_batch = 8;
  training.precision = PrecisionRecipe::fp32;
  training.optimizer = optimizer;
  return training;
}

/// With experts, long enough for the tokens of each of eight ranks to be dealt out to all of them.
inline Training recipe_of(Net net) {
  Training training = recipe();
  if (net == Net::moe) training.sequence_length = 32;
  return training;
}

/// A job whose experts get what the router says, or rows in turn.
inline TrainingJob routed(const LoweredPlan& plan, ExpertRouting routing) {
  TrainingJob job = plan.job();
  job.routing = routing;
  return job;
}

inline Strategy single() {
  Strategy s;
  s.micro_batch = 2;
  s.micro_batches = 4;
  return s;
}

inline RunOptions options(std::int64_t steps = 5) {
  RunOptions o;
  o.steps = steps;
  o.seed = 7;
  o.data = random_tokens(64, 4000);
  o.tests.poison = Poison::yes;
  o.ranks.deadline = std::chrono::milliseconds(20'000);
  return o;
}

inline double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += double(value) * double(value);
  return std::sqrt(sum);
}

/// Norm of the difference over the norm; where symmetry makes a tensor zero (a softmax does not feel the key's bias),
/// over a part of what its size has elsewhere: 2^-23 / 5e-5, below which the tightest tolerance asked would be less
/// than one rounding of a usual number.
inline double relative_difference(const std::vector<float>& a, const std::vector<float>& b, double usual) {
  std::vector<float> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return norm(difference) / std::max(norm(b), 2.4e-3 * usual * std::sqrt(static_cast<double>(b.size())));
}

/// Root mean square over all elements.
inline double usual_size(const WholeTensors& tensors) {
  double sum = 0;
  double count = 0;
  for (const auto& [name, values] : tensors) {
    sum += norm(values) * norm(values);
    count += static_cast<double>(values.size());
  }
  return std::sqrt(sum / count);
}

inline void require_equal(const WholeTensors& a, const WholeTensors& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  const double usual = usual_size(b);
  for (const auto& [name, values] : b) {
    INFO(name);
    REQUIRE(a.count(name) == 1);
    REQUIRE(a.at(name).size() == values.size());
    const double difference = relative_difference(a.at(name), values, usual);
    CHECK(difference <= tolerance);
  }
}

/// Of two strategies, whose sums of 32-bit numbers are in other orders.
inline void require_same_training(const Executed& run, const Executed& expected) {
  REQUIRE(run.record.steps.size() == expected.record.steps.size());
  for (std::size_t i = 0; i < run.record.steps.size(); ++i)
    CHECK(run.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(1e-5));
  require_equal(run.gradients, expected.gradients, 2e-5);
  require_equal(run.weights, expected.weights, 1e-5);
}

inline Bytes sent_in(const RankRecord& rank, const std::string& group) {
  Bytes sum(0);
  for (const SentRecord& sent : rank.sent)
    if (sent.group == group) sum += sent.bytes;
  return sum;
}

/// Rows of one kind of a rank's record.
inline RoutedStep rows_of(const RankRecord& rank, RoutedRows RoutedRecord::*which) {
  RoutedStep rows;
  for (const RoutedRecord& r : rank.routed) rows[{r.execution, r.micro_batch}] = r.*which;
  return rows;
}

/// Among expert-parallel ranks, and among those that divide experts.
inline Bytes sent_to_experts(const RankRecord& rank) {
  return sent_in(rank, "expert") + sent_in(rank, "expert_tensor");
}

/// Bytes that the program of a stage sends on the streams of an axis.
inline Bytes planned_on(const RankProgram& rank, Stream stream) {
  Bytes sum(0);
  for (const Action& a : rank.actions)
    if (a.stream() == stream) sum += a.bytes();
  return sum;
}

inline void require_bytes(const LoweredPlan& plan, const RunRecord& record) {
  for (std::size_t stage = 0; stage < plan.program.ranks.size(); ++stage) {
    MemoryBreakdown measured;
    for (const RankRecord& rank : record.ranks) {
      if (rank.stage != static_cast<std::int32_t>(stage)) continue;
      if (rank.memory.at_peak.device_total() > measured.device_total()) measured = rank.memory.at_peak;
      const RankProgram& program = plan.program.ranks[stage];
      INFO("rank " << rank.rank << " stage " << stage);
      CHECK(sent_in(rank, "tensor") == planned_on(program, Stream::tensor));
      CHECK(sent_in(rank, "context") == planned_on(program, Stream::context));
      CHECK(sent_in(rank, "pipeline") == planned_on(program, Stream::pipeline));
      CHECK(sent_to_experts(rank) == planned_on(program, Stream::expert));
      Bytes data(0);
      for (const char* group : {"gradient", "shard", "secondary_shard", "replicate", "pipeline_ends", "expert_gradient",
                                "expert_shard", "expert_secondary_shard", "expert_replicate", "expert_matrices"})
        data += sent_in(rank, group);
      CHECK(data.value() == planned_on(program, Stream::data).value());
      CHECK(sent_in(rank, "host") == planned_on(program, Stream::copy));
      CHECK(rank.memory.on_host == host_copies(program).most_on_host);
    }
    const MemoryBreakdown& predicted = plan.simulation.memory[stage].memory;
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      INFO("stage " << stage << ' ' << to_text(static_cast<MemoryClass>(c)));
      CHECK(measured.by_class[c].value() == predicted.by_class[c].value());
    }
  }
}

/// Every rank holds and sends what its rows make of the prediction, balanced or not.
inline void require_routed_bytes(const LoweredPlan& plan, const RunRecord& record) {
  const Shard shard = shard_of(plan.strategy, plan.training);
  const BalancedPlan balanced{plan.graph, shard, plan.replays, plan.sizes};
  for (const RankRecord& rank : record.ranks) {
    INFO("rank " << rank.rank << " stage " << rank.stage);
    const MemoryBreakdown held =
        memory_peak(routed_program(balanced, rank.stage, rows_of(rank, &RoutedRecord::at_peak)), 0).memory;
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      INFO(to_text(static_cast<MemoryClass>(c)));
      CHECK(rank.memory.at_peak.by_class[c].value() == held.by_class[c].value());
    }
    const Bytes sent = exchanged_bytes(balanced, rows_of(rank, &RoutedRecord::all), std::ssize(record.steps));
    CHECK(sent_to_experts(rank) == sent);
  }
}

}  // namespace plumbline
