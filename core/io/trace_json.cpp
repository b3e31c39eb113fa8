#include "core/io/trace_json.h"

#include <set>

#include "core/io/json.h"

namespace plumbline {
namespace {

double microseconds(Picoseconds time) { return static_cast<double>(time.value()) / 1e6; }

Json metadata(const char* what, std::int32_t rank, std::int32_t thread, std::string name) {
  return Json::Object{
      {"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", Json::Object{{"name", std::move(name)}}}};
}

Json slice_json(const TraceSlice& slice) {
  Json::Object arguments;
  if (slice.micro_batch >= 0) arguments.emplace_back("micro_batch", slice.micro_batch);
  if (slice.bytes.value() > 0) arguments.emplace_back("sent_bytes", slice.bytes.value());
  return Json::Object{{"ph", "X"},
                      {"name", slice.name},
                      {"cat", slice.kind},
                      {"pid", slice.rank},
                      {"tid", static_cast<int>(slice.stream)},
                      {"ts", microseconds(slice.span.start)},
                      {"dur", microseconds(slice.span.length())},
                      {"args", std::move(arguments)}};
}

Json counter_json(const TraceCounter& counter) {
  Json::Object classes;
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (counter.memory.by_class[c].value() > 0)
      classes.emplace_back(to_text(static_cast<MemoryClass>(c)), counter.memory.by_class[c] / 1_MiB);
  return Json::Object{{"ph", "C"},
                      {"name", "memory (MiB)"},
                      {"pid", counter.rank},
                      {"ts", microseconds(counter.at)},
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
  std::set<std::pair<std::int32_t, Stream>> threads;
  for (const TraceSlice& slice : trace.slices) threads.emplace(slice.rank, slice.stream);
  for (std::int32_t rank = 0; rank < trace.ranks; ++rank)
    add(metadata("process_name", rank, 0, "pipeline rank " + std::to_string(rank)));
  for (const auto& [rank, stream] : threads)
    add(metadata("thread_name", rank, static_cast<std::int32_t>(stream), std::string(to_text(stream))));
  for (const TraceSlice& slice : trace.slices) add(slice_json(slice));
  for (const TraceCounter& counter : trace.counters) add(counter_json(counter));
  text.resize(text.size() - 2);
  return text + "\n]}\n";
}

}  // namespace plumbline
