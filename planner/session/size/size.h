#pragma once
/// \file size.h: how many GPUs a run takes: what `plan size` is asked, its flags, its answer and what is shown of it.
///
/// Model: the best plan of each number of GPUs, by a search (search.h), billed for the whole run (run_bill.h). Strong
/// scaling keeps the global batch, weak scaling lets it grow with the GPUs from the smallest number on. The answer is
/// the least number whose expected days and dollars are within the limits. Efficiency is throughput per GPU over the
/// most that a row of the same scaling has.
/// Not modelled: that a larger batch may need more tokens for the same loss.
/// Checked against: tests/unit/planner/session/size, tests/integration/size_test.py.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/option.h"
#include "planner/present/table.h"
#include "planner/pricing/run_bill.h"
#include "planner/session/estimate.h"
#include "planner/session/run_limits.h"
#include "planner/session/search/search.h"
#include "planner/session/use_case/answer.h"

namespace plumbline {
class Json;
}

namespace plumbline::session {

enum class Scaling : std::uint8_t { strong, weak };
inline constexpr std::array all_scalings{Scaling::strong, Scaling::weak};
/// "strong", "weak".
[[nodiscard]] std::string_view to_text(Scaling scaling);

/// Far beyond what exists, so that only mistakes are refused: a grid of lignite emits about 1.2 kg a kWh.
inline constexpr double highest_pue = 10;
inline constexpr double dirtiest_grid = 2000;

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

/// The limits and the site of a run that is sized, as the texts of its flags.
struct SizeFlags {
  std::optional<std::string> days, budget, scaling, pue, grid;

  /// Writes what was given into a request. Throws InputError naming the flag.
  void apply(SizeRequest& request) const;

 private:
  [[nodiscard]] std::vector<Scaling> scalings() const;
};
[[nodiscard]] const Options<SizeFlags>& size_options();

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
  std::string warning;  ///< on names that could also be files; or empty
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

/// The question of a plan, asked again over numbers of GPUs: its model, machine and recipe, strong and weak, on a
/// quarter, a half, one, two and four times its GPUs, in whole nodes, against the limits of the run. Without a budget
/// of tokens: 20 for each parameter that is trained, by Hoffmann et al., "Training compute-optimal large language
/// models", arXiv:2203.15556, table 3.
struct ScalingQuestion {
  SizeRequest request;
  std::string note;  ///< on a budget that the question does not say; or empty
};
[[nodiscard]] ScalingQuestion scaling_question(const PricedQuestion& asked, const RunLimits& limits = {});

/// By number of GPUs, in the order of the scalings. Throws InputError for what no search can be asked.
[[nodiscard]] std::vector<PreparedSize::Point> size_points(const SizeRequest& request);
/// Throws InputError for what `prepare_search` refuses, no tokens, numbers out of range, numbers of GPUs that the
/// machine cannot have, and a weak batch that is no whole number.
[[nodiscard]] PreparedSize prepare_size(const SizeRequest& request);
/// Progress is that of the searches; the phases "64 GPUs, bounding" and so on. A size that is stopped answers with the
/// rows so far.
[[nodiscard]] SizeAnswer size(const PreparedSize& prepared, const Task& task = {});

inline constexpr std::string_view size_format = "plumbline.size/1";
/// The contract of `plan size --json`: the keys of models/schemas/size.schema.json.
[[nodiscard]] Json to_json(const SizeAnswer& answer);
/// Its tables by the name of their scaling.
[[nodiscard]] Answer shown(const SizeAnswer& answer);

}  // namespace plumbline::session

namespace plumbline::present {

/// What is asked, without the number of GPUs: "llama-3-8b (8.03 B parameters) on H100-SXM-80GB (dgx-h100), ...".
[[nodiscard]] std::string size_question_words(const session::SizeAnswer& answer);
/// The rows of one scaling on which something fits: step, throughput, efficiency, and what the run takes.
[[nodiscard]] Table size_table(const session::SizeAnswer& answer, session::Scaling scaling);
/// The plan of each of these rows, or why there is none.
[[nodiscard]] Table size_plan_table(const session::SizeAnswer& answer, session::Scaling scaling);
/// "strong scaling, global batch 512" and the like.
[[nodiscard]] std::string scaling_words(const session::SizeAnswer& answer, session::Scaling scaling);
/// The least number of GPUs within the limits, or that there is none and the nearest; empty without limits.
[[nodiscard]] std::string size_answer_words(const session::SizeAnswer& answer);
/// Each number that dollars, energy and emissions rest on, with its source.
[[nodiscard]] std::vector<std::string> size_assumptions(const session::SizeAnswer& answer);

}  // namespace plumbline::present
