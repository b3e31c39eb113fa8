#include "core/io/plan_json.h"

#include "core/base/errors.h"
#include "core/io/json_array.h"
#include "core/io/name_json.h"
#include "core/io/prediction_json.h"
#include "core/io/strategy_json.h"
#include "core/io/training_json.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_headroom = std::int64_t{1} << 50;  // a PiB
constexpr std::int64_t most_parameters = 1'000'000'000'000'000'000;

Json model_json(const ModelReference& model) {
  return Json::Object{{"name", model.name},
                      {"source", model.source},
                      {"parameters", model.parameters},
                      {"active_parameters", model.active_parameters},
                      {"trained_parameters", model.trained_parameters},
                      {"layers", model.layers},
                      {"fingerprint", model.fingerprint},
                      {"sample", to_text(model.sample)}};
}

SampleUnit sample_from_json(const JsonPlace& place) {
  if (const auto unit = sample_unit_from_text(place.string())) return *unit;
  throw InputError({place.where(), "\"" + place.string() + "\"", "sequence, sample or image", ""});
}

ModelReference model_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ModelReference model;
  model.name = name_from_json(object.at("name"));
  model.source = object.at("source").string();
  const auto count = [&](std::string_view key) {
    const auto found = object.find(key);
    return found ? found->integer(0, most_parameters) : 0;
  };
  model.parameters = count("parameters");
  model.active_parameters = count("active_parameters");
  model.trained_parameters = count("trained_parameters");
  model.layers = count("layers");
  if (const auto fingerprint = object.find("fingerprint")) model.fingerprint = fingerprint->string();
  if (const auto sample = object.find("sample")) model.sample = sample_from_json(*sample);
  object.finish();
  return model;
}

Json kind_json(const NodeKind& kind) {
  return Json::Object{{"device", kind.device}, {"nodes", kind.nodes}, {"devices_per_node", kind.devices_per_node}};
}

NodeKind kind_from_json(const JsonPlace& place) {
  JsonObject object(place);
  NodeKind kind{name_from_json(object.at("device")), object.at("nodes").integer(1, most_devices),
                object.at("devices_per_node").integer(1, most_devices)};
  object.finish();
  return kind;
}

Json machine_json(const MachineReference& machine) {
  Json::Object object{{"name", machine.name},
                      {"source", machine.source},
                      {"device", machine.device},
                      {"devices", machine.devices},
                      {"devices_per_node", machine.devices_per_node},
                      {"nodes", machine.nodes},
                      {"fingerprint", machine.fingerprint}};
  if (!machine.mixture.empty()) object.emplace_back("mixture", machine.mixture);
  if (!machine.kinds.empty()) object.emplace_back("kinds", json_array(machine.kinds, kind_json));
  if (machine.price_per_device_hour)
    object.emplace_back("price_per_device_hour", machine.price_per_device_hour->value());
  return object;
}

MachineReference machine_from_json(const JsonPlace& place) {
  JsonObject object(place);
  MachineReference machine;
  machine.name = name_from_json(object.at("name"));
  machine.source = object.at("source").string();
  machine.devices = object.at("devices").integer(1, most_devices);
  if (const auto device = object.find("device")) machine.device = name_from_json(*device);
  if (const auto devices = object.find("devices_per_node"))
    machine.devices_per_node = devices->integer(0, most_devices);
  if (const auto nodes = object.find("nodes")) machine.nodes = nodes->integer(0, most_devices);
  if (const auto fingerprint = object.find("fingerprint")) machine.fingerprint = fingerprint->string();
  if (const auto mixture = object.find("mixture")) machine.mixture = mixture->string();
  if (const auto kinds = object.find("kinds"))
    for (const JsonPlace& kind : kinds->elements()) machine.kinds.push_back(kind_from_json(kind));
  if (const auto price = object.find("price_per_device_hour"))
    machine.price_per_device_hour = Dollars(price->number(0, most_dollars));
  object.finish();
  return machine;
}

