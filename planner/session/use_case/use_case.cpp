#include "planner/session/use_case/use_case.h"

#include <algorithm>

#include "core/io/value_text.h"

namespace plumbline::session {

const std::vector<UseCaseRow>& use_cases() {
#define PLUMBLINE_USE_CASE_ROW(name) {#name, name##_use_case},
  static const std::vector<UseCaseRow> rows{PLUMBLINE_USE_CASES(PLUMBLINE_USE_CASE_ROW)};
#undef PLUMBLINE_USE_CASE_ROW
  return rows;
}

std::optional<UseCase> use_case(std::string_view name) {
  const std::vector<UseCaseRow>& rows = use_cases();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const UseCaseRow& row) { return row.name == name; });
  if (found == rows.end()) return std::nullopt;
  return found->make();
}

void give_switch(const std::string& flag, const std::string& text, bool& is_on) { is_on = on_or_off(flag, text); }

void give_list(const std::string& flag, const std::string& text, std::vector<std::string>& texts) {
  texts = list_of(flag, text);
}

BoundOption bound(const char* flag, const char* values, std::optional<std::string>& text) {
  return {{.flag = flag, .values = values, .help = {}}, [&text](std::string given) { text = std::move(given); }};
}

BoundOption input(const char* flag) { return {{.flag = flag, .values = {}, .help = {}}, {}}; }

void bind_options(std::vector<BoundOption>& all, StrategyFlags& flags) {
  for_each_flag(flags, [&](const StrategyAxis& axis, std::optional<std::string>& place) {
    all.push_back({{.flag = std::string(axis.flag), .values = {}, .help = {}},
                   [&place](std::string text) { place = std::move(text); },
                   &axis});
  });
}

}  // namespace plumbline::session
