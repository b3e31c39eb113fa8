#include "core/io/run_record_json.h"

#include <limits>
#include <type_traits>

#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/io/json_file.h"
#include "core/io/prediction_json.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_integer = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_nanoseconds = 1'000'000'000'000'000'000;  // 31 years
constexpr std::int64_t most_recorded_bytes = 1'000'000'000'000'000'000;
constexpr std::int64_t most_ranks = 10'000'000;
constexpr std::int64_t most_steps = 1'000'000'000'000;
constexpr std::int64_t most_actions = 100'000'000;
constexpr std::int64_t most_routed_rows = 1'000'000'000'000;  // times a row's bytes it is still an integer
constexpr double largest_double = std::numeric_limits<double>::max();

Json action_json(const ActionRecord& action) {
  Json::Object object{{"action", action.action},       {"name", action.name},
                      {"kind", to_text(action.kind)},  {"stream", to_text(action.stream)},
                      {"start_ns", action.start_ns},   {"end_ns", action.end_ns},
                      {"median_ns", action.median_ns}, {"sent_bytes", action.sent.value()}};
  if (action.micro_batch >= 0) object.emplace_back("micro_batch", action.micro_batch);
  return object;
}

Json sent_json(const SentRecord& line) {
  return Json::Object{
      {"group", line.group}, {"collective", line.collective}, {"calls", line.calls}, {"bytes", line.bytes.value()}};
}

/// Fields of rows that ranks that divide experts give each other are left out where there are none.
Json routed_json(const RoutedRecord& rows) {
  const RoutedRows& all = rows.all;
  const RoutedRows& peak = rows.at_peak;
  Json::Object object{
      {"execution", rows.execution}, {"micro_batch", rows.micro_batch}, {"left", all.left}, {"came", all.came},
      {"left_at_peak", peak.left},   {"came_at_peak", peak.came}};
  if (all.given + all.gathered == 0) return object;
  object.emplace_back("given", all.given);
  object.emplace_back("gathered", all.gathered);
  object.emplace_back("given_at_peak", peak.given);
  object.emplace_back("gathered_at_peak", peak.gathered);
  return object;
}

MemoryBreakdown memory_from(const JsonPlace& place) {
  JsonObject object(place);
  MemoryBreakdown memory;
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (const auto bytes = object.find(to_text(static_cast<MemoryClass>(c))))
      memory.by_class[c] = Bytes(bytes->integer(0, most_recorded_bytes));
  object.finish();
  return memory;
}

/// Written only where a run copied something there.
constexpr std::string_view on_host_key = "on_host_bytes";

/// Written only of runs whose steps are graphs.
constexpr std::string_view launch_key = "launch";

/// Written only by devices with memory of their own; a part that is not there took nothing.
constexpr std::string_view device_key = "device";

DeviceMemoryRecord device_memory_from(const JsonPlace& place) {
  JsonObject object(place);
  DeviceMemoryRecord device;
  JsonObject parts(object.at("parts"));
  for (std::size_t p = 0; p < device_part_count; ++p)
    if (const auto bytes = parts.find(to_text(static_cast<DevicePart>(p))))
      device.by_part[p] = Bytes(bytes->integer(0, most_recorded_bytes));
  parts.finish();
  device.device_peak = Bytes(object.at("device_peak_bytes").integer(0, most_recorded_bytes));
  device.trials = Bytes(object.at("trials_bytes").integer(0, most_recorded_bytes));
  device.ranks = static_cast<std::int32_t>(object.at("ranks_on_device").integer(1, most_ranks));
  object.finish();
  return device;
}

Json device_memory_json(const DeviceMemoryRecord& device) {
  Json::Object parts;
  for (std::size_t p = 0; p < device_part_count; ++p)
    parts.emplace_back(to_text(static_cast<DevicePart>(p)), device.by_part[p].value());
  return Json::Object{{"parts", std::move(parts)},
                      {"device_peak_bytes", device.device_peak.value()},
                      {"trials_bytes", device.trials.value()},
                      {"ranks_on_device", device.ranks}};
}