Json recompute_json(const std::vector<RecomputeRun>& runs) {
  Json::Array array;
  for (const RecomputeRun& run : runs) {
    Json::Array replayed;
    for (const std::string& op : run.replayed) replayed.emplace_back(op);
    array.emplace_back(Json::Object{{"layers", Json::Array{run.first_layer, run.last_layer}},
                                    {"replayed", std::move(replayed)},
                                    {"kept_bytes", run.kept.value()},
                                    {"restored_bytes", run.restored.value()},
                                    {"replay_s", to_seconds(run.replay).value()}});
  }
  return array;
}

Json stage_json(const StageLayoutEntry& stage) {
  Json::Array chunks;
  for (const std::vector<std::int64_t>& ends : stage.layers) {
    Json::Array chunk;
    for (const std::int64_t layer : ends) chunk.emplace_back(layer);
    chunks.emplace_back(std::move(chunk));
  }
  Json::Object object{{"stage", stage.stage},
                      {"layers", std::move(chunks)},
                      {"holds_input", stage.holds_input},
                      {"holds_output", stage.holds_output},
                      {"recomputed_layers", stage.recomputed_layers},
                      {"recompute", recompute_json(stage.recompute)},
                      {"parameters_per_rank", stage.parameters_per_rank}};
  if (stage.devices.empty()) return object;
  object.emplace_back("devices", stage.devices);
  object.emplace_back("device_memory_bytes", stage.device_memory.value());
  return object;
}

Json layout_json(const Layout& layout) {
  Json::Array stages;
  for (const StageLayoutEntry& stage : layout.stages) stages.push_back(stage_json(stage));
  Json::Array order;
  for (const std::string& axis : layout.rank_order) order.emplace_back(axis);
  Json::Object groups;
  for (const GroupLayout& group : layout.groups)
    groups.emplace_back(group.axis,
                        Json::Object{{"size", group.size}, {"stride", group.stride}, {"count", group.count}});
  return Json::Object{{"stages", std::move(stages)}, {"rank_order", std::move(order)}, {"groups", std::move(groups)}};
}

Json prediction_json(const Plan& plan) {
  Json::Object object = *to_json(plan.prediction).if_object();
  object.emplace_back(samples_key, plan.samples_per_second_per_gpu());
  return object;
}

Json verdict_json(const Verdict& verdict) {
  return Json::Object{{"fits", verdict.fits},
                      {"reason", verdict.reason},
                      {"capacity_bytes", verdict.capacity.value()},
                      {"margin_bytes", verdict.margin.value()},
                      {"near_edge", verdict.near_edge},
                      {"headroom_bytes", verdict.headroom.value()},
                      {"chance_to_fit", verdict.chance_to_fit}};
}

Json trust_json(const Trust& trust) {
  Json::Array beyond;
  for (const std::string& one : trust.beyond) beyond.emplace_back(one);
  return Json::Object{{"regime", trust.regime},
                      {"time_sigma", trust.time_sigma},
                      {"memory_sigma", trust.memory_sigma},
                      {"is_far", trust.is_far},
                      {"beyond", std::move(beyond)}};
}

Json provenance_json(const Provenance& provenance) {
  Json::Array assumed;
  for (const AssumedNumber& number : provenance.assumed)
    assumed.emplace_back(Json::Object{{"name", number.name}, {"value", number.value}, {"source", number.source}});
  Json::Array notes;
  for (const std::string& note : provenance.notes) notes.emplace_back(note);
  return Json::Object{{"program_version", provenance.program_version},
                      {"device_calibration", provenance.device_calibration},
                      {"stack_calibration", provenance.stack_calibration},
                      {"stack_is_default", provenance.stack_is_default},
                      {"stack_why", provenance.stack_why},
                      {"trust", trust_json(provenance.trust)},
                      {"assumed", std::move(assumed)},
                      {"notes", std::move(notes)}};
}

