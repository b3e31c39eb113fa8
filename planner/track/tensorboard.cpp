// TensorBoard: events.out.tfevents.*, one record for each step and one for the numbers of the whole run.
#include "planner/track/tracker.h"
#include "planner/track/wire.h"

namespace plumbline {
namespace {

using track::Message;

/// Numbers of fields: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto.
enum Field : int { event_time = 1, event_step = 2, event_version = 3, event_summary = 5 };
enum SummaryField : int { summary_value = 1, value_tag = 1, value_simple = 2 };

double seconds(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

/// tensorflow/core/lib/io/record_writer.h
std::string record(const Message& event) {
  const std::string& data = event.bytes();
  const std::string length = track::bytes_of(static_cast<std::uint64_t>(data.size()));
  return length + track::bytes_of(track::masked_crc32c(length)) + data + track::bytes_of(track::masked_crc32c(data));
}

std::string numbers_record(Milliseconds time, std::int64_t step, const std::vector<TrackedNumber>& numbers) {
  Message summary;
  for (const TrackedNumber& one : numbers)
    summary.message(summary_value,
                    Message().text(value_tag, one.name).real_single(value_simple, static_cast<float>(one.value)));
  return record(Message().real(event_time, seconds(time)).integer(event_step, step).message(event_summary, summary));
}

}  // namespace

std::vector<TrackedFile> tensorboard_files(const TrackedRun& run) {
  std::string events = record(Message().real(event_time, seconds(run.begin)).text(event_version, "brain.Event:2"));
  for (const TrackedStep& step : run.steps) events += numbers_record(step.time, step.step, step.numbers);
  const std::int64_t last = run.steps.empty() ? 0 : run.steps.back().step;
  events += numbers_record(run.end, last, run.summary);
  const std::string begin = std::to_string(run.begin.count() / 1000);
  return {{run.id + "/events.out.tfevents." + begin + ".plumbline", std::move(events)}};
}

}  // namespace plumbline
