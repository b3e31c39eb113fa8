#pragma once
/// \file size.h: how many GPUs a run takes: what `plan size` answers.
///
/// Model: the best plan of each number of GPUs, by a search (search.h), billed for the whole run (run_bill.h). Strong
/// scaling keeps the global batch, weak scaling lets it grow with the GPUs from the smallest number on. The answer is
/// the least number whose expected days and dollars are within the limits. Efficiency is throughput per GPU over the
/// most that a row of the same scaling has.
/// Not modelled: that a larger batch may need more tokens for the same loss.
/// Checked against: tests/unit/planner/session/size_test.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/pricing/run_bill.h"
#include "planner/session/search.h"

namespace plumbline::session {

enum class Scaling : std::uint8_t { strong, weak };
inline constexpr std::array all_scalings{Scaling::strong, Scaling::weak};
/// "strong", "weak".
[[nodiscard]] std::string_view to_text(Scaling scaling);

/// Far beyond what exists, so that only mistakes are refused: a century, the world's yearly product, a grid of lignite
/// (which emits about 1.2 kg a kWh).
inline constexpr double least_days = 0.001;
inline constexpr double most_days = 36'525;
inline constexpr double least_dollars = 1;
inline constexpr double most_dollars = 1e14;
inline constexpr double highest_pue = 10;
inline constexpr double dirtiest_grid = 2000;

/// Of the whole run; absent: no limit.
struct RunLimits {
  std::optional<double> days;
  std::optional<Dollars> budget;
  [[nodiscard]] bool any() const { return days || budget; }
};

/// Of the texts of --days and --budget. Throws InputError naming the flag.
[[nodiscard]] RunLimits run_limits(const std::optional<std::string>& days, const std::optional<std::string>& budget);

struct SizeRequest {
  /// What is trained and which plans are looked at; its question needs a budget of tokens or samples, its `devices` are
  /// not read.
  SearchRequest search;
  /// Numbers of GPUs; empty: whole nodes, doubled until the limits are met or more GPUs stop to help, and where they
  /// are met two numbers between.
  std::vector<std::int64_t> devices;
  std::vector<Scaling> scalings{Scaling::strong};  ///< the first one is held against the limits
  RunLimits limits;
  std::optional<double> power_usage_effectiveness;
  std::optional<double> grid_grams_per_kwh;
};

/// Whether a run stays within the limits: as expected, or also at the upper end of its interval.
enum class Meets : std::uint8_t { no, expected, surely };

/// One number of GPUs under one scaling.
struct SizeRow {
  Scaling scaling = Scaling::strong;
  std::int64_t devices = 0;
  std::int64_t nodes = 0;
  std::int64_t global_batch = 0;
  std::optional<Plan> plan;  ///< the best one; nothing where no plan fits
  std::string reason;        ///< then: why
  Interval step_s;
  double tokens_per_second = 0;
  double mfu = 0;
  double efficiency = 0;  ///< at most 1
  RunBill bill;
  Meets meets = Meets::no;
  bool is_complete = true;  ///< false: the best so far of a search that was stopped
};

/// What energy is counted from.
struct PowerFigures {
  Sourced<Watts> device;
  Sourced<Watts> host;  ///< of a node alongside its devices
};

/// A request whose parts were found and checked: a search for each row.
struct PreparedSize {
  struct Point {
    Scaling scaling;
    PreparedSearch search;
  };
  SizeRequest request;
  std::vector<Point> points;  ///< by number of GPUs
  BillTerms terms;
  PowerFigures power;
  std::string remark;  ///< on names that could also be files; or empty
};

struct SizeAnswer {
  SizeRequest request;
  FrameworkChoice framework;  ///< of the first row
  BillTerms terms;
  PowerFigures power;
  std::vector<SizeRow> rows;           ///< by number of GPUs
  std::optional<std::size_t> least;    ///< row of the fewest GPUs within the limits
  std::optional<std::size_t> nearest;  ///< where none is: the row that exceeds them least
  bool complete = true;
};

/// Throws InputError for what `prepare_search` refuses, no tokens, numbers out of range, numbers of GPUs that the
/// machine cannot have, and a weak batch that is no whole number.
[[nodiscard]] PreparedSize prepare_size(const SizeRequest& request);
/// Progress is that of the searches; the phases "64 GPUs, bounding" and so on. A size that is stopped answers with the
/// rows so far.
[[nodiscard]] SizeAnswer size(const PreparedSize& prepared, const Task& task = {});

}  // namespace plumbline::session
