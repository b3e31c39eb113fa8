// plan size: how many GPUs does a run take, by a deadline or within a budget?
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/flags/declare_options.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/question_options.h"
#include "cli/flags/search_flags.h"
#include "cli/interruption.h"
#include "cli/kept_memory.h"
#include "cli/output/log_panel.h"
#include "cli/output/output_options.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/verb.h"
#include "core/io/svg.h"
#include "core/quantity/text.h"
#include "planner/present/plan_words.h"
#include "planner/session/search/search_words.h"
#include "planner/session/size/size.h"

namespace plumbline {
namespace {

using session::Scaling;
using session::SizeAnswer;
using session::SizeRow;

std::string sentence_line(const std::string& words) {
  return words.empty() ? "" : wrapped(words, terminal_columns(), 2) + "\n";
}

std::string size_heading_text(const SizeAnswer& answer) {
  const auto found = std::find_if(answer.rows.begin(), answer.rows.end(), [](const SizeRow& row) { return row.plan; });
  if (found == answer.rows.end()) return "";
  return sentence_line(present::size_question_words(answer)) + sentence_line(present::basis_words(*found->plan)) +
         sentence_line(present::framework_words(answer.framework)) + trust_text(*found->plan) + "\n";
}

std::string scaling_text(const SizeAnswer& answer, session::Scaling scaling) {
  std::string text = sentence_line(present::scaling_words(answer, scaling));
  if (text.empty()) return text;
  const present::Table table = present::size_table(answer, scaling);
  if (!table.rows.empty()) text += plumbline::text(table) + "\n";
  return text + plumbline::text(present::size_plan_table(answer, scaling)) + "\n";
}

std::string size_notes_text(const SizeAnswer& answer) {
  const auto any = [&](const auto& holds) { return std::any_of(answer.rows.begin(), answer.rows.end(), holds); };
  std::string text;
  if (any([](const SizeRow& row) { return row.meets != session::Meets::no; }))
    text += "* within the limits as expected, ** at the upper end of the interval too\n";
  if (any([](const SizeRow& row) { return row.plan && row.plan->verdict.near_edge; }))
    text += "! the margin is within the uncertainty of the memory estimate\n";
  if (!answer.complete) text += "Interrupted: the rows so far, the last of them the best so far.\n";
  return text;
}

std::string size_assumptions_text(const SizeAnswer& answer) {
  std::string text = "It rests on:\n";
  for (const std::string& words : present::size_assumptions(answer))
    text += "  " + wrapped(words, terminal_columns(), 4, 2) + "\n";
  return text;
}

std::string size_text(const SizeAnswer& answer) {
  std::string text = size_heading_text(answer);
  const bool has_any = !text.empty();
  for (const session::Scaling scaling : answer.request.scalings) text += scaling_text(answer, scaling);
  if (!has_any)
    return text + (answer.complete ? "Nothing fits on any of these.\n" : "Interrupted before a plan was found.\n");
  const std::string found = size_notes_text(answer) + sentence_line(present::size_answer_words(answer));
  return text + found + (found.empty() ? "" : "\n") + size_assumptions_text(answer);
}

/// How a run scales, as a picture. Left: tokens per second against GPUs with the interval of the step, and the line of
/// an efficiency of 100 % from the fewest GPUs on. Right: each number of GPUs at its days and dollars (GPU-hours
/// without a price), the limits as dashed lines.
class ScalingPicture {
 public:
  explicit ScalingPicture(const SizeAnswer& answer)
      : answer_(answer),
        svg_(margin_left + 2 * LogPanel::width + panel_gap + margin_right,
             LogPanel::top + LogPanel::height + margin_bottom) {}

  std::string draw() && {
    svg_.text(margin_left, 22, present::size_question_words(answer_), {.size = 14, .weight = "bold"});
    draw_legend();
    draw_throughput();
    draw_bill();
    return std::move(svg_).finish();
  }

 private:
  [[nodiscard]] std::vector<const SizeRow*> rows_of(Scaling scaling) const {
    std::vector<const SizeRow*> rows;
    for (const SizeRow& row : answer_.rows)
      if (row.scaling == scaling && row.plan) rows.push_back(&row);
    return rows;
  }
  [[nodiscard]] double cost(const SizeRow& row) const {
    return row.bill.dollars ? row.bill.dollars->value() : row.bill.gpu_hours;
  }

