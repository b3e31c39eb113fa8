// Whatever the bytes: a file of rows or of rules is refused in one line, or every row can be asked about.
#include "core/io/measured_runs_json.h"
#include "core/io/run_rules_json.h"
#include "core/measurement/run_rules.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_accepted_or_refused([&] {
    const Json json = parse_json(text, "rows");
    for (const MeasuredRun& row : runs_from_json(JsonPlace(json, "rows"), "rows").runs)
      require(!row.question.id.empty() && (!row.measured.step_time_s || *row.measured.step_time_s > 0));
  });
  require_accepted_or_refused([&] {
    const Json json = parse_json(text, "rules");
    const RuledRun ruled = apply(run_rules_from_json(JsonPlace(json, "rules")).rules, {}, {});
    for (const AssumedField& field : ruled.assumed) require(!field.source.empty());
  });
  return 0;
}
