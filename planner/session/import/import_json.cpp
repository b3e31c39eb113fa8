#include "planner/session/import/import_json.h"

#include "planner/frameworks/launch/launch_recipe.h"

namespace plumbline::session {
namespace {

Json texts(const std::vector<std::string>& all) {
  Json::Array array;
  for (const std::string& one : all) array.emplace_back(one);
  return array;
}

}  // namespace

Json to_json(const ImportAnswer& answer, const std::vector<std::string>& flags) {
  Json::Object object;
  object.emplace_back("format", import_format);
  object.emplace_back("target", to_text(answer.framework));
  object.emplace_back("flags", texts(flags));
  object.emplace_back("network", answer.settings.network_config);
  object.emplace_back("recipe", to_json(answer.settings.recipe));
  object.emplace_back("not_modelled", texts(answer.notes.unread));
  object.emplace_back("assumed", texts(answer.assumed));
  object.emplace_back("ignored_flags", answer.notes.ignored);
  return object;
}

}  // namespace plumbline::session
