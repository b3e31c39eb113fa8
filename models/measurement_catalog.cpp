#include "models/measurement_catalog.h"

#include "core/base/errors.h"
#include "core/io/row_rules_json.h"
#include "core/io/rows_json.h"
#include "models/embedded.h"

namespace plumbline {
namespace {

RowRuleTable read_rules(std::string_view name) {
  for (const embedded::EmbeddedFile& file : embedded::row_rules()) {
    if (file.name != name) continue;
    const std::string where = "row_rules/" + std::string(file.name) + ".json";
    const Json json = parse_json(file.text, where);
    return row_rules_from_json(JsonPlace(json, where));
  }
  throw InternalError("the rules " + std::string(name) + " were not compiled in");
}

}  // namespace

std::vector<RowSet> published_rows() {
  std::vector<RowSet> sets;
  for (const embedded::EmbeddedFile& file : embedded::measurements()) {
    const std::string where = "measurements/" + std::string(file.name) + ".json";
    const Json json = parse_json(file.text, where);
    sets.push_back(rows_from_json(JsonPlace(json, where), std::string(file.name)));
  }
  return sets;
}

RowRuleTable row_aliases() { return read_rules("aliases"); }
RowRuleTable row_doubts() { return read_rules("doubts"); }
RowRuleTable row_assumptions() { return read_rules("assumptions"); }

}  // namespace plumbline
