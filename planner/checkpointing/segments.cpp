#include "planner/checkpointing/segments.h"

#include <algorithm>

#include "planner/pareto/front.h"

namespace plumbline {
namespace {

struct Label {
  std::int64_t bytes = 0;  ///< per micro-batch in flight
  std::int64_t time = 0;
  std::int32_t first = 0;       ///< where the last piece begins
  bool replayed = false;        ///< whether the last piece is a segment
  std::size_t predecessor = 0;  ///< among the labels at `first`
};
using Labels = std::vector<std::vector<Label>>;  ///< by position

void keep_front(std::vector<Label>& labels) {
  std::vector<ParetoPoint<2>> points;
  for (const Label& label : labels) points.push_back({label.bytes, label.time});
  std::vector<Label> front;
  for (const std::size_t i : pareto_front(points)) front.push_back(labels[i]);
  labels = std::move(front);
}

/// Labels of every position when no segment restores more than `cap`.
Labels labels_of(const std::vector<SegmentLayer>& layers, Bytes cap) {
  Labels labels(layers.size() + 1);
  labels[0].push_back({});
  for (std::size_t last = 1; last <= layers.size(); ++last) {
    Bytes restored(0);
    Picoseconds forward(0);
    for (std::size_t first = last; first-- > 0;) {
      restored += layers[first].kept;
      forward += layers[first].forward;
      for (std::size_t l = 0; l < labels[first].size(); ++l) {
        const Label& before = labels[first][l];
        const auto add = [&](Bytes bytes, Picoseconds time, bool replayed) {
          labels[last].push_back({before.bytes + bytes.value(), before.time + time.value(),
                                  static_cast<std::int32_t>(first), replayed, l});
        };
        if (first + 1 == last) add(layers[first].kept, Picoseconds(0), false);
        if (restored <= cap) add(layers[first].input, forward, true);
      }
    }
    keep_front(labels[last]);
  }
  return labels;
}

SegmentChoice read(const Labels& labels, std::size_t l, std::int64_t in_flight,
                   const std::vector<SegmentLayer>& layers) {
  std::size_t position = labels.size() - 1;
  SegmentChoice choice;
  choice.time = Picoseconds(labels[position][l].time);
  Bytes restored(0);
  const std::int64_t bytes = labels[position][l].bytes;
  while (position > 0) {
    const Label& label = labels[position][l];
    if (label.replayed) {
      choice.replayed.push_back({label.first, static_cast<std::int32_t>(position)});
      Bytes sum(0);
      for (auto i = static_cast<std::size_t>(label.first); i < position; ++i) sum += layers[i].kept;
      restored = std::max(restored, sum);
    }
    position = static_cast<std::size_t>(label.first);
    l = label.predecessor;
  }
  std::reverse(choice.replayed.begin(), choice.replayed.end());
  choice.held = Bytes(in_flight * bytes) + restored;
  return choice;
}

std::vector<Bytes> segment_sizes(const std::vector<SegmentLayer>& layers) {
  std::vector<Bytes> sizes{Bytes(0)};
  for (std::size_t first = 0; first < layers.size(); ++first) {
    Bytes sum(0);
    for (std::size_t i = first; i < layers.size(); ++i) sizes.push_back(sum += layers[i].kept);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

std::optional<SegmentChoice> choose_segments(const std::vector<SegmentLayer>& layers, std::int64_t in_flight,
                                             Bytes memory) {
  std::optional<SegmentChoice> best;
  for (const Bytes cap : segment_sizes(layers)) {
    if (cap > memory) break;
    const Labels labels = labels_of(layers, cap);
    const std::vector<Label>& ends = labels.back();
    for (std::size_t l = 0; l < ends.size(); ++l) {
      if (in_flight * ends[l].bytes + cap.value() > memory.value()) continue;
      if (!best || ends[l].time < best->time.value()) best = read(labels, l, in_flight, layers);
    }
  }
  return best;
}

}  // namespace plumbline
