// Whatever the bytes: a file of rows or of rules is refused in one line, or every row can be asked about.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/row_rules_json.h"
#include "core/io/rows_json.h"
#include "core/measurement/row_rules.h"

namespace {

using namespace plumbline;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Read>
void try_reading(std::string_view text, Read read) {
  try {
    const Json json = parse_json(text, "rows");
    read(JsonPlace(json, "rows"));
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_reading(text, [](const JsonPlace& place) {
    for (const MeasuredRow& row : rows_from_json(place, "rows").rows)
      require(!row.question.id.empty() && (!row.measured.step_time_s || *row.measured.step_time_s > 0));
  });
  try_reading(text, [](const JsonPlace& place) {
    const RowRuleTable table = row_rules_from_json(place);
    const RuledRow ruled = apply(table, {}, {});
    for (const AssumedField& field : ruled.assumed) require(!field.source.empty());
  });
  return 0;
}
