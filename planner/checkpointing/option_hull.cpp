#include "planner/checkpointing/option_hull.h"

#include <algorithm>
#include <numeric>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Compared in floating point: the order of nearly equal moves changes the bound by less than its slack.
double gain(std::int64_t time, std::int64_t bytes) { return static_cast<double>(time) / static_cast<double>(bytes); }

/// Corners from the smallest option to the fastest, each step gaining less per byte than the one before.
std::vector<std::size_t> corners_of(std::span<const LayerOption> options) {
  std::vector<std::size_t> order(options.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return options[a].saved != options[b].saved ? options[a].saved < options[b].saved
                                                : options[a].time < options[b].time;
  });
  std::vector<std::size_t> corners;
  const auto slope = [&](std::size_t a, std::size_t b) {
    return gain((options[a].time - options[b].time).value(), (options[b].saved - options[a].saved).value());
  };
  for (const std::size_t o : order) {
    if (!corners.empty() && options[o].time >= options[corners.back()].time) continue;
    while (corners.size() > 1 && slope(corners[corners.size() - 2], corners.back()) <= slope(corners.back(), o))
      corners.pop_back();
    if (corners.size() == 1 && options[corners.back()].saved == options[o].saved) corners.pop_back();
    corners.push_back(o);
  }
  return corners;
}

/// What a fraction of one move saves; two picoseconds of slack cover its rounding.
std::int64_t begun(const HullStep& step, std::int64_t left) {
  const double part = static_cast<double>(left) / static_cast<double>(step.bytes);
  return static_cast<std::int64_t>(part * static_cast<double>(step.time)) + 2;
}

}  // namespace

OptionHull::OptionHull(const std::vector<std::span<const LayerOption>>& allowed) {
  for (std::size_t g = 0; g < allowed.size(); ++g) {
    check(!allowed[g].empty(), "a group has an option");
    const std::vector<std::size_t> corners = corners_of(allowed[g]);
    const auto at = [&](std::size_t corner) -> const LayerOption& { return allowed[g][corners[corner]]; };
    first_option_.push_back(corners.front());
    smallest_.push_back(at(0).saved.value());
    slowest_.push_back(at(0).time.value());
    for (std::size_t c = 1; c < corners.size(); ++c)
      steps_.push_back({(at(c).saved - at(c - 1).saved).value(), (at(c - 1).time - at(c).time).value(),
                        static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(corners[c])});
  }
  steps_.shrink_to_fit();
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const HullStep& a, const HullStep& b) { return gain(a.time, a.bytes) > gain(b.time, b.bytes); });
}

std::int64_t OptionHull::least_bytes(const std::vector<std::int64_t>& counts) const {
  std::int64_t bytes = 0;
  for (std::size_t g = 0; g < counts.size(); ++g) bytes += counts[g] * smallest_[g];
  return bytes;
}

std::int64_t OptionHull::most_time(const std::vector<std::int64_t>& counts) const {
  std::int64_t time = 0;
  for (std::size_t g = 0; g < counts.size(); ++g) time += counts[g] * slowest_[g];
  return time;
}

std::int64_t OptionHull::bound(const std::vector<std::int64_t>& counts, std::int64_t capacity) const {
  std::int64_t left = capacity - least_bytes(counts);
  std::int64_t time = most_time(counts);
  for (const HullStep& step : steps_) {
    const std::int64_t whole = std::min(counts[step.group], left / step.bytes);
    time -= whole * step.time;
    left -= whole * step.bytes;
    if (whole < counts[step.group]) return time - begun(step, left);
  }
  return time;
}

Relaxation::Relaxation(const OptionHull& hull, const std::vector<std::int64_t>& counts)
    : last_time_(hull.most_time(counts)), last_bytes_(hull.least_bytes(counts)) {
  taken_.reserve(hull.steps().size());
  for (const HullStep& step : hull.steps()) {
    const std::int64_t count = counts[step.group];
    if (count == 0) continue;
    taken_.push_back({last_bytes_, last_time_, &step, gain(step.time, step.bytes)});
    last_bytes_ += count * step.bytes;
    last_time_ -= count * step.time;
  }
}

std::int64_t Relaxation::bound(std::int64_t capacity) const {
  if (taken_.empty() || capacity >= last_bytes_) return last_time_;
  const auto after = std::upper_bound(taken_.begin(), taken_.end(), capacity,
                                      [](std::int64_t bytes, const Taken& taken) { return bytes < taken.bytes; });
  const Taken& taken = after == taken_.begin() ? taken_.front() : *(after - 1);
  const std::int64_t left = capacity - taken.bytes;
  const std::int64_t whole = left / taken.step->bytes;
  return taken.time - whole * taken.step->time - begun(*taken.step, left - whole * taken.step->bytes);
}

std::int64_t OptionHull::reachable(const std::vector<std::int64_t>& counts, std::int64_t capacity) const {
  std::int64_t left = capacity - least_bytes(counts);
  std::int64_t time = most_time(counts);
  // A layer takes a step only after the steps before it, which come earlier in this order.
  std::vector<std::int64_t> climbing = counts;
  for (const HullStep& step : steps_) {
    const std::int64_t whole = std::min(climbing[step.group], left / step.bytes);
    time -= whole * step.time;
    left -= whole * step.bytes;
    climbing[step.group] = whole;
  }
  return time;
}

}  // namespace plumbline
