#pragma once
/// \file step_graph.h: a step that is recorded once and launched as one graph of its device from then on.
///
/// Model: the first step of a run is given call by call: it takes memory, and products and attention choose their
/// algorithms. The next one is recorded and launched, each later one launched again. What was recorded has addresses:
/// where memory was taken since, as an evaluation's scratch is, the step is recorded anew. Source:
/// docs/decisions/0071-a-step-as-one-cuda-graph.md. Not modelled: several ranks. Checked against:
/// tests/cuda/graph_training_test.cpp.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "runtime/device/work_graph.h"

namespace plumbline {

/// How a step's work is given to the device: call by call, or as one graph.
enum class StepLaunch : std::uint8_t { calls, graph };

class StepGraph {
 public:
  /// From the second step on; null: none is a graph.
  void use(std::unique_ptr<WorkGraph> graph) { graph_ = std::move(graph); }

  /// Whether the next step is one. `reservations`: how often memory was taken so far.
  [[nodiscard]] bool is_due() const { return graph_ != nullptr && has_given_; }
  [[nodiscard]] bool is_recorded(std::int64_t reservations) const { return recorded_at_ == reservations; }
  /// While `give` runs.
  [[nodiscard]] bool is_recording() const { return doing_ == Doing::recording; }
  /// What a line that names a failure says of it; empty: a failure is the action's at hand.
  [[nodiscard]] std::string place() const;

  /// A step was given call by call.
  void note_given() { has_given_ = true; }
  /// Records what `give` gives.
  template <class Give>
  void record(std::int64_t reservations, Give give) {
    recorded_at_ = -1;
    graph_->begin();
    doing_ = Doing::recording;
    give();
    doing_ = Doing::making;
    graph_->end();
    recorded_at_ = reservations;
  }
  void launch() {
    check(recorded_at_ >= 0, "a graph is recorded before it is launched");
    doing_ = Doing::running;
    graph_->launch();
  }
  /// The host has waited for it.
  void finish() { doing_ = Doing::nothing; }

 private:
  enum class Doing : std::uint8_t { nothing, recording, making, running };

  std::unique_ptr<WorkGraph> graph_;
  bool has_given_ = false;
  std::int64_t recorded_at_ = -1;  ///< -1: it is not
  Doing doing_ = Doing::nothing;
};

}  // namespace plumbline
