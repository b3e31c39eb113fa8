#include "cli/search_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flag_values.h"
#include "core/quantity/text.h"

namespace plumbline {

void SearchFlags::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    app.add_option(flag, value, text)->group("Search")->type_name(type);
  };
  option("--fix", fixes_, "AXES",
         "values of axes, such as tp=8,pp=4|8,zero=1,recompute=full|optimal; the rest is free");
  option("--flash-attention", flash_attention_, "on|off", "fused attention kernels (on); on,off: both are searched");
  option("--for", framework_, alternatives(names_of(all_frameworks)).c_str(),
         "only what this framework can launch (that of the stack)");
  app.add_flag("--executable", executable_, "only what plan run executes: --for plumbline")->group("Search");
  option("--split", split_, "even|balanced", "balanced: for the best plans under 1f1b also the fastest split (even)");
  option("--threads", threads_, "N", "threads (all cores); the answer does not depend on it");
  option("--time-limit", time_limit_, "TIME", "such as 30s; then the best so far");
}

std::optional<Framework> SearchFlags::framework() const {
  std::optional<Framework> framework;
  if (framework_) framework = choice_of("--for", *framework_, all_frameworks, framework_from_text);
  if (!executable_) return framework;
  if (framework && framework != Framework::plumbline)
    throw InputError({"--executable", "cannot be combined with --for " + *framework_, "one of them", ""});
  return Framework::plumbline;
}

void SearchFlags::apply(session::SearchRequest& request) const {
  request.framework = framework();
  if (threads_)
    request.threads = static_cast<std::int32_t>(whole_number("--threads", *threads_, 1, session::most_threads));
  if (split_) request.split = choice_of("--split", *split_, all_stage_splits, stage_split_from_text);
  request.fixes = fixes_.value_or("");
  if (!flash_attention_) return;
  request.flash_attention.clear();
  for (const std::string& part : list_of("--flash-attention", *flash_attention_))
    request.flash_attention.push_back(on_or_off("--flash-attention", part) ? FlashAttention::on : FlashAttention::off);
}

std::optional<Seconds> SearchFlags::time_limit() const {
  return time_limit_ ? std::optional(parse_duration(*time_limit_, "--time-limit")) : std::nullopt;
}

}  // namespace plumbline
