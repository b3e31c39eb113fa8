#include "cli/flags/plan_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/import_files.h"
#include "cli/flags/plan_file.h"
#include "core/base/errors.h"

namespace plumbline {

void PlanOptions::declare(CLI::App& app) {
  app.add_option("--plan", plan_file_, "a plan file instead of the flags of question and strategy")
      ->group("Question")
      ->type_name("FILE");
  app.add_option("--import", imported_files_,
                 "launch files of one run instead of the flags of the strategy: a script with a command, a "
                 "configuration; - is standard input")
      ->group("Question")
      ->type_name("FILE");
  app.add_option("--from", import_target_, "with --import: whose files they are, a name of plan import")
      ->group("Question")
      ->type_name("TARGET");
  question_.declare(app, Recipes::one);
  strategy_.declare(app);
}

session::FitLimitsRequest PlanOptions::limits_request() const {
  const session::PlanFlags given = flags();
  return session::limits_request(given.question, given.strategy);
}

session::PlanFlags PlanOptions::flags() const { return {question_.flags(), strategy_.flags()}; }

session::StrategyRequest PlanOptions::imported() const {
  flags().require_allowed_with_import();
  if (plan_file_)
    throw InputError({"--plan", "cannot be combined with --import, which says it too", "one of the two", ""});
  return flags().request_of(import_request(imported_files_, import_target_));
}

session::EstimateRequest PlanOptions::request(session::NoStrategy none) const {
  if (!imported_files_.empty()) return imported();
  if (import_target_) throw InputError({"--from", "says whose the files of --import are", "--import as well", ""});
  if (!plan_file_) return flags().request(none);
  flags().require_allowed_with_plan();
  return flags().request_of(plan_request(*plan_file_));
}

}  // namespace plumbline
