#include "cli/search_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flag_values.h"

namespace plumbline {

void SearchFlags::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    app.add_option(flag, value, text)->group("Search")->type_name(type);
  };
  app.add_option("--fix", flags_.fixes,
                 "values of axes, such as tp=8,pp=4|8,zero=1,recompute=full|optimal; the rest is free")
      ->group("Search")
      ->type_name("AXES")
      ->multi_option_policy(CLI::MultiOptionPolicy::Join)
      ->delimiter(',');
  option("--flash-attention", flags_.flash_attention, "on|off",
         "fused attention kernels (on); on,off: both are searched");
  option("--for", flags_.framework, alternatives(names_of(all_frameworks)).c_str(),
         "only what this framework can launch (that of the stack)");
  app.add_flag("--executable", flags_.executable, "only what plan run executes: --for plumbline")->group("Search");
  option("--split", flags_.split, "even|balanced",
         "balanced: for the best plans under 1f1b also the fastest split (even)");
  option("--threads", flags_.threads, "N", "threads (all cores); the answer does not depend on it");
  option("--time-limit", flags_.time_limit, "TIME", "such as 30s; then the best so far");
}

void SearchFlags::declare_ranking(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    app.add_option(flag, value, text)->group("Search")->type_name(type);
  };
  option("--objective", flags_.objective, alternatives(names_of(all_objectives)).c_str(), "what is best (time)");
  option("--top", flags_.top, "N", "how many plans (10)");
  app.add_flag("--all", flags_.all, "also plans that are like a better one, each in a row of its own")->group("Search");
  app.add_flag("--pareto", flags_.pareto, "also the front of step time and peak memory")->group("Search");
}

}  // namespace plumbline
