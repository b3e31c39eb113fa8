#include "planner/session/search/search_cases.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "planner/pricing/run_bill.h"
#include "planner/session/named_task.h"

namespace plumbline::session {
namespace {

struct Part {
  const char* flag;
  std::optional<std::string> QuestionFlags::*text;
};
constexpr std::array parts{Part{"--model", &QuestionFlags::model},
                           Part{"--machine", &QuestionFlags::machine},
                           Part{"--gpus", &QuestionFlags::gpus},
                           Part{"--seq-len", &QuestionFlags::sequence_length},
                           Part{"--global-batch", &QuestionFlags::global_batch},
                           Part{"--stack", &QuestionFlags::stack}};
constexpr std::string_view every_stack = "all";

std::vector<std::string> values_of(const Part& part, const QuestionFlags& flags) {
  const std::optional<std::string>& text = flags.*part.text;
  if (!text || text->find(',') == std::string::npos) return {};
  std::error_code ignored;
  if (std::filesystem::exists(*text, ignored)) return {};
  std::vector<std::string> values = list_of(part.flag, *text);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      throw InputError({part.flag, "'" + values[i] + "' is given twice", "each value once", ""});
  if (part.text == &QuestionFlags::stack && std::find(values.begin(), values.end(), every_stack) != values.end())
    throw InputError(
        {part.flag, "has all beside others, which are among them or are no current releases", "all, or names", ""});
  return values;
}

struct FlagsCase {
  std::vector<CaseValue> values;
  QuestionFlags flags;
};

void require_few(std::size_t cases) {
  if (cases <= most_cases) return;
  throw InputError({"question", "has " + std::to_string(cases) + " combinations of values",
                    "at most " + std::to_string(most_cases), ""});
}

std::vector<FlagsCase> flag_cases(const QuestionFlags& flags) {
  std::vector<FlagsCase> cases{{{}, flags}};
  for (const Part& part : parts) {
    const std::vector<std::string> values = values_of(part, flags);
    if (values.empty()) continue;
    require_few(cases.size() * values.size());
    std::vector<FlagsCase> more;
    for (const FlagsCase& one : cases)
      for (const std::string& value : values) {
        FlagsCase& next = more.emplace_back(one);
        next.values.push_back({std::string(part.flag).substr(2), value});
        next.flags.*part.text = value;
      }
    cases = std::move(more);
  }
  return cases;
}

SearchRequest request_of(const QuestionFlags& flags, const SearchRequest& options) {
  SearchRequest request = options;
  request.question = flags.question();
  request.recipes = flags.recipe_choices();
  return request;
}

/// A case for each current release that trains the question.
void add_stacks(const FlagsCase& one, const SearchRequest& options, std::vector<SearchCase>& into) {
  QuestionFlags flags = one.flags;
  flags.stack.reset();
  const SearchRequest request = request_of(flags, options);
  const Question question(request.question);
  for (const StackCandidate& candidate : question.usual_stack().candidates) {
    SearchCase& next = into.emplace_back(SearchCase{one.values, request});
    next.request.question.stack = candidate.stack;
    if (!options.framework) next.request.framework = candidate.framework;
    next.values.push_back({"stack", candidate.stack});
    next.values.push_back({"for", std::string(to_text(*next.request.framework))});
  }
}

CaseAnswer answer_of(const SearchCase& one, const Task& task) {
  CaseAnswer row{one.values, {}, {}, name_warning(one.request.question)};
  try {
    row.found = search(one.request, named_task(label_of(one.values), task));
    if (row.plan() != nullptr) return row;
    row.reason = why_no_plan(*row.found);
  } catch (const InputError& error) {
    row.reason = error.what();
  }
  return row;
}

double step_of(const CaseAnswer& row) {
  const Plan* const plan = row.plan();
  return plan == nullptr ? std::numeric_limits<double>::infinity() : ranking_step(*plan).expected;
}

/// Rows that differ in their stack alone answer the same question.
void rank_stacks(std::vector<CaseAnswer>& rows) {
  const auto stack_of = [](const std::vector<CaseValue>& values) {
    return std::find_if(values.begin(), values.end(), [](const CaseValue& one) { return one.part == "stack"; });
  };
  const auto rest = [&](const CaseAnswer& row) {
    return std::vector<CaseValue>(row.values.begin(), stack_of(row.values));
  };
  if (rows.empty() || stack_of(rows.front().values) == rows.front().values.end()) return;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(), [&](const CaseAnswer& row) { return rest(row) != rest(*first); });
    std::stable_sort(first, last, [](const CaseAnswer& a, const CaseAnswer& b) { return step_of(a) < step_of(b); });
    first = last;
  }
}

}  // namespace

bool makes_cases(std::string_view flag) {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.flag == flag; });
}

std::string label_of(const std::vector<CaseValue>& values) {
  std::string label;
  for (const CaseValue& one : values) label += (label.empty() ? "" : ", ") + one.part + " " + one.value;
  return label;
}

bool CasesAnswer::has_any() const {
  return std::any_of(rows.begin(), rows.end(), [](const CaseAnswer& row) { return row.plan() != nullptr; });
}

std::vector<SearchCase> search_cases(const QuestionFlags& flags, const SearchRequest& options) {
  std::vector<SearchCase> cases;
  for (const FlagsCase& one : flag_cases(flags)) {
    if (one.flags.stack == every_stack)
      add_stacks(one, options, cases);
    else
      cases.push_back({one.values, request_of(one.flags, options)});
  }
  require_few(cases.size());
  if (cases.size() == 1 && cases.front().values.empty()) return cases;
  for (SearchCase& one : cases) {
    one.request.top = 1;
    one.request.limits_cost = false;
  }
  return cases;
}

CasesAnswer search(const std::vector<SearchCase>& cases, const Task& task) {
  CasesAnswer answer;
  for (const SearchCase& one : cases) {
    if (task.is_stopped()) {
      answer.complete = false;
      break;
    }
    answer.rows.push_back(answer_of(one, task));
    const CaseAnswer& row = answer.rows.back();
    if (row.found && !row.found->result.complete) answer.complete = false;
    task.end(label_of(one.values));
  }
  rank_stacks(answer.rows);
  return answer;
}

}  // namespace plumbline::session
