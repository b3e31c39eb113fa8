#include "core/io/run_rules_json.h"

#include <array>

#include "core/base/errors.h"
#include "core/measurement/run_fields.h"

namespace plumbline {
namespace {

/// Fields that are not keys of a run: what the resolver understands by a published spelling, and the run's own names.
constexpr std::array<std::string_view, 16> rule_fields{"id",
                                                       "rows",
                                                       "model_as",
                                                       "precision_as",
                                                       "schedule_as",
                                                       "recompute_as",
                                                       "optimizer_as",
                                                       "loss_as",
                                                       "overlap_as",
                                                       "cuda_graphs_as",
                                                       "tp_comm_overlap_as",
                                                       "memory_basis_as",
                                                       "flash_attention_as",
                                                       "doubtful",
                                                       "zero_stage_as",
                                                       "heads"};

void require_field(const std::string& key, const std::string& where) {
  if (key.starts_with(row_argument_prefix)) return;
  std::vector<std::string> known;
  for (const RunNumberField& field : run_number_fields) known.emplace_back(field.key);
  for (const RunWordField& field : run_word_fields) known.emplace_back(field.key);
  for (const std::string_view field : rule_fields) known.emplace_back(field);
  for (const std::string& name : known)
    if (name == key) return;
  throw InputError({where, "\"" + key + "\" is no field of a run", "a key of a run", nearest_text(key, known)});
}

std::vector<std::string> one_or_several(const JsonPlace& place) {
  if (place.value().if_string() != nullptr) return {place.string()};
  std::vector<std::string> result;
  for (const JsonPlace& element : place.elements()) result.push_back(element.string());
  return result;
}

}  // namespace

RunRule row_rule_from_json(const JsonPlace& place) {
  JsonObject object(place);
  RunRule rule;
  JsonObject when(object.at("when"));
  for (const auto& [key, value] : when.members()) {
    require_field(key, value.where());
    rule.when.push_back({key, one_or_several(value)});
  }
  if (const auto then = object.find("then")) {
    JsonObject fields(*then);
    for (const auto& [key, value] : fields.members()) {
      require_field(key, value.where());
      rule.then.emplace_back(key, value.string());
    }
  }
  if (const auto skip = object.find("skip")) rule.skip = skip->string();
  if (const auto over = object.find("over_unverified")) rule.over_unverified = over->boolean();
  const JsonPlace source = object.at("source");
  rule.source = source.string();
  if (rule.source.empty()) throw InputError({source.where(), "is empty", "who says so, or why it is assumed", ""});
  if (rule.then.empty() == rule.skip.empty())
    throw InputError({object.where(), "says both or neither of then and skip", "one of them", ""});
  object.finish();
  return rule;
}

RunRuleTable run_rules_from_json(const JsonPlace& document) {
  JsonObject object = open_document(document, "plumbline.row_rules/1");
  RunRuleTable table;
  table.name = object.at("name").string();
  table.description = object.at("description").string();
  for (const JsonPlace& place : object.at("rules").elements()) table.rules.push_back(row_rule_from_json(place));
  object.finish();
  return table;
}

}  // namespace plumbline
