#pragma once
/// \file run_difference.h: what two runs that should have the same bits differ in.

#include <bit>
#include <cstring>

#include "tests/executed.h"

namespace plumbline {

/// The first tensor that has other bits; a NaN, of a step that fp16 skips, has bits too.
[[nodiscard]] inline std::string first_difference(const WholeTensors& a, const WholeTensors& b) {
  for (const auto& [name, values] : b) {
    const auto found = a.find(name);
    if (found == a.end() || found->second.size() != values.size() ||
        std::memcmp(found->second.data(), values.data(), values.size() * sizeof(float)) != 0)
      return name;
  }
  return a.size() == b.size() ? "" : "more tensors";
}

/// What is not the same, or nothing.
[[nodiscard]] inline std::string difference(const Executed& run, const Executed& expected) {
  for (std::size_t i = 0; i < expected.record.steps.size(); ++i)
    if (std::bit_cast<std::uint64_t>(run.record.steps.at(i).loss) !=
        std::bit_cast<std::uint64_t>(expected.record.steps[i].loss))
      return "loss of step " + std::to_string(i) + ": " + std::to_string(run.record.steps[i].loss) + ", expected " +
             std::to_string(expected.record.steps[i].loss);
  if (const std::string name = first_difference(run.gradients, expected.gradients); !name.empty())
    return "gradients of " + name;
  const std::string name = first_difference(run.weights, expected.weights);
  return name.empty() ? "" : "weights of " + name;
}

}  // namespace plumbline
