#include "planner/partition/exposed_partition.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::int64_t impossible = Picoseconds::largest().value();

/// Labels of stages 0..s over layers 0..last, for one threshold on stage times.
class Prefixes {
 public:
  Prefixes(std::int32_t stages, std::int32_t layers, const ExposedOptions& options, std::int64_t cap)
      : stages_(stages),
        layers_(layers),
        cells_(static_cast<std::size_t>(stages + 1) * static_cast<std::size_t>(layers + 1)) {
    cell(0, 0).label = 0;
    for (std::int32_t s = 0; s < stages; ++s)
      for (std::int32_t first = s; first < layers; ++first)
        for (std::int32_t last = first + 1; last <= layers && cell(s, first).label != impossible; ++last)
          extend(s, first, last, options(s, first, last), cap);
  }

  [[nodiscard]] std::int64_t label() { return cell(stages_, layers_).label; }
  [[nodiscard]] ExposedPartition read(Picoseconds value) {
    ExposedPartition partition;
    partition.value = value;
    std::int32_t last = layers_;
    for (std::int32_t s = stages_; s > 0; --s) {
      const Cell& end = cell(s, last);
      partition.layers.insert(partition.layers.begin(), last - end.first);
      partition.option.insert(partition.option.begin(), end.option);
      last = end.first;
    }
    return partition;
  }

 private:
  struct Cell {
    std::int64_t label = impossible;
    std::int32_t first = 0;
    std::int32_t option = 0;
  };
  Cell& cell(std::int32_t stage, std::int32_t layer) {
    return cells_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(layers_ + 1) +
                  static_cast<std::size_t>(layer)];
  }
  void extend(std::int32_t s, std::int32_t first, std::int32_t last, const std::vector<ExposedOption>& options,
              std::int64_t cap) {
    Cell& end = cell(s + 1, last);
    for (std::size_t o = 0; o < options.size(); ++o) {
      const std::int64_t time = options[o].time.value();
      if (time > cap) continue;
      const std::int64_t label = time + std::max(cell(s, first).label, options[o].exposed.value());
      if (label < end.label) end = {label, first, static_cast<std::int32_t>(o)};
    }
  }

  std::int32_t stages_;
  std::int32_t layers_;
  std::vector<Cell> cells_;
};

std::vector<std::int64_t> thresholds(std::int32_t stages, std::int32_t layers, const ExposedOptions& options) {
  std::vector<std::int64_t> times;
  for (std::int32_t s = 0; s < stages; ++s)
    for (std::int32_t first = 0; first < layers; ++first)
      for (std::int32_t last = first + 1; last <= layers; ++last)
        for (const ExposedOption& option : options(s, first, last)) times.push_back(option.time.value());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

std::optional<ExposedPartition> exposed_partition(std::int32_t stages, std::int32_t layers,
                                                  const ExposedOptions& options, std::int64_t micro_batches) {
  const std::int64_t least = Prefixes(stages, layers, options, impossible).label();
  if (least == impossible) return std::nullopt;
  std::optional<ExposedPartition> found;
  for (const std::int64_t cap : thresholds(stages, layers, options)) {
    const std::int64_t waiting = (micro_batches - 1) * cap;
    if (found && least + waiting >= found->value.value()) break;
    Prefixes prefixes(stages, layers, options, cap);
    if (prefixes.label() == impossible) continue;
    const Picoseconds value(prefixes.label() + waiting);
    if (!found || value < found->value) found = prefixes.read(value);
  }
  return found;
}

}  // namespace plumbline