  void draw_legend() {
    double left = margin_left;
    const double y = 42;
    for (const Scaling scaling : answer_.request.scalings) {
      svg_.line(left, y - 4, left + legend_mark, y - 4, colour_of(scaling));
      svg_.dot(left + legend_mark / 2, y - 4, dot_radius, colour_of(scaling));
      svg_.text(left + legend_mark + 6, y, std::string(to_text(scaling)) + " scaling");
      left += 130;
    }
    svg_.line(left, y - 4, left + legend_mark, y - 4, panel_frame_colour, dashes);
    svg_.text(left + legend_mark + 6, y, "efficiency 100 %");
    if (!answer_.request.limits.any()) return;
    left += 140;
    svg_.line(left, y - 4, left + legend_mark, y - 4, limit_colour, dashes);
    svg_.text(left + legend_mark + 6, y, "limit");
  }

  /// Tokens per second at the ends of the step's interval.
  static double fastest(const SizeRow& row) { return row.tokens_per_second * row.step_s.expected / row.step_s.low; }
  static double slowest(const SizeRow& row) { return row.tokens_per_second * row.step_s.expected / row.step_s.high; }

  void draw_throughput() {
    LogPanel panel(svg_, margin_left);
    std::vector<double> counts;
    for (const SizeRow& row : answer_.rows) {
      if (!row.plan) continue;
      panel.x.include(static_cast<double>(row.devices));
      panel.y.include(fastest(row));
      panel.y.include(slowest(row));
      if (counts.empty() || counts.back() != static_cast<double>(row.devices))
        counts.push_back(static_cast<double>(row.devices));
    }
    if (counts.empty()) return;
    panel.draw_frame("How it scales", "tokens per second", "GPUs", counts);
    for (const Scaling scaling : answer_.request.scalings) draw_curve(panel, rows_of(scaling), scaling);
  }

  void draw_curve(const LogPanel& panel, const std::vector<const SizeRow*>& rows, Scaling scaling) {
    if (rows.empty()) return;
    const auto x = [&](const SizeRow& row) { return panel.x_of(static_cast<double>(row.devices)); };
    const SizeRow& first = *rows.front();
    const SizeRow& last = *rows.back();
    const double ideal_each = first.tokens_per_second / static_cast<double>(first.devices) / first.efficiency;
    const auto ideal = [&](const SizeRow& row) { return panel.y_of(ideal_each * static_cast<double>(row.devices)); };
    svg_.line(x(first), ideal(first), x(last), ideal(last), panel_frame_colour, dashes);
    std::vector<std::pair<double, double>> points;
    for (const SizeRow* row : rows) {
      points.emplace_back(x(*row), panel.y_of(row->tokens_per_second));
      const double top = panel.y_of(fastest(*row));
      const double bottom = panel.y_of(slowest(*row));
      svg_.line(x(*row), top, x(*row), bottom, colour_of(scaling));
      for (const double end : {top, bottom})
        svg_.line(x(*row) - whisker, end, x(*row) + whisker, end, colour_of(scaling));
      svg_.dot(points.back().first, points.back().second, dot_radius, colour_of(scaling));
      if (scaling == answer_.request.scalings.front())
        svg_.text(points.back().first + 7, points.back().second + 14, fixed(100 * row->efficiency, 0) + " %");
    }
    svg_.polyline(points, colour_of(scaling), 1.5);
  }

  void draw_bill() {
    LogPanel panel(svg_, margin_left + LogPanel::width + panel_gap);
    const session::RunLimits& limits = answer_.request.limits;
    for (const SizeRow& row : answer_.rows) {
      if (!row.plan) continue;
      panel.x.include(row.bill.days.expected);
      panel.y.include(cost(row));
    }
    if (panel.x.is_empty()) return;
    if (limits.days) panel.x.include(*limits.days);
    if (limits.budget) panel.y.include(limits.budget->value());
    const bool has_price = answer_.terms.price_per_device_hour.has_value();
    panel.draw_frame("What the run takes", has_price ? "dollars" : "GPU-hours", "days", panel.x.marks());
    draw_limits(panel);
    for (const Scaling scaling : answer_.request.scalings) {
      std::vector<std::pair<double, double>> points;
      for (const SizeRow* row : rows_of(scaling)) {
        points.emplace_back(panel.x_of(row->bill.days.expected), panel.y_of(cost(*row)));
        svg_.dot(points.back().first, points.back().second, dot_radius, colour_of(scaling));
        if (scaling == answer_.request.scalings.front()) draw_count(panel, points.back(), row->devices);
      }
      svg_.polyline(points, colour_of(scaling), 1.5);
    }
  }

  /// At the right end its words stand to the left.
  void draw_count(const LogPanel& panel, const std::pair<double, double>& at, std::int64_t devices) {
    const bool is_at_end = at.first > panel.right() - 60;
    svg_.text(at.first + (is_at_end ? 0 : 7), at.second - 9, std::to_string(devices) + " GPUs",
              {.anchor = is_at_end ? TextAnchor::middle : TextAnchor::start});
  }

