#include "core/io/trace_json.h"

#include <map>

#include "core/io/json.h"

namespace plumbline {
namespace {

/// Whole nanoseconds, which readers keep: rounded here, so that slices that touch do not cross there.
std::int64_t nanoseconds(Picoseconds time) { return (time.value() + 500) / 1000; }
double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

/// Lane 0 of each stream first, in the order of the streams.
std::int32_t thread_of(const TraceSlice& slice) {
  return slice.lane * static_cast<std::int32_t>(stream_count) + static_cast<std::int32_t>(slice.stream);
}
std::string thread_name(const TraceSlice& slice) {
  return std::string(to_text(slice.stream)) + (slice.lane > 0 ? " " + std::to_string(slice.lane + 1) : "");
}

Json metadata(const char* what, std::int32_t rank, std::int32_t thread, std::string name) {
  return Json::Object{
      {"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", Json::Object{{"name", std::move(name)}}}};
}

std::string process_name(const Trace& trace, std::int32_t rank) {
  const auto index = static_cast<std::size_t>(rank);
  return index < trace.names.size() ? trace.names[index] : "pipeline rank " + std::to_string(rank);
}

Json slice_json(const TraceSlice& slice) {
  const std::int64_t begin = nanoseconds(slice.span.start);
  Json::Object arguments;
  if (slice.micro_batch >= 0) arguments.emplace_back("micro_batch", slice.micro_batch);
  if (slice.bytes.value() > 0) arguments.emplace_back("sent_bytes", slice.bytes.value());
  return Json::Object{{"ph", "X"},
                      {"name", slice.name},
                      {"cat", slice.kind},
                      {"pid", slice.rank},
                      {"tid", thread_of(slice)},
                      {"ts", microseconds(begin)},
                      {"dur", microseconds(nanoseconds(slice.span.end) - begin)},
                      {"args", std::move(arguments)}};
}

/// One end of a flow. Halfway through its slice: there the slice is open however the reader rounds.
Json flow_json(const char* phase, std::size_t id, const TraceSlice& slice) {
  const std::int64_t middle = (nanoseconds(slice.span.start) + nanoseconds(slice.span.end)) / 2;
  Json::Object event{{"ph", phase},
                     {"name", "message"},
                     {"cat", "flow"},
                     {"id", static_cast<std::int64_t>(id)},
                     {"pid", slice.rank},
                     {"tid", thread_of(slice)},
                     {"ts", microseconds(middle)}};
  if (*phase == 'f') event.emplace_back("bp", "e");
  return event;
}

Json counter_json(const TraceCounter& counter) {
  Json::Object classes;
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (counter.memory.by_class[c].value() > 0)
      classes.emplace_back(to_text(static_cast<MemoryClass>(c)), counter.memory.by_class[c] / 1_MiB);
  return Json::Object{{"ph", "C"},
                      {"name", "memory (MiB)"},
                      {"pid", counter.rank},
                      {"ts", microseconds(nanoseconds(counter.at))},
                      {"args", std::move(classes)}};
}

}  // namespace

std::string trace_json_text(const Trace& trace) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  const auto add = [&](const Json& event) {
    std::string line = to_json_text(event, -1);
    while (!line.empty() && line.back() == '\n') line.pop_back();
    text += line + ",\n";
  };
  std::map<std::pair<std::int32_t, std::int32_t>, std::string> threads;  // by rank and thread
  for (const TraceSlice& slice : trace.slices)
    threads.emplace(std::pair(slice.rank, thread_of(slice)), thread_name(slice));
  for (std::int32_t rank = 0; rank < trace.ranks; ++rank)
    add(metadata("process_name", rank, 0, process_name(trace, rank)));
  for (const auto& [place, name] : threads) add(metadata("thread_name", place.first, place.second, name));
  for (const TraceSlice& slice : trace.slices) add(slice_json(slice));
  for (std::size_t i = 0; i < trace.flows.size(); ++i) {
    add(flow_json("s", i, trace.slices[trace.flows[i].from]));
    add(flow_json("f", i, trace.slices[trace.flows[i].to]));
  }
  for (const TraceCounter& counter : trace.counters) add(counter_json(counter));
  text.resize(text.size() - 2);
  return text + "\n]}\n";
}

}  // namespace plumbline
