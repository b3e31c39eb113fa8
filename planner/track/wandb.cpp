// Weights & Biases: the folder of a run that was made offline.
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/io/json.h"
#include "planner/track/tracker.h"
#include "planner/track/wire.h"

namespace plumbline {
namespace {

using track::Message;

/// Numbers of fields: wandb/proto/wandb_internal.proto.
enum RecordField : int {
  record_number = 1,
  record_history = 2,
  record_summary = 3,
  record_run = 17,
  record_exit = 18,
  record_header = 21,
  record_footer = 22
};
enum RunField : int { run_id = 1, run_project = 3, run_config = 4, run_display_name = 8, run_start_time = 17 };
enum ItemField : int { item_key = 1, item_nested_key = 2, item_value_json = 16 };
enum HistoryField : int { history_items = 1, history_step = 2 };

/// wandb/sdk/internal/datastore.py: a LevelDB log of blocks.
class RecordLog {
 public:
  RecordLog() : bytes_(":W&B" + track::bytes_of(std::uint16_t{0xBEE1}) + std::string(1, '\0')) {}

  void add(Message record) {
    record.integer(record_number, ++records_);
    std::string_view left = record.bytes();
    for (bool is_first = true; is_first || !left.empty(); is_first = false) {
      std::size_t room = block_size - bytes_.size() % block_size;
      if (room < header_size) {
        bytes_.append(room, '\0');
        room = block_size;
      }
      const std::string_view part = left.substr(0, room - header_size);
      left.remove_prefix(part.size());
      const char type = left.empty() ? (is_first ? whole : last) : (is_first ? first : middle);
      bytes_ += track::bytes_of(track::crc32(type, part)) + track::bytes_of(static_cast<std::uint16_t>(part.size()));
      bytes_ += type;
      bytes_ += part;
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t block_size = 32768;
  static constexpr std::size_t header_size = 7;
  static constexpr char whole = 1, first = 2, middle = 3, last = 4;
  std::string bytes_;
  std::int64_t records_ = 0;
};

Message item(const std::string& key, const Json& value) {
  return Message().text(item_key, key).text(item_value_json, to_json_text(value, -1));
}

Message history_item(const std::string& key, const Json& value) {
  return Message().text(item_nested_key, key).text(item_value_json, to_json_text(value, -1));
}

Message run_record(const TrackedRun& run) {
  Message config;
  for (const auto& [name, value] : run.parameters) config.message(1, item(name, Json(value)));
  const std::int64_t milliseconds = run.begin.count();
  const Message start = Message().integer(1, milliseconds / 1000).integer(2, milliseconds % 1000 * 1'000'000);
  return Message().message(record_run, Message()
                                           .text(run_id, run.id)
                                           .text(run_project, "plumbline")
                                           .message(run_config, config)
                                           .text(run_display_name, run.name)
                                           .message(run_start_time, start));
}

Message history_record(const TrackedRun& run, const TrackedStep& step) {
  Message history;
  for (const TrackedNumber& one : step.numbers)
    if (std::isfinite(one.value)) history.message(HistoryField::history_items, history_item(one.name, Json(one.value)));
  const double time = static_cast<double>(step.time.count()) / 1000;
  const double runtime = static_cast<double>((step.time - run.begin).count()) / 1000;
  history.message(HistoryField::history_items, history_item("_step", Json(step.step)));
  history.message(HistoryField::history_items, history_item("_timestamp", Json(time)));
  history.message(HistoryField::history_items, history_item("_runtime", Json(runtime)));
  history.message(HistoryField::history_step, Message().integer(1, step.step));
  return Message().message(record_history, history);
}

Message summary_record(const TrackedRun& run) {
  Message summary;
  const auto add = [&](const TrackedNumber& one) {
    if (std::isfinite(one.value)) summary.message(1, item(one.name, Json(one.value)));
  };
  if (!run.steps.empty())
    for (const TrackedNumber& one : run.steps.back().numbers) add(one);
  for (const TrackedNumber& one : run.summary) add(one);
  return Message().message(record_summary, summary);
}

/// 20261124_153000, of universal time.
std::string time_text(Milliseconds time) {
  const std::time_t seconds = static_cast<std::time_t>(time.count() / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts);
  return text;
}

}  // namespace

std::vector<TrackedFile> wandb_files(const TrackedRun& run) {
  RecordLog log;
  log.add(Message().message(record_header,
                            Message().message(1, Message().text(1, "0.19.0").text(2, "0.11.0"))));  // version_info
  log.add(run_record(run));
  for (const TrackedStep& step : run.steps) log.add(history_record(run, step));
  log.add(summary_record(run));
  const std::int64_t runtime = (run.end - run.begin).count() / 1000;
  log.add(Message().message(record_exit, Message().integer(2, runtime)));
  log.add(Message().message(record_footer, Message()));
  const std::string folder = "offline-run-" + time_text(run.begin) + "-" + run.id + "/";
  return {{folder + "run-" + run.id + ".wandb", log.bytes()}};
}

}  // namespace plumbline