Provenance provenance_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Provenance provenance;
  const auto text = [&](std::string_view key) {
    const auto found = object.find(key);
    return found ? found->string() : std::string();
  };
  provenance.program_version = text("program_version");
  provenance.device_calibration = text("device_calibration");
  provenance.stack_calibration = text("stack_calibration");
  (void)object.find("stack_is_default");
  (void)object.find("stack_why");
  (void)object.find("trust");
  (void)object.find("assumed");
  (void)object.find("notes");
  object.finish();
  return provenance;
}

/// Parts that follow from the rest: their keys must be ours, their values are not used.
void check_keys(const JsonPlace& place, const Json& ours) {
  JsonObject object(place);
  for (const Json::Member& known : *ours.if_object()) (void)object.find(known.first);
  object.finish();
}

/// Which layers each stage holds; the rest is derived anew. A plan whose layers were edited is refused by who prices
/// it.
Layout layout_from_json(const JsonPlace& place) {
  check_keys(place, layout_json({}));
  Layout layout;
  JsonObject object(place);
  const auto stages = object.find("stages");
  if (!stages) return layout;
  for (const JsonPlace& one : stages->elements()) {
    StageLayoutEntry all_keys;
    all_keys.devices = "any";
    check_keys(one, stage_json(all_keys));
    StageLayoutEntry stage;
    stage.stage = static_cast<std::int32_t>(std::ssize(layout.stages));
    JsonObject entry(one);
    for (const JsonPlace& chunk : entry.at("layers").elements()) {
      std::vector<std::int64_t> ends;
      for (const JsonPlace& layer : chunk.elements()) ends.push_back(layer.integer(0, most_layers));
      stage.layers.push_back(std::move(ends));
    }
    layout.stages.push_back(std::move(stage));
  }
  return layout;
}

/// The headroom is a setting; the rest of a verdict follows.
Bytes headroom_from_json(const JsonPlace& verdict) {
  check_keys(verdict, verdict_json({}));
  const auto headroom = JsonObject(verdict).find("headroom_bytes");
  return headroom ? Bytes(headroom->integer(0, most_headroom)) : Bytes(0);
}

void check_derived_parts(JsonObject& object) {
  if (const auto prediction = object.find("prediction")) check_prediction_keys(*prediction);
  if (const auto run = object.find("run")) check_keys(*run, to_json(RunCost{}));
  (void)object.find("ranks");   // `estimate --ranks --json` adds it
  (void)object.find("chosen");  // `estimate --json` adds it
  (void)object.find("offers");  // `fit --json` adds it
  (void)object.find("launch");  // compared with what follows by who prices the plan
  (void)object.find("recipe");  // read by who runs it
}

}  // namespace

Json to_json(const Plan& plan) {
  return Json::Object{{"format", plan_format},
                      {"model", model_json(plan.model)},
                      {"machine", machine_json(plan.machine)},
                      {"training", to_json(plan.training)},
                      {"strategy", to_json(plan.strategy, plan.training)},
                      {"layout", layout_json(plan.layout)},
                      {"prediction", prediction_json(plan)},
                      {"run", plan.training.token_budget ? to_json(plan.run) : Json()},
                      {"verdict", verdict_json(plan.verdict)},
                      {"provenance", provenance_json(plan.provenance)}};
}

Plan plan_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, plan_format);
  Plan plan;
  plan.model = model_from_json(object.at("model"));
  plan.machine = machine_from_json(object.at("machine"));
  plan.training = training_from_json(object.at("training"));
  plan.strategy = strategy_from_json(object.at("strategy"), plan.training);
  if (const auto layout = object.find("layout")) plan.layout = layout_from_json(*layout);
  if (const auto verdict = object.find("verdict")) plan.verdict.headroom = headroom_from_json(*verdict);
  check_derived_parts(object);
  if (const auto provenance = object.find("provenance")) plan.provenance = provenance_from_json(*provenance);
  object.finish();
  return plan;
}

}  // namespace plumbline