MemoryRecord memory_record_from(const JsonPlace& place) {
  JsonObject object(place);
  MemoryRecord memory;
  memory.at_peak = memory_from(object.at("at_peak"));
  memory.highest = memory_from(object.at("highest"));
  memory.arena = Bytes(object.at("arena_bytes").integer(0, most_recorded_bytes));
  memory.process_resident = Bytes(object.at("process_resident_bytes").integer(0, most_recorded_bytes));
  if (const auto on_host = object.find(on_host_key)) memory.on_host = Bytes(on_host->integer(0, most_recorded_bytes));
  if (const auto device = object.find(device_key)) memory.device = device_memory_from(*device);
  object.finish();
  return memory;
}

ActionRecord action_from(const JsonPlace& place) {
  JsonObject object(place);
  ActionRecord action;
  action.action = static_cast<std::int32_t>(object.at("action").integer(0, most_actions));
  action.name = object.at("name").string();
  action.kind = choice_from_json(object.at("kind"), values_up_to(ActionKind::fetch));
  action.stream = choice_from_json(object.at("stream"), values_up_to(Stream::copy));
  action.start_ns = object.at("start_ns").integer(0, most_nanoseconds);
  action.end_ns = object.at("end_ns").integer(action.start_ns, most_nanoseconds);
  action.median_ns = object.at("median_ns").integer(0, most_nanoseconds);
  action.sent = Bytes(object.at("sent_bytes").integer(0, most_recorded_bytes));
  if (const auto index = object.find("micro_batch"))
    action.micro_batch = static_cast<std::int32_t>(index->integer(0, most_actions));
  object.finish();
  return action;
}

SentRecord sent_from(const JsonPlace& place) {
  JsonObject object(place);
  SentRecord line;
  line.group = object.at("group").string();
  line.collective = object.at("collective").string();
  line.calls = object.at("calls").integer(0, most_steps);
  line.bytes = Bytes(object.at("bytes").integer(0, most_recorded_bytes));
  object.finish();
  return line;
}

RoutedRecord routed_from(const JsonPlace& place) {
  JsonObject object(place);
  RoutedRecord rows;
  rows.execution = static_cast<std::int32_t>(object.at("execution").integer(0, most_actions));
  rows.micro_batch = static_cast<std::int32_t>(object.at("micro_batch").integer(0, most_actions));
  rows.all.left = object.at("left").integer(0, most_routed_rows);
  rows.all.came = object.at("came").integer(0, most_routed_rows);
  rows.at_peak.left = object.at("left_at_peak").integer(0, most_routed_rows);
  rows.at_peak.came = object.at("came_at_peak").integer(0, most_routed_rows);
  const auto rows_or_none = [&](std::string_view key) -> std::int64_t {
    const auto found = object.find(key);
    return found ? found->integer(0, most_routed_rows) : 0;
  };
  rows.all.given = rows_or_none("given");
  rows.all.gathered = rows_or_none("gathered");
  rows.at_peak.given = rows_or_none("given_at_peak");
  rows.at_peak.gathered = rows_or_none("gathered_at_peak");
  object.finish();
  return rows;
}

/// Null stands for what was no number.
double number_or_nan(JsonObject& object, std::string_view key) {
  const auto place = object.find(key);
  if (!place && !object.has(key)) (void)object.at(key);  // says that it is missing
  return place ? place->number(-largest_double, largest_double) : std::numeric_limits<double>::quiet_NaN();
}

/// `first`: the number of a training's first step.
StepRecord step_from(const JsonPlace& place, std::int64_t first) {
  JsonObject object(place);
  StepRecord step;
  step.step = object.at("step").integer(first, most_steps) - first;
  step.loss = number_or_nan(object, "loss");
  step.gradient_norm = number_or_nan(object, "gradient_norm");
  step.learning_rate = object.at("learning_rate").number(0, largest_double);
  step.time_ns = object.at("time_ns").integer(0, most_nanoseconds);
  step.outcome = object.at("skipped").boolean() ? StepOutcome::skipped : StepOutcome::taken;
  if (object.has("held_out_loss")) step.held_out_loss = number_or_nan(object, "held_out_loss");
  object.finish();
  return step;
}

