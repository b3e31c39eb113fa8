#pragma once
/// \file predicted_memory.h: what a plan predicts of its ranks' memory, as the text behind an error of a device without
/// room.
///
/// Checked against: tests/cuda/cuda_module_test.py.

#include <string>
#include <vector>

#include "core/plan/estimate.h"

namespace plumbline {

/// By stage: "40.1 GiB at the peak of stage 0: 12.0 GiB of weights, ...".
[[nodiscard]] std::vector<std::string> predicted_memory_texts(const Prediction& prediction);

}  // namespace plumbline
