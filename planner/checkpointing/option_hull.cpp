#include "planner/checkpointing/option_hull.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Compared in floating point: the order of nearly equal moves changes the bound by less than its slack.
double gain(std::int64_t time, std::int64_t bytes) { return static_cast<double>(time) / static_cast<double>(bytes); }

/// Corners from the smallest option to the fastest, each step gaining less per byte than the one before.
std::vector<LayerOption> corners_of(std::vector<LayerOption> options) {
  std::sort(options.begin(), options.end(), [](const LayerOption& a, const LayerOption& b) {
    return a.saved != b.saved ? a.saved < b.saved : a.time < b.time;
  });
  std::vector<LayerOption> corners;
  const auto slope = [](const LayerOption& a, const LayerOption& b) {
    return gain((a.time - b.time).value(), (b.saved - a.saved).value());
  };
  for (const LayerOption& option : options) {
    if (!corners.empty() && option.time >= corners.back().time) continue;
    while (corners.size() > 1 && slope(corners[corners.size() - 2], corners.back()) <= slope(corners.back(), option))
      corners.pop_back();
    if (corners.size() == 1 && corners.back().saved == option.saved) corners.pop_back();
    corners.push_back(option);
  }
  return corners;
}

}  // namespace

OptionHull::OptionHull(const std::vector<std::vector<LayerOption>>& allowed) {
  for (std::size_t g = 0; g < allowed.size(); ++g) {
    check(!allowed[g].empty(), "a group has an option");
    const std::vector<LayerOption> corners = corners_of(allowed[g]);
    smallest_.push_back(corners.front().saved.value());
    slowest_.push_back(corners.front().time.value());
    for (std::size_t c = 1; c < corners.size(); ++c)
      steps_.push_back(
          {(corners[c].saved - corners[c - 1].saved).value(), (corners[c - 1].time - corners[c].time).value(), g});
  }
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
    if (whole == counts[step.group]) continue;
    // A fraction of one move; two picoseconds of slack cover its rounding.
    const double part = static_cast<double>(left) / static_cast<double>(step.bytes);
    return time - static_cast<std::int64_t>(part * static_cast<double>(step.time)) - 2;
  }
  return time;
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
