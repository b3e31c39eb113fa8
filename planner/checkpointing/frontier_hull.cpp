// Convex corners of a block's frontier by minimum cuts.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "planner/checkpointing/block_frontier.h"
#include "planner/checkpointing/minimum_cut.h"

namespace plumbline {
namespace {

/// Below this every sum of weights of a cut fits 64 bits.
constexpr double largest_weight_sum = 4e18;

/// Variables: a value is there (kept or written again), then an op is replayed.
class Corners {
 public:
  explicit Corners(const RecomputeProblem& problem) : problem_(problem) {
    for (const RecomputeValue& value : problem.values) {
      unit_ = std::gcd(unit_, value.size.value());
      closure_.fixed.push_back(value.needed ? Fixed::chosen : Fixed::free);
    }
    unit_ = std::max<std::int64_t>(unit_, 1);
    const auto values = static_cast<std::int32_t>(problem.values.size());
    for (std::size_t o = 0; o < problem.ops.size(); ++o) {
      const RecomputeOp& op = problem.ops[o];
      closure_.fixed.push_back(op.can_replay ? Fixed::free : Fixed::refused);
      for (const auto* ends : {&op.inputs, &op.outputs})
        for (const std::int32_t value : *ends)
          closure_.implications.emplace_back(values + static_cast<std::int32_t>(o), value);
    }
    set_shift();
  }

  std::vector<RecomputeChoice> run() {
    std::int64_t bytes = 1;
    std::int64_t time = 1;
    for (const RecomputeValue& value : problem_.values) bytes += units(value.size);
    for (const RecomputeOp& op : problem_.ops) time += op.time.value() >> shift_;
    const RecomputeChoice least = best(time, 1);
    const RecomputeChoice fastest = best(1, bytes);
    if (least.saved == fastest.saved) return {least};
    corners_.push_back(least);
    between(least, fastest);
    corners_.push_back(fastest);
    return corners_;
  }

 private:
  std::int64_t units(Bytes size) const { return size.value() / unit_; }
  std::int64_t coarse(Picoseconds time) const {
    std::int64_t sum = time.value();
    return sum >> shift_;
  }
  /// bytes * weight(bytes) + time * weight(time) of a choice, op times each coarsened.
  std::int64_t objective(const RecomputeChoice& c, std::int64_t per_byte, std::int64_t per_time) const {
    return units(c.saved) * per_byte + coarse_time(c) * per_time;
  }
  std::int64_t coarse_time(const RecomputeChoice& c) const {
    std::int64_t sum = 0;
    for (std::size_t o = 0; o < c.replayed.size(); ++o)
      if (c.replayed[o]) sum += coarse(problem_.ops[o].time);
    return sum;
  }
  void set_shift();
  RecomputeChoice best(std::int64_t per_byte, std::int64_t per_time);
  void between(const RecomputeChoice& low, const RecomputeChoice& high);

  const RecomputeProblem& problem_;
  ClosureProblem closure_;
  std::int64_t unit_ = 0;  ///< bytes
  int shift_ = 0;          ///< times in units of 2^shift picoseconds
  std::vector<RecomputeChoice> corners_;
};

/// Every weight is at most (all bytes) * (all time); the network holds each about four times.
void Corners::set_shift() {
  double bytes = 1;
  double time = 1;
  for (const RecomputeValue& value : problem_.values) bytes += static_cast<double>(units(value.size));
  for (const RecomputeOp& op : problem_.ops) time += static_cast<double>(op.time.value());
  while (4 * bytes * time > largest_weight_sum && time > 1) {
    time /= 2;
    ++shift_;
  }
}

RecomputeChoice Corners::best(std::int64_t per_byte, std::int64_t per_time) {
  closure_.weights.clear();
  for (const RecomputeValue& value : problem_.values) closure_.weights.push_back(per_byte * units(value.size));
  for (const RecomputeOp& op : problem_.ops) {
    std::int64_t written = 0;
    for (const std::int32_t output : op.outputs)
      written += units(problem_.values[static_cast<std::size_t>(output)].size);
    closure_.weights.push_back(per_time * coarse(op.time) - per_byte * written);
  }
  const std::vector<bool> chosen = minimum_closure(closure_);
  return price_choice(
      problem_, std::vector<bool>(chosen.begin() + static_cast<std::ptrdiff_t>(problem_.values.size()), chosen.end()));
}

void Corners::between(const RecomputeChoice& low, const RecomputeChoice& high) {
  const std::int64_t divisor =
      std::max<std::int64_t>(1, std::gcd(coarse_time(low) - coarse_time(high), units(high.saved - low.saved)));
  const std::int64_t per_byte = (coarse_time(low) - coarse_time(high)) / divisor;
  const std::int64_t per_time = units(high.saved - low.saved) / divisor;
  if (per_byte <= 0 || per_time <= 0) return;
  const RecomputeChoice middle = best(per_byte, per_time);
  if (objective(middle, per_byte, per_time) >= objective(low, per_byte, per_time)) return;
  between(low, middle);
  corners_.push_back(middle);
  between(middle, high);
}

}  // namespace

std::vector<RecomputeChoice> frontier_hull(const RecomputeProblem& problem) { return Corners(problem).run(); }

}  // namespace plumbline
