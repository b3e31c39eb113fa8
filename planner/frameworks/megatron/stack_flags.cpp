// What of the software a launch chooses: CUDA graphs and the overlap of tensor-parallel collectives.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/megatron/flag_rows.h"
#include "planner/frameworks/megatron/shape.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

using Settings = LaunchSettings;
using Value = std::optional<Json>;

bool replays(const Settings& s) { return !s.choices.cuda_graphs.empty() && s.choices.cuda_graphs != "none"; }
bool replays_iterations(const Settings& s) { return s.choices.cuda_graphs == "iteration"; }

/// Whole layers by Transformer Engine's make_graphed_callables, which is what a mixture's modules need as well.
Value graph_implementation(const Settings& s) {
  if (s.choices.cuda_graphs == "none") return Value("none");
  if (!replays(s)) return std::nullopt;
  return Value(replays_iterations(s) ? "full_iteration" : "transformer_engine");
}

void read_graph_implementation(const Json& value, Settings& s) {
  const std::string name = word(value);
  if (name == "none")
    s.choices.cuda_graphs = "none";
  else if (name == "full_iteration")
    s.choices.cuda_graphs = "iteration";
  else if (name == "local" || name == "transformer_engine")
    s.choices.cuda_graphs = "layers";
  else
    throw InputError(
        {"", "found '" + name.substr(0, 40) + "'", "none, local, transformer_engine or full_iteration", ""});
}

Value graph_modules(const Settings& s) {
  if (s.choices.cuda_graphs != "partial") return std::nullopt;
  if (!has_experts(s.network_config)) return Value("attn");
  return Value(Json::Array{Json("attn"), Json("moe_router"), Json("moe_preprocess")});
}

std::vector<std::string> words_of_list(const Json& value) {
  const Json::Array* const all = value.if_array();
  if (all == nullptr) return {word(value)};
  std::vector<std::string> words;
  for (const Json& one : *all) words.push_back(word(one));
  return words;
}

/// Behind the implementation: without one they say nothing. None, or "full", are whole layers.
void read_graph_modules(const Json& value, Settings& s) {
  if (!replays(s)) return;
  const std::vector<std::string> words = words_of_list(value);
  const auto has = [&](std::string_view name) { return std::find(words.begin(), words.end(), name) != words.end(); };
  if (has("full_iteration"))
    s.choices.cuda_graphs = "iteration";
  else if (has("moe_router") || (has("attn") && !has("mlp") && !has("moe")))
    s.choices.cuda_graphs = "partial";
}

LaunchKey old_graph_switch(std::string_view flag) {
  return {.path = flag, .source = arguments_source, .read = [](const Json& value, Settings& s) {
            if (is_on(value)) s.choices.cuda_graphs = "layers";
          }};
}

LaunchKey written_switch(std::string_view flag, std::string_view source, bool (*is_written)(const Settings&)) {
  return {.path = flag,
          .source = source,
          .write = [is_written](const Settings& s) { return is_written(s) ? Value(true) : std::nullopt; },
          .read = [](const Json&, Settings&) {}};
}

std::vector<LaunchKey> graph_flags() {
  return {{.path = "--cuda-graph-impl",
           .source = transformer_source,
           .write = graph_implementation,
           .read = read_graph_implementation},
          old_graph_switch("--enable-cuda-graph"),
          old_graph_switch("--external-cuda-graph"),
          {.path = "--cuda-graph-modules",
           .source = transformer_source,
           .write = graph_modules,
           .read = read_graph_modules},
          {.path = "--cuda-graph-scope", .source = transformer_source, .read = read_graph_modules},
          written_switch("--te-rng-tracker", arguments_source, replays),
          // Its check reads the loss on the host, which a graph of the iteration cannot wait for.
          written_switch("--no-check-for-nan-in-loss-and-grad", arguments_source, replays_iterations)};
}

}  // namespace

bool overlaps_tensor_collectives(const Settings& s) {
  return s.choices.tp_comm_overlap == "on" && s.tensor_parallel.value_or(1) > 1 &&
         s.sequence_parallel.value_or(SequenceParallel::off) == SequenceParallel::on;
}

std::string missing_for_graphs(const Settings& s) {
  if (!replays(s) || replays_iterations(s) || !recomputes_layers(s)) return "";
  return "graphs of layers that are recomputed whole: Megatron-Core has them in a graph of the iteration alone "
         "(transformer_config.py asserts); --cuda-graphs iteration or none, or another --recompute";
}

std::string assumed_for_graphs(const Settings& s) {
  const bool holds_experts = s.choices.cuda_graphs == "layers" || replays_iterations(s);
  if (!holds_experts || !has_experts(s.network_config)) return "";
  return "graphs that hold experts need tokens in fixed shapes: a capacity and its padding "
         "(moe_expert_capacity_factor, "
         "moe_pad_expert_input_to_capacity) are yours to add where the release asserts them";
}

bool says_choice(const StackChoiceField& field, const Settings& s) {
  if (field.name != "tp_comm_overlap" || s.choices.tp_comm_overlap == "off") return true;
  return s.tensor_parallel.value_or(1) == 1 || overlaps_tensor_collectives(s);
}

std::vector<LaunchKey> stack_flags() {
  std::vector<LaunchKey> all = graph_flags();
  all.push_back(
      {.path = "--tp-comm-overlap",
       .source = model_parallel_source,
       .write = [](const Settings& s) { return overlaps_tensor_collectives(s) ? Value(true) : std::nullopt; },
       .read = [](const Json& value, Settings& s) { s.choices.tp_comm_overlap = is_on(value) ? "on" : "off"; }});
  return all;
}

}  // namespace plumbline::megatron
