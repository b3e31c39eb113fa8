#include "planner/session/search_flags.h"

#include "core/base/errors.h"
#include "core/quantity/text.h"
#include "planner/question/value_text.h"

namespace plumbline::session {

std::optional<Framework> SearchFlags::asked_framework() const {
  std::optional<Framework> asked;
  if (framework) asked = choice_of("--for", *framework, all_frameworks, framework_from_text);
  if (!executable) return asked;
  if (asked && asked != Framework::plumbline)
    throw InputError({"--executable", "cannot be combined with --for " + *framework, "one of them", ""});
  return Framework::plumbline;
}

void SearchFlags::apply(SearchRequest& request) const {
  if (objective) request.objective = choice_of("--objective", *objective, all_objectives, objective_from_text);
  if (top) request.top = static_cast<std::size_t>(whole_number("--top", *top, 1, most_plans));
  request.all = request.all || all;
  request.pareto = request.pareto || pareto;
  request.framework = asked_framework();
  if (threads) request.threads = static_cast<std::int32_t>(whole_number("--threads", *threads, 1, most_threads));
  if (split) request.split = choice_of("--split", *split, all_stage_splits, stage_split_from_text);
  request.fixes = fixes.value_or("");
  if (!flash_attention) return;
  request.flash_attention.clear();
  for (const std::string& part : list_of("--flash-attention", *flash_attention))
    request.flash_attention.push_back(on_or_off("--flash-attention", part) ? FlashAttention::on : FlashAttention::off);
}

std::optional<Seconds> SearchFlags::limit() const {
  return time_limit ? std::optional(parse_duration(*time_limit, "--time-limit")) : std::nullopt;
}

}  // namespace plumbline::session
