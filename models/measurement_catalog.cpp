#include "models/measurement_catalog.h"

#include "core/base/errors.h"
#include "core/io/measured_runs_json.h"
#include "core/io/run_rules_json.h"
#include "models/embedded.h"

namespace plumbline {
namespace {

RunRuleTable read_rules(std::string_view name) {
  for (const embedded::EmbeddedFile& file : embedded::run_rules()) {
    if (file.name != name) continue;
    const std::string where = "run_rules/" + std::string(file.name) + ".json";
    const Json json = parse_json(file.text, where);
    return run_rules_from_json(JsonPlace(json, where));
  }
  throw InternalError("the rules " + std::string(name) + " were not compiled in");
}

}  // namespace

std::vector<RunSet> published_runs() {
  std::vector<RunSet> sets;
  for (const embedded::EmbeddedFile& file : embedded::measurements()) {
    const std::string where = "measurements/" + std::string(file.name) + ".json";
    const Json json = parse_json(file.text, where);
    sets.push_back(runs_from_json(JsonPlace(json, where), std::string(file.name)));
  }
  return sets;
}

RunRuleTable run_aliases() { return read_rules("aliases"); }
RunRuleTable run_assumptions() { return read_rules("assumptions"); }

}  // namespace plumbline
