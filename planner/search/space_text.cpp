// --fix of a search: "tp=8,zero=1|2" as a space.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/base/errors.h"
#include "planner/search/space.h"

namespace plumbline {
namespace {

[[noreturn]] void refuse_schedule(std::string_view text) {
  std::vector<std::string> names;
  for (const Schedule schedule : all_schedules) names.emplace_back(to_text(schedule));
  throw InputError({"--fix schedule", "\"" + std::string(text.substr(0, 40)) + "\"", "a schedule as --schedule takes",
                    nearest_text(text, names)});
}

struct AxisParser {
  std::string_view name;
  std::function<void(SearchSpace&, std::string_view)> add;
};

[[noreturn]] void refuse_value(std::string_view axis, std::string_view text, const std::string& expected) {
  throw InputError({"--fix " + std::string(axis), "\"" + std::string(text.substr(0, 40)) + "\"", expected, ""});
}

std::int32_t degree(std::string_view axis, std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    refuse_value(axis, text, "a whole number from 1 on");
  return value;
}

AxisParser degrees(std::string_view name, std::vector<std::int32_t> SearchSpace::*list) {
  return {name,
          [name, list](SearchSpace& space, std::string_view text) { (space.*list).push_back(degree(name, text)); }};
}

const std::vector<AxisParser>& axis_parsers() {
  static const std::vector<AxisParser> parsers{
      degrees("pp", &SearchSpace::pipeline_stages),
      degrees("tp", &SearchSpace::tensor_parallel),
      degrees("cp", &SearchSpace::context_parallel),
      {"cp-comm",
       [](SearchSpace& space, std::string_view text) {
         const auto communication = context_communication_from_text(text);
         if (!communication) refuse_value("cp-comm", text, "ring or all-to-all");
         space.context_communication.push_back(*communication);
       }},
      degrees("ep", &SearchSpace::expert_parallel),
      degrees("dp", &SearchSpace::data_parallel),
      degrees("virtual-stages", &SearchSpace::virtual_stages),
      {"zero",
       [](SearchSpace& space, std::string_view text) {
         if (text.size() != 1 || text[0] < '0' || text[0] > '3') refuse_value("zero", text, "a stage from 0 to 3");
         space.zero_stages.push_back(text[0] - '0');
       }},
      degrees("shard-group", &SearchSpace::shard_groups),
      {"prefetch",
       [](SearchSpace& space, std::string_view text) {
         if (text != "on" && text != "off") refuse_value("prefetch", text, "on or off");
         space.prefetch.push_back(text == "on" ? ParameterPrefetch::on : ParameterPrefetch::off);
       }},
      degrees("layers-per-unit", &SearchSpace::layers_per_unit),
      degrees("etp", &SearchSpace::expert_tensor_parallel),
      {"micro-batch", [](SearchSpace& space,
                         std::string_view text) { space.micro_batch_sizes.push_back(degree("micro-batch", text)); }},
      {"schedule",
       [](SearchSpace& space, std::string_view text) {
         const auto schedule = schedule_from_text(text);
         if (!schedule) refuse_schedule(text);
         space.schedules.push_back(*schedule);
       }},
      {"recompute",
       [](SearchSpace& space, std::string_view text) {
         const auto recompute = recompute_from_text(text);
         if (!recompute) refuse_value("recompute", text, recompute_names_text(", "));
         for (const Recompute& other : space.recompute)
           if (!other.modules.empty() && !recompute->modules.empty() && other.modules != recompute->modules)
             refuse_value("recompute", text, "one set of modules in a search");
         space.recompute.push_back(*recompute);
       }},
      {"sequence-parallel",
       [](SearchSpace& space, std::string_view text) {
         if (text != "on" && text != "off") refuse_value("sequence-parallel", text, "on or off");
         space.sequence_parallel.push_back(text == "on" ? SequenceParallel::on : SequenceParallel::off);
       }},
  };
  return parsers;
}

/// Short names of axes, and how plan files spell them.
struct AxisAlias {
  std::string_view alias;
  std::string_view axis;
};
constexpr std::array axis_aliases{AxisAlias{"vs", "virtual-stages"},
                                  AxisAlias{"vpp", "virtual-stages"},
                                  AxisAlias{"virtual_stages", "virtual-stages"},
                                  AxisAlias{"mbs", "micro-batch"},
                                  AxisAlias{"micro_batch", "micro-batch"},
                                  AxisAlias{"sp", "sequence-parallel"},
                                  AxisAlias{"sequence_parallel", "sequence-parallel"},
                                  AxisAlias{"shard_group", "shard-group"},
                                  AxisAlias{"layers_per_unit", "layers-per-unit"},
                                  AxisAlias{"zero_stage", "zero"},
                                  AxisAlias{"tensor_parallel", "tp"},
                                  AxisAlias{"pipeline_stages", "pp"},
                                  AxisAlias{"context_parallel", "cp"},
                                  AxisAlias{"cp_comm", "cp-comm"},
                                  AxisAlias{"expert_parallel", "ep"},
                                  AxisAlias{"expert_tensor_parallel", "etp"},
                                  AxisAlias{"data_parallel", "dp"}};

std::string_view axis_of(std::string_view name) {
  for (const AxisAlias& each : axis_aliases)
    if (each.alias == name) return each.axis;
  return name;
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t end = text.find(separator);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view search_axis(std::string_view name) {
  const std::string_view axis = axis_of(name);
  for (const AxisParser& parser : axis_parsers())
    if (parser.name == axis) return parser.name;
  return {};
}

SearchSpace space_from_text(std::string_view fixes) {
  SearchSpace space;
  if (fixes.empty()) return space;
  std::vector<std::string> names;
  for (const AxisParser& parser : axis_parsers()) names.emplace_back(parser.name);
  std::set<std::string_view> fixed;
  for (const std::string_view fix : pieces(fixes, ',')) {
    const std::size_t equals = fix.find('=');
    const std::string_view name = axis_of(fix.substr(0, equals));
    const auto parser =
        std::find_if(axis_parsers().begin(), axis_parsers().end(), [&](const AxisParser& p) { return p.name == name; });
    if (equals == std::string_view::npos || parser == axis_parsers().end())
      throw InputError({"--fix", "\"" + std::string(fix.substr(0, 40)) + "\"",
                        "axis=value with an axis of the strategy", nearest_text(name, names)});
    if (!fixed.insert(name).second)
      throw InputError({"--fix", "names " + std::string(name) + " twice", "each axis once; its values apart by |", ""});
    const std::vector<std::string_view> values = pieces(fix.substr(equals + 1), '|');
    for (const std::string_view value : values) parser->add(space, value);
  }
  return space;
}

}  // namespace plumbline
