#include "core/training/adaptation_text.h"

#include <array>
#include <charconv>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

constexpr std::string_view layers_prefix = "layers:";

[[noreturn]] void refuse(std::string_view part, std::string_view where) {
  throw InputError({std::string(where), "\"" + std::string(part.substr(0, 40)) + "\" names nothing to freeze",
                    "embeddings, layers:FIRST-LAST or both apart by a comma",
                    nearest_text(part, {"embeddings", "layers:0-15"})});
}

std::int64_t layer_number(std::string_view text, std::string_view part, std::string_view where) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > most_layers)
    refuse(part, where);
  return number;
}

LayerRange layer_range(std::string_view part, std::string_view where) {
  const std::string_view range = part.substr(layers_prefix.size());
  const std::size_t dash = range.find('-');
  const std::int64_t first = layer_number(range.substr(0, dash), part, where);
  if (dash == std::string_view::npos) return {first, first};
  const std::int64_t last = layer_number(range.substr(dash + 1), part, where);
  if (last < first) refuse(part, where);
  return {first, last};
}

}  // namespace

void freeze_from_text(std::string_view text, std::string_view where, Adaptation& adaptation) {
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (part == "embeddings") {
      adaptation.freeze_embeddings = true;
    } else if (part.starts_with(layers_prefix)) {
      adaptation.frozen_layers.push_back(layer_range(part, where));
    } else {
      refuse(part, where);
    }
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
}

std::string freeze_text(const Adaptation& adaptation) {
  std::string text = adaptation.freeze_embeddings ? "embeddings" : "";
  for (const LayerRange& range : adaptation.frozen_layers)
    text += (text.empty() ? "" : ",") + std::string(layers_prefix) + std::to_string(range.first) + "-" +
            std::to_string(range.last);
  return text;
}

std::string_view to_text(LoraTargets targets) {
  switch (targets) {
    case LoraTargets::every_linear: return "all";
    case LoraTargets::queries_keys_values: return "qkv";
    case LoraTargets::attention: return "attention";
  }
  return "";
}

std::optional<LoraTargets> lora_targets_from_text(std::string_view text) { return value_named(all_lora_targets, text); }

}  // namespace plumbline
