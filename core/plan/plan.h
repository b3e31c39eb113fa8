#pragma once
/// \file plan.h: how to train: the question, the choice, where everything lies, what is predicted, and the verdict.
///
/// A value and a file (core/io/plan_json.h). Its size does not grow with the number of GPUs: groups are given as size,
/// stride and count.

#include <string>
#include <vector>

#include "core/graph/sample_unit.h"
#include "core/plan/estimate.h"
#include "core/plan/strategy.h"
#include "core/plan/verdict.h"
#include "core/training/training.h"

namespace plumbline {

struct ModelReference {
  std::string name;
  std::string source;  ///< catalogue name or file that reads it back
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  std::int64_t trained_parameters = 0;
  std::int64_t layers = 0;
  std::string fingerprint;  ///< of the graph as it was priced
  SampleUnit sample = SampleUnit::sequence;
};

/// Nodes of one kind in a mixed cluster.
struct NodeKind {
  std::string device;
  std::int64_t nodes = 0;
  std::int64_t devices_per_node = 0;
};

struct MachineReference {
  std::string name;
  std::string source;  ///< catalogue name or file that reads it back
  std::string device;
  std::int64_t devices = 0;
  std::int64_t devices_per_node = 0;
  std::int64_t nodes = 0;
  std::string fingerprint;
  std::string mixture;          ///< of several kinds of nodes: how many devices of each; else empty
  std::vector<NodeKind> kinds;  ///< of a mixed cluster, in the order of ranks; else empty
  /// That was asked for instead of what the machine's file says.
  std::optional<Dollars> price_per_device_hour = std::nullopt;

  /// "16 x H100-SXM-80GB", or the mixture.
  [[nodiscard]] std::string devices_text() const {
    return mixture.empty() ? std::to_string(devices) + " x " + device : mixture;
  }
};

/// Neighbouring layers that the backward pass treats alike.
struct RecomputeRun {
  std::int64_t first_layer = 0;
  std::int64_t last_layer = 0;
  std::vector<std::string> replayed;  ///< names of the operators that run again, in order of execution
  Bytes kept{0};                      ///< by one of the layers for one micro-batch
  Bytes restored{0};                  ///< what the replay of one layer puts back
  Picoseconds replay{0};              ///< time of one layer's replay
};

/// What one pipeline rank holds.
struct StageLayoutEntry {
  std::int32_t stage = 0;
  std::vector<std::vector<std::int64_t>> layers;  ///< per chunk: first and last layer, empty when it holds none
  bool holds_input = false;
  bool holds_output = false;
  std::int64_t recomputed_layers = 0;  ///< layers that replay anything
  std::int64_t parameters_per_rank = 0;
  std::vector<RecomputeRun> recompute;  ///< chunk by chunk
  // In a mixed cluster, what the ranks of the stage compute on; else empty.
  std::string devices;     ///< "8 x H100-SXM-80GB"
  Bytes device_memory{0};  ///< of the smallest
};

struct GroupLayout {
  std::string axis;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t count = 1;  ///< groups of this kind
};

struct Layout {
  std::vector<StageLayoutEntry> stages;
  std::vector<std::string> rank_order;  ///< axis names, innermost first
  std::vector<GroupLayout> groups;
};

/// A number that nobody measured and that moved the answer.
struct AssumedNumber {
  std::string name;
  double value = 0;
  std::string source;
};

/// How far measured runs carry a prediction.
struct Trust {
  std::string regime;       ///< "calibrated", "few_rows" or "unknown": what device and stack calibration rest on
  double time_sigma = 0;    ///< of log(predicted / measured) of the step time; its interval follows
  double memory_sigma = 0;  ///< of the peak memory
  bool is_far = false;      ///< in some respect at least twice as far as anything measured, or of another kind
  std::vector<std::string> beyond;  ///< every respect in which the plan lies outside of what was measured
};

struct Provenance {
  std::string program_version;
  std::string device_calibration;
  std::string stack_calibration;
  bool stack_is_default = false;  ///< what prices such a question where no stack is named
  std::string stack_why;          ///< where it is: "of current releases it was measured nearest"
  Trust trust;
  std::vector<AssumedNumber> assumed;
  std::vector<std::string> notes;
};

struct Plan {
  ModelReference model;
  MachineReference machine;
  Training training;
  Strategy strategy;
  Layout layout;
  Prediction prediction;
  RunCost run;  ///< all zero without a token budget, except rates
  Verdict verdict;
  Provenance provenance;

  /// Sequences or images, as `model.sample` says.
  [[nodiscard]] double samples_per_second_per_gpu() const {
    const double step = prediction.step_time_s.expected * static_cast<double>(machine.devices);
    return step > 0 ? static_cast<double>(training.global_batch) / step : 0;
  }
};

}  // namespace plumbline
