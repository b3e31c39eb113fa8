#include "runtime/execution/rotary_tables.h"

#include "runtime/execution/rotary_frequencies.h"

namespace plumbline {

const float* RotaryTables::frequencies(std::int64_t rotary_dim) {
  float*& held = made_[rotary_dim];
  if (held != nullptr) return held;
  const std::vector<float> made = rotary_frequencies(constants_, rotary_dim);
  const Bytes bytes(static_cast<std::int64_t>(made.size() * sizeof(float)));
  held = static_cast<float*>(memory_.reserve(bytes));
  device_.upload(Stream::compute, held, made.data(), bytes);
  return held;
}

void RotaryTables::prepare_as(const RotaryTables& rehearsed) {
  for (const auto& [rotary_dim, held] : rehearsed.made_) (void)frequencies(rotary_dim);
}

}  // namespace plumbline
