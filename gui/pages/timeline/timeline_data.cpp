#include "gui/pages/timeline/timeline_data.h"

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int digits = 3;

double milliseconds(Picoseconds time) { return 1e3 * to_seconds(time).value(); }

/// Whether any stage spends time on it.
bool is_spent(const TimelineData& data, std::size_t cause) {
  return std::any_of(data.reports.begin(), data.reports.end(),
                     [&](const StageReport& report) { return report.busy.by_cause[cause] > Picoseconds(0); });
}

/// Messages that a rank waits out; the bubble is what it idles.
std::string title_of(TimeCause cause) {
  return cause == TimeCause::pipeline_bubble ? "messages" : present::words_of(to_text(cause));
}

std::vector<present::Cell> stage_cells(const TimelineData& data, std::size_t stage) {
  const Simulation& s = data.simulation();
  return {present::whole(static_cast<std::int64_t>(stage)), present::gib_cell(s.memory[stage].memory.device_total(), 2),
          present::decimal(milliseconds(data.reports[stage].peak_at), digits),
          present::words(data.reports[stage].peak_action), present::decimal(milliseconds(s.idle[stage]), digits)};
}

}  // namespace

Picoseconds TimelineData::measured_end() const {
  Picoseconds end(0);
  for (const Lane& lane : measured)
    if (!lane.segments.empty()) end = std::max(end, lane.segments.back().span.end);
  return end;
}

SharedTimeline timeline_data(const SharedPlan& plan, const Task& task, const SharedRecord& record) {
  const session::PricedQuestion& asked = plan->answer;
  auto answer = session::simulate(asked, {}, task);
  if (!answer || task.is_stopped()) return nullptr;
  auto data = std::make_shared<TimelineData>(TimelineData{plan, std::move(*answer), {}, {}, {}});
  data->reports = stage_reports(data->simulated().program, data->simulation());
  data->lanes = stage_lanes(data->simulated());
  const std::vector<std::int32_t> sites = asked.question.stage_sites(asked.strategy).of_rank;
  for (std::size_t stage = 0; stage < data->stages(); ++stage)
    data->capacity.push_back(asked.question.capacity(stage < sites.size() ? sites[stage] : 0));
  if (record) data->measured = measured_lanes(*record, data->stages());
  return data;
}

present::Table stage_table(const TimelineData& data) {
  using present::Unit;
  present::Table table{{{"stage", "stage", Unit::number, "pipeline stage"},
                        {"peak", "peak GiB", Unit::gibibytes, "most that a rank of the stage holds"},
                        {"peak_at", "at ms", Unit::milliseconds, "when it holds that"},
                        {"peak_action", "action", Unit::text, "what starts then", present::Align::left},
                        {"idle", "idle ms", Unit::milliseconds, "when nothing occupies the stage"}},
                       {}};
  for (std::size_t stage = 0; stage < data.stages(); ++stage) table.rows.push_back(stage_cells(data, stage));
  for (std::size_t cause = 0; cause < time_cause_count; ++cause) {
    if (!is_spent(data, cause)) continue;
    const std::string title = title_of(static_cast<TimeCause>(cause));
    table.columns.push_back({std::string(to_text(static_cast<TimeCause>(cause))), title + " ms", Unit::milliseconds,
                             "time that the stage spends on " + title});
    for (std::size_t stage = 0; stage < data.stages(); ++stage)
      table.rows[stage].push_back(present::decimal(milliseconds(data.reports[stage].busy.by_cause[cause]), digits));
  }
  return table;
}

std::string timeline_words(const TimelineData& data) {
  const Simulation& s = data.simulation();
  std::string text = "step " + to_text(to_seconds(s.step())) + ", bubble " +
                     present::per_cent_text(s.time[TimeCause::pipeline_bubble] / s.step()) + ", peak " +
                     present::gib_text(s.peak_memory()) + " GiB on stage " + std::to_string(s.heaviest_rank);
  if (!shows_all(data.simulated()) && s.left_out.micro_batches > 0) text += "; not drawn: " + to_text(s.left_out);
  if (!data.measured.empty())
    text += "; the measured step: " + to_text(to_seconds(data.measured_end())) + " (" +
            present::difference_text(to_seconds(data.measured_end()).value(), to_seconds(s.step()).value()) + ")";
  return text;
}

}  // namespace plumbline::gui
