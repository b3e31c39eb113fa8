#include "core/io/training_json.h"

#include "core/base/errors.h"
#include "core/io/json_array.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

LayerRange layer_range(const JsonPlace& place) {
  const std::vector<JsonPlace> ends = place.elements();
  if (ends.size() != 2)
    throw InputError({place.where(), std::to_string(ends.size()) + " numbers", "the first and the last layer", ""});
  const std::int64_t first = ends[0].integer(0, most_layers);
  return {first, ends[1].integer(first, most_layers)};
}

LoraTargets lora_targets(const JsonPlace& place) {
  const std::string& text = place.string();
  if (const auto targets = lora_targets_from_text(text)) return *targets;
  throw InputError({place.where(), "\"" + text + "\"", "all, qkv or attention", ""});
}

}  // namespace

/// Only where adapters are alongside some linears alone.
constexpr std::string_view lora_targets_key = "lora_targets";

Json to_json(const Training& training) {
  const auto range_json = [](const LayerRange& range) { return Json::Array{range.first, range.last}; };
  Json::Object object{{"sequence_length", training.sequence_length},
                      {"global_batch", training.global_batch},
                      {"token_budget", training.token_budget ? Json(*training.token_budget) : Json()},
                      {"freeze_embeddings", training.adaptation.freeze_embeddings},
                      {"frozen_layers", json_array(training.adaptation.frozen_layers, range_json)},
                      {"lora_rank", training.adaptation.lora_rank}};
  if (training.adaptation.lora_targets != LoraTargets::every_linear)
    object.emplace_back(std::string(lora_targets_key), std::string(to_text(training.adaptation.lora_targets)));
  return object;
}

Training training_from_json(const JsonPlace& place) {
  JsonObject object(place);
  Training training;
  training.sequence_length = object.at("sequence_length").integer(1, longest_sequence);
  training.global_batch = object.at("global_batch").integer(1, largest_global_batch);
  if (const auto tokens = object.find("token_budget")) training.token_budget = tokens->integer(1, most_tokens);
  if (const auto freeze = object.find("freeze_embeddings")) training.adaptation.freeze_embeddings = freeze->boolean();
  if (const auto layers = object.find("frozen_layers"))
    for (const JsonPlace& range : layers->elements()) training.adaptation.frozen_layers.push_back(layer_range(range));
  if (const auto rank = object.find("lora_rank")) training.adaptation.lora_rank = rank->integer(0, largest_lora_rank);
  if (const auto targets = object.find(lora_targets_key)) training.adaptation.lora_targets = lora_targets(*targets);
  object.finish();
  return training;
}

}  // namespace plumbline
