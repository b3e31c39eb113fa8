#pragma once
/// \file stage_prices.h: what every possible stage of a pipeline takes: the table that partitions are chosen from.
///
/// Picoseconds per micro-batch for layers [first, last) on stage s. Whoever fills it decides what fits: recompute,
/// memory and in-flight counts are folded in, and what was never set cannot be chosen.
/// Source: planning as a chain of layers over stages, Narayanan et al., arXiv:1806.03377 (PipeDream).
/// Not modelled: stages of layers that are not neighbours; stages of more than 26 days.
/// Checked against: tests/property/partition_test.cpp (whose partitions read it).

#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct StagePrice {
  Picoseconds forward{0};
  Picoseconds backward{0};  ///< recompute included
  [[nodiscard]] Picoseconds total() const { return forward + backward; }
  bool operator==(const StagePrice&) const = default;
};

class StagePrices {
 public:
  /// More picoseconds than any stage takes; the sum of two is still a number.
  static constexpr std::int64_t no_time = Picoseconds::largest().value() / 4;

  StagePrices(std::int32_t stages, std::int32_t layers)
      : stages_(stages),
        layers_(layers),
        prices_(static_cast<std::size_t>(stages) * static_cast<std::size_t>(layers) *
                static_cast<std::size_t>(layers + 1)),
        totals_(prices_.size(), no_time) {}

  void set(std::int32_t stage, std::int32_t first, std::int32_t last, StagePrice price) {
    prices_[slot(stage, first, last)] = price;
    totals_[slot(stage, first, last)] = price.total().value();
  }
  [[nodiscard]] bool fits(std::int32_t stage, std::int32_t first, std::int32_t last) const {
    return totals_[slot(stage, first, last)] != no_time;
  }
  [[nodiscard]] const StagePrice& at(std::int32_t stage, std::int32_t first, std::int32_t last) const {
    return prices_[slot(stage, first, last)];
  }
  /// Totals of layers [first, last) by `last`, `no_time` where they do not fit: what inner loops run over.
  [[nodiscard]] const std::int64_t* totals(std::int32_t stage, std::int32_t first) const {
    return totals_.data() + slot(stage, first, 0);
  }
  [[nodiscard]] std::int32_t stages() const { return stages_; }
  [[nodiscard]] std::int32_t layers() const { return layers_; }

 private:
  [[nodiscard]] std::size_t slot(std::int32_t stage, std::int32_t first, std::int32_t last) const {
    return (static_cast<std::size_t>(stage) * static_cast<std::size_t>(layers_) + static_cast<std::size_t>(first)) *
               static_cast<std::size_t>(layers_ + 1) +
           static_cast<std::size_t>(last);
  }

  std::int32_t stages_;
  std::int32_t layers_;
  std::vector<StagePrice> prices_;
  std::vector<std::int64_t> totals_;
};

/// How many layers each stage holds, and what the objective comes to.
struct StagePartition {
  std::vector<std::int32_t> layers;
  Picoseconds value{0};
};

}  // namespace plumbline
