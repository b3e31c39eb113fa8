#include "planner/session/search/search_flags.h"

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "core/quantity/text.h"

namespace plumbline::session {

std::optional<Framework> SearchFlags::asked_framework() const {
  std::optional<Framework> asked;
  if (framework) asked = choice_of("--for", *framework, all_frameworks, framework_from_text);
  if (!executable) return asked;
  if (asked && asked != own_framework())
    throw InputError({"--executable", "cannot be combined with --for " + *framework, "one of them", ""});
  return own_framework();
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

namespace {

Option<SearchFlags> option(std::optional<std::string> SearchFlags::*text, OptionWords words) {
  return text_option<SearchFlags>(text, std::move(words));
}

Options<SearchFlags> make_search_options() {
  Options<SearchFlags> options;
  options.push_back(
      option(&SearchFlags::fixes,
             {"--fix", "AXES", "values of axes, such as tp=8,pp=4|8,zero=1,recompute=full|optimal; the rest is free"}));
  options.back().joins = true;
  options.push_back(option(&SearchFlags::flash_attention,
                           {"--flash-attention", "on|off", "fused attention kernels (on); on,off: both are searched"}));
  options.back().words.several = true;
  options.push_back(option(&SearchFlags::framework, {"--for", alternatives(names_of(all_frameworks)),
                                                     "only what this framework can launch (that of the stack)"}));
  options.back().words.field = {.caption = "Framework",
                                .placeholder = "the stack's",
                                .id = "framework",
                                .explanation = "only what this framework can launch; any: no limits"};
  options.push_back(
      switch_option(&SearchFlags::executable, {"--executable", "", "only what plan run executes: --for plumbline"}));
  options.push_back(
      option(&SearchFlags::split, {"--split", alternatives(names_of(all_stage_splits)),
                                   "balanced: for the best plans under 1f1b also the fastest split (even)"}));
  options.push_back(option(&SearchFlags::threads,
                           {"--threads", "N", "threads (all cores); the answer does not depend on it", {"--jobs"}}));
  options.push_back(option(&SearchFlags::time_limit, {"--time-limit", "TIME", "such as 30s; then the best so far"}));
  return options;
}

Options<SearchFlags> make_ranking_options() {
  Options<SearchFlags> options{
      option(&SearchFlags::objective, {"--objective", alternatives(names_of(all_objectives)), "what is best (time)"}),
      option(&SearchFlags::top, {"--top", "N", "how many plans (10)"}),
      switch_option(&SearchFlags::all,
                    {"--all", "", "also plans that are like a better one, each in a row of its own"}),
      switch_option(&SearchFlags::pareto, {"--pareto", "", "also the front of step time and peak memory"})};
  options.front().words.field = {.caption = "Objective",
                                 .placeholder = "time",
                                 .explanation = "what is best; tokens-per-dollar and gpus also look at fewer GPUs"};
  return options;
}

}  // namespace

const Options<SearchFlags>& search_options() {
  static const Options<SearchFlags> options = make_search_options();
  return options;
}

const Options<SearchFlags>& ranking_options() {
  static const Options<SearchFlags> options = make_ranking_options();
  return options;
}

}  // namespace plumbline::session