  void draw_limits(const LogPanel& panel) {
    const session::RunLimits& limits = answer_.request.limits;
    if (limits.days) {
      const double x = panel.x_of(*limits.days);
      svg_.line(x, LogPanel::top, x, LogPanel::top + LogPanel::height, limit_colour, dashes);
    }
    if (limits.budget && answer_.terms.price_per_device_hour) {
      const double y = panel.y_of(limits.budget->value());
      svg_.line(panel.left(), y, panel.right(), y, limit_colour, dashes);
    }
  }

  static std::string_view colour_of(Scaling scaling) { return series_colours[scaling == Scaling::strong ? 0 : 1]; }

  // Pixels.
  static constexpr double panel_gap = 95;
  static constexpr double margin_left = 75;
  static constexpr double margin_bottom = 55;
  static constexpr double margin_right = 40;
  static constexpr double dot_radius = 4;
  static constexpr double whisker = 4;
  static constexpr double legend_mark = 22;
  static constexpr std::string_view limit_colour = "#e15759";
  static constexpr const char* dashes = "5 4";

  const SizeAnswer& answer_;
  Svg svg_;
};

class SizeVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"size", "how many GPUs does a run take? days, dollars, energy, CO2, and how it scales",
            "--model M --machine C --global-batch B --tokens T [--days 30] [--budget 250K]",
            "Searches the best plan of each number of GPUs and bills it for the whole run; says the least GPUs within "
            "the limits, strong scaling (a fixed batch) and weak scaling (a batch that grows with the GPUs), as a "
            "table and a picture. Exits with 1 when no number of GPUs is within the limits, or nothing fits.",
            "plan size --model llama-3-8b --machine dgx-h100 --seq-len 8192 --global-batch 512 --tokens 1T \\\n"
            "  --days 30 --gpus 64,128,256,512 --picture scaling.svg"};
  }
  void declare(CLI::App& app) override {
    question_.declare(app, Recipes::several, DeviceCounts::several);
    declare_options(app, session::size_options(), flags_, "Run");
    search_.declare(app);
    output_.declare(app, "write the plan of the least GPUs, else that of the nearest, to this file");
    picture_.declare(app, "write throughput, days and dollars against GPUs as SVG to this file");
  }
  ExitCode run(Terminal& terminal) override {
    keep_freed_memory();
    output_.require_writable(terminal, {&picture_});
    const Interruption interruption(search_.time_limit());
    const session::SizeAnswer answer = answered(interruption, terminal);
    if (const Plan* plan = chosen(answer))
      output_.write([&](const auto& folder) { return plan_file_text(*plan, folder); }, terminal);
    picture_.write([&] { return ScalingPicture(answer).draw(); }, terminal, output_.narration());
    terminal.print(output_.json() ? to_json_text(to_json(answer)) : size_text(answer));
    output_.print_stats(terminal);
    const bool is_answered = answer.request.limits.any() ? answer.least.has_value() : chosen(answer) != nullptr;
    return is_answered || !answer.complete ? ExitCode::done : ExitCode::no;
  }

 private:
  [[nodiscard]] session::SizeRequest request() const {
    session::SizeRequest request;
    request.search.question = question_.question();
    request.search.recipes = question_.recipes();
    search_.apply(request.search);
    request.devices = question_.device_counts();
    flags_.apply(request);
    return request;
  }

  [[nodiscard]] session::SizeAnswer answered(const Interruption& interruption, Terminal& terminal) {
    const session::PreparedSize prepared = session::prepare_size(request());
    output_.lap("question");
    if (!prepared.warning.empty()) terminal.note("plan: " + prepared.warning);
    Task task;
    task.stop = interruption.token();
    task.progress = [&](const TaskProgress& progress) {
      terminal.progress(std::string(progress.phase) + " " + grouped(progress.done) + " of " + grouped(progress.total));
    };
    task.end_of_phase = [&](std::string_view phase) {
      terminal.clear_progress();
      output_.lap(std::string(phase));
    };
    return session::size(prepared, task);
  }

  [[nodiscard]] static const Plan* chosen(const session::SizeAnswer& answer) {
    for (const auto& place : {answer.least, answer.nearest})
      if (place) return &*answer.rows[*place].plan;
    for (const session::SizeRow& row : answer.rows)
      if (row.plan) return &*row.plan;
    return nullptr;
  }

  QuestionOptions question_;
  SearchFlags search_;
  OutputOptions output_;
  OutputFlag picture_{"--picture", "picture"};
  session::SizeFlags flags_;
};

const RegisteredVerb size_verb(35, make_verb<SizeVerb>);

}  // namespace

}  // namespace plumbline