std::vector<std::int32_t> tokens_from(const JsonPlace& place) {
  std::vector<std::int32_t> tokens;
  for (const JsonPlace& token : place.elements())
    tokens.push_back(static_cast<std::int32_t>(token.integer(0, std::numeric_limits<std::int32_t>::max())));
  return tokens;
}

Json optimizer_json(const OptimizerRecord& optimizer) {
  Json::Object object{{"name", optimizer.name}};
  for (const auto& [name, value] : optimizer.numbers) object.emplace_back(name, value);
  return object;
}

OptimizerRecord optimizer_from(const JsonPlace& place) {
  JsonObject object(place);
  OptimizerRecord optimizer;
  optimizer.name = object.at("name").string();
  for (const std::string_view name : {"beta1", "beta2", "epsilon", "momentum", "weight-decay", "clip", "clip-value"})
    if (const auto value = object.find(name))
      optimizer.numbers.emplace_back(name, value->number(-largest_double, largest_double));
  object.finish();
  return optimizer;
}

Json text_json(const TextRecord& text) {
  return Json::Object{{"tokens", text.tokens},
                      {"held_out_tokens", text.held_out},
                      {"unigram_entropy", text.unigram_entropy},
                      {"prompt", json_array(text.prompt)},
                      {"generated", json_array(text.generated)}};
}

TextRecord text_from(const JsonPlace& place) {
  JsonObject object(place);
  TextRecord text;
  text.tokens = object.at("tokens").integer(0, most_integer);
  text.held_out = object.at("held_out_tokens").integer(0, most_integer);
  text.unigram_entropy = object.at("unigram_entropy").number(0, largest_double);
  text.prompt = tokens_from(object.at("prompt"));
  text.generated = tokens_from(object.at("generated"));
  object.finish();
  return text;
}

/// The step that is traced, and how many at the begin are not timed.
void read_places(JsonObject& object, RunRecord& record, std::int64_t first) {
  const std::int64_t steps = std::ssize(record.steps);
  record.warmup_steps = static_cast<std::int32_t>(object.at("warmup_steps").integer(0, steps));
  if (const auto traced = object.find("traced_step"))
    record.traced_step = static_cast<std::int32_t>(traced->integer(first, steps - 1 + first) - first);
}

}  // namespace

Json to_json(const StepRecord& step) {
  Json::Object object{{"step", step.step + 1},
                      {"loss", step.loss},
                      {"gradient_norm", step.gradient_norm},
                      {"learning_rate", step.learning_rate},
                      {"time_ns", step.time_ns},
                      {"skipped", step.outcome == StepOutcome::skipped}};
  if (step.held_out_loss) object.emplace_back("held_out_loss", *step.held_out_loss);
  return object;
}

Json to_json(const MemoryRecord& memory) {
  Json::Object object{{"at_peak", to_json(memory.at_peak)},
                      {"highest", to_json(memory.highest)},
                      {"arena_bytes", memory.arena.value()},
                      {"process_resident_bytes", memory.process_resident.value()}};
  if (memory.on_host.value() > 0) object.emplace_back(on_host_key, memory.on_host.value());
  if (memory.device) object.emplace_back(device_key, device_memory_json(*memory.device));
  return object;
}

Json to_json(const RankRecord& rank) {
  Json::Object object{{"rank", rank.rank},
                      {"stage", rank.stage},
                      {"memory", to_json(rank.memory)},
                      {"sent_per_step", json_array(rank.sent, sent_json)},
                      {"actions", json_array(rank.actions, action_json)}};
  if (!rank.routed.empty()) object.emplace_back("routed", json_array(rank.routed, routed_json));
  return object;
}

