#pragma once
/// \file layer_choice.h: which recompute choice each layer of a stage takes, given what the stage may hold.
///
/// Answers the least time of replay per micro-batch in picoseconds, and how many layers of each group take each option,
/// or nothing when not even the smallest fits. Model: a stage holds in_flight * (sum of kept bytes) + the largest
/// restored bytes of a layer (layers run backward one at a time) and must not exceed the budget. A multiple-choice
/// knapsack (knapsack.h), solved for every cap on restored bytes by LayerChooser. Equal layers are one group.
/// Source: Sinha and Zoltners, Operations Research 27 (1979) (relaxation over hulls); Sun et al., AdaPipe, ASPLOS'24
/// (a knapsack per stage with its own in-flight count).
/// Not modelled: segments of several layers replayed as one (docs/decisions/0025).
/// Checked against: tests/reference/oracles/recompute_oracles_test.cpp (knap-*, adapipe-*), all choices by brute force
/// in tests/property/layer_choice_test.cpp, exact.

#include <span>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct LayerOption {
  Bytes saved{0};  ///< per micro-batch in flight
  Picoseconds time{0};
  Bytes restored{0};
};
/// `count` layers that choose from the same options.
struct LayerGroup {
  std::span<const LayerOption> options;
  std::int64_t count = 1;
};

struct LayerChoice {
  Picoseconds time{0};
  Bytes saved{0};                                 ///< of all layers, per micro-batch in flight
  Bytes restored{0};                              ///< of the layer that restores most
  std::vector<std::vector<std::int64_t>> layers;  ///< by group and option: how many layers take it
};
/// What holds least, whatever the time: least in_flight * kept + restored; of equals the one that restores least.
[[nodiscard]] LayerChoice smallest_layers(std::span<const LayerGroup> groups, std::int64_t in_flight);

}  // namespace plumbline
