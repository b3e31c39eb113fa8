#include "planner/frameworks/megatron/split.h"

#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/megatron/layout.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

constexpr const char* count_embedding = "--account-for-embedding-in-pipeline-split";
constexpr const char* count_loss = "--account-for-loss-in-pipeline-split";
constexpr const char* first_layers = "--decoder-first-pipeline-num-layers";
constexpr const char* last_layers = "--decoder-last-pipeline-num-layers";

std::int64_t chunks_of(const LaunchSettings& s) {
  return std::int64_t{s.pipeline_stages.value_or(1)} * s.virtual_stages.value_or(1);
}

std::optional<std::int64_t> number(const Json& flags, const char* flag, std::int64_t smallest = 0) {
  const Json* const value = flags.find(flag);
  if (value == nullptr) return std::nullopt;
  try {
    return whole(*value, smallest, largest_degree);
  } catch (const InputError& error) {
    throw InputError({flag, error.problem().what, error.problem().expected, ""});
  }
}

bool is_said(const Json& flags, const char* flag) { return flags.find(flag) != nullptr && is_on(*flags.find(flag)); }

/// A split whose first and last stage are said, or count as more than their layers.
std::vector<std::int32_t> layers_with_ends(const Json& flags, const LaunchSettings& s, std::int64_t layers) {
  const std::int64_t stages = s.pipeline_stages.value_or(1);
  const std::int64_t virtual_stages = s.virtual_stages.value_or(1);
  const std::int64_t chunks = stages * virtual_stages;
  if (is_said(flags, count_embedding) || is_said(flags, count_loss)) {
    const std::int64_t embedding = is_said(flags, count_embedding) ? 1 : 0;
    const std::int64_t loss = is_said(flags, count_loss) ? 1 : 0;
    if ((layers + embedding + loss) % chunks != 0) return {};
    std::vector<std::int32_t> all(static_cast<std::size_t>(chunks),
                                  static_cast<std::int32_t>((layers + embedding + loss) / chunks));
    all.front() -= static_cast<std::int32_t>(embedding);
    all.back() -= static_cast<std::int32_t>(loss);
    return all;
  }
  const auto first = number(flags, first_layers);
  const auto last = number(flags, last_layers);
  if (!first && !last) return {};
  const std::int64_t rest = layers - first.value_or(0) - last.value_or(0);
  const std::int64_t others = stages - (first ? 1 : 0) - (last ? 1 : 0);
  if (rest < 0 || (others <= 0 ? rest != 0 : rest % (others * virtual_stages) != 0)) return {};
  const std::int64_t each = others <= 0 ? 0 : rest / others / virtual_stages;
  std::vector<std::int32_t> all;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t stage = chunk % stages;
    const std::int64_t own = stage == 0 && first           ? *first / virtual_stages
                             : stage + 1 == stages && last ? *last / virtual_stages
                                                           : each;
    all.push_back(static_cast<std::int32_t>(own));
  }
  return all;
}

}  // namespace

Json::Object split_flags(const LaunchSettings& s, std::int64_t layers) {
  const std::int64_t chunks = chunks_of(s);
  Json::Object flags;
  if (layers <= 0 || chunks < 2 || !s.layers_per_stage.empty() || layers % chunks == 0) return flags;
  if ((layers + 2) % chunks == 0) flags.emplace_back(count_embedding, true);
  if ((layers + 2) % chunks == 0 || (layers + 1) % chunks == 0) flags.emplace_back(count_loss, true);
  if (flags.empty()) flags.emplace_back("--pipeline-model-parallel-layout", layout_text(even_split(layers, chunks)));
  return flags;
}

void read_split(const Json& flags, LaunchSettings& s) {
  constexpr std::int64_t most_chunks = 100'000;
  const std::int64_t stages = s.pipeline_stages.value_or(1);
  const std::int64_t layers = number(flags, "--num-layers", 1).value_or(0);  // 0: not said
  const auto each = number(flags, "--num-layers-per-virtual-pipeline-stage", 1);
  if (each && layers > 0) {
    const std::int64_t virtual_stages = layers / stages / *each;
    if (virtual_stages < 1 || virtual_stages * stages * *each != layers)
      throw InputError({"--num-layers-per-virtual-pipeline-stage",
                        std::to_string(*each) + " layers do not divide the " + std::to_string(layers) + " of " +
                            std::to_string(stages) + " stages",
                        "a divisor", ""});
    s.virtual_stages = static_cast<std::int32_t>(virtual_stages);
  }
  if (!s.layers_per_stage.empty()) {
    const auto chunks = static_cast<std::int64_t>(s.layers_per_stage.size());
    if (chunks % stages != 0)
      throw InputError({"--pipeline-model-parallel-layout", std::to_string(chunks) + " stages",
                        "a multiple of the " + std::to_string(stages) + " of --pipeline-model-parallel-size", ""});
    s.virtual_stages = static_cast<std::int32_t>(chunks / stages);
  }
  const std::int64_t chunks = chunks_of(s);
  if (layers == 0 || layers > most_chunks || chunks > most_chunks) return;
  if (s.layers_per_stage.empty()) s.layers_per_stage = layers_with_ends(flags, s, layers);
  std::int64_t said = 0;
  for (const std::int32_t count : s.layers_per_stage) said += count;
  if (said == layers && s.layers_per_stage == even_split(layers, chunks)) s.layers_per_stage.clear();
}

}  // namespace plumbline::megatron