Json to_json(const RunRecord& record) {
  const auto step_json = [](const StepRecord& step) { return to_json(step); };
  const auto rank_json = [](const RankRecord& rank) { return to_json(rank); };
  Json::Object object{{"format", run_record_format},
                      {"program_version", record.program_version},
                      {"plan_fingerprint", record.plan_fingerprint},
                      {"model", record.model},
                      {"model_fingerprint", record.model_fingerprint},
                      {"machine", record.machine},
                      {"backend", record.backend},
                      {"transport", record.transport},
                      {"seed", static_cast<std::int64_t>(record.seed)},
                      {"tokens_per_step", record.tokens_per_step},
                      {"warmup_steps", record.warmup_steps},
                      {"traced_step", record.traced_step < 0 ? Json() : Json(record.traced_step + 1)},
                      {"steps", json_array(record.steps, step_json)},
                      {"ranks", json_array(record.ranks, rank_json)}};
  if (!record.launch.empty()) object.emplace_back(launch_key, record.launch);
  if (!record.optimizer.name.empty()) object.emplace_back("optimizer", optimizer_json(record.optimizer));
  if (record.text.tokens > 0) object.emplace_back("text", text_json(record.text));
  return object;
}

RankRecord rank_record_from_json(const JsonPlace& place, std::int64_t index) {
  JsonObject object(place);
  RankRecord rank;
  rank.rank = static_cast<std::int32_t>(object.at("rank").integer(index, index));
  rank.stage = static_cast<std::int32_t>(object.at("stage").integer(0, most_ranks));
  rank.memory = memory_record_from(object.at("memory"));
  for (const JsonPlace& line : object.at("sent_per_step").elements()) rank.sent.push_back(sent_from(line));
  for (const JsonPlace& action : object.at("actions").elements()) rank.actions.push_back(action_from(action));
  if (const auto routed = object.find("routed"))
    for (const JsonPlace& rows : routed->elements()) rank.routed.push_back(routed_from(rows));
  object.finish();
  return rank;
}

RunRecord run_record_from_json(const JsonPlace& root) {
  const bool is_format_1 = JsonObject(root).at("format").string() == run_record_format_1;
  const std::int64_t first = is_format_1 ? 0 : 1;
  JsonObject object = open_document(root, is_format_1 ? run_record_format_1 : run_record_format);
  RunRecord record;
  record.program_version = object.at("program_version").string();
  record.plan_fingerprint = object.at("plan_fingerprint").string();
  record.model = object.at("model").string();
  record.model_fingerprint = object.at("model_fingerprint").string();
  record.machine = object.at("machine").string();
  record.backend = object.at("backend").string();
  record.transport = object.at("transport").string();
  if (const auto launch = object.find(launch_key)) record.launch = launch->string();
  record.seed = static_cast<std::uint64_t>(object.at("seed").integer(0, most_integer));
  record.tokens_per_step = object.at("tokens_per_step").integer(0, most_integer);
  for (const JsonPlace& step : object.at("steps").elements()) record.steps.push_back(step_from(step, first));
  read_places(object, record, first);
  for (const JsonPlace& rank : object.at("ranks").elements())
    record.ranks.push_back(rank_record_from_json(rank, std::ssize(record.ranks)));
  if (const auto optimizer = object.find("optimizer")) record.optimizer = optimizer_from(*optimizer);
  if (const auto text = object.find("text")) record.text = text_from(*text);
  object.finish();
  return record;
}

Json to_json(const ReportedStep& reported) {
  Json::Object object = *to_json(reported.step).if_object();
  object.emplace_back("tokens_per_s", reported.tokens_per_s);
  object.emplace_back("model_flops_per_s", reported.model_flops.value());
  object.emplace_back("utilisation", reported.utilisation);
  object.emplace_back("utilisation_of", reported.utilisation_of);
  object.emplace_back("time_left_s", reported.time_left_s);
  object.emplace_back("unigram_entropy", reported.unigram_entropy);
  if (!reported.generated.empty()) object.emplace_back("generated", reported.generated);
  return object;
}

RunRecord read_run_record_file(const std::string& file) {
  const Json json = read_json_file(file);
  return run_record_from_json(JsonPlace(json, file + ":"));
}

}  // namespace plumbline
