#include "runtime/run/rank_description.h"

namespace plumbline {
namespace {

Json integers(const auto& numbers) {
  Json::Array array;
  for (const auto number : numbers) array.emplace_back(static_cast<std::int64_t>(number));
  return array;
}

/// Of the box's own dimensions: leading ones are left out.
template <class Sizes>
Json of_dimensions(const Sizes& sizes, std::int32_t dimensions) {
  Json::Array array;
  for (auto i = sizes.size() - static_cast<std::size_t>(dimensions); i < sizes.size(); ++i)
    array.emplace_back(sizes[i]);
  return array;
}

Json parameter_json(const LocalParameter& p, const ParameterLayout& layout) {
  return Json::Object{{"name", p.name},
                      {"unit", layout.unit_names[static_cast<std::size_t>(p.execution)]},
                      {"execution", p.execution},
                      {"shape", of_dimensions(p.box.extent, p.dimensions)},
                      {"begin", of_dimensions(p.box.begin, p.dimensions)},
                      {"section", p.section},
                      {"first", p.first},
                      {"trained", p.is_trained}};
}

Json section_json(const Section& section) {
  return Json::Object{{"execution", section.execution}, {"elements", section.elements}, {"padded", section.padded},
                      {"parts", section.ranks},         {"part", section.rank},         {"begin", section.part_begin()},
                      {"count", section.part()}};
}

Json action_json(const Action& a, const RankProgram& program) {
  Json::Object object{{"kind", std::string(to_text(a.kind()))}};
  if (a.chunk >= 0) object.emplace_back("chunk", a.chunk);
  if (a.micro_batch >= 0) object.emplace_back("micro_batch", a.micro_batch);
  if (const std::int32_t segment = a.segment(); a.chunk >= 0 && segment >= 0)
    object.emplace_back("execution",
                        program.chunks[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(segment)].first);
  if (a.units().count > 0) object.emplace_back("units", integers(units_of(a, program)));
  return object;
}

}  // namespace

std::string RankDescriptions::text() const {
  return to_json_text(Json::Object{{"format", "plumbline.ranks/1"}, {"ranks", Json::Array(of_rank_)}});
}

Json rank_description(const RankParts& parts, const ParameterLayout& layout, const RankProgram& program) {
  Json::Object groups;
  for (const auto& [name, group] : parts.groups) groups.emplace_back(name, integers(group->rank_set().ranks));
  Json::Array parameters;
  for (const LocalParameter& p : layout.parameters) parameters.push_back(parameter_json(p, layout));
  Json::Array sections;
  for (const Section& section : layout.sections) sections.push_back(section_json(section));
  Json::Array owned;
  for (const OwnedRange& range : layout.owned)
    owned.emplace_back(Json::Array{range.parameter, range.first, range.count});
  Json::Array actions;
  for (const Action& action : program.actions) actions.push_back(action_json(action, program));
  return Json::Object{
      {"rank", parts.rank},
      {"stage", parts.stage},
      {"groups", std::move(groups)},
      {"tokens", Json::Array{parts.tokens.first, parts.tokens.count}},
      {"first_sequences", integers(parts.first_sequences)},
      {"elements",
       Json::Object{{"weights", layout.weights}, {"gradients", layout.gradients}, {"states", layout.states}}},
      {"parameters", std::move(parameters)},
      {"sections", std::move(sections)},
      {"owned", std::move(owned)},
      {"actions", std::move(actions)}};
}

}  // namespace plumbline
