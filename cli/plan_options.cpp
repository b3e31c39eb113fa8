#include "cli/plan_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/import_files.h"
#include "cli/plan_file.h"
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
  session::FitLimitsRequest request;
  request.question = question_.question(QuestionParts::some);
  if (!strategy_.given().empty()) request.strategy = strategy_.strategy();
  return request;
}

session::StrategyRequest PlanOptions::imported() const {
  const std::string given = !question_.given_beside_import().empty() ? question_.given_beside_import()
                            : plan_file_                             ? "--plan"
                                                                     : strategy_.given();
  if (!given.empty())
    throw InputError({given, "cannot be combined with --import, which says it too", "one of the two", ""});
  session::ImportRequest request = import_request(imported_files_, import_target_);
  request.question = question_.question(QuestionParts::some);
  return session::strategy_request(request, session::import_files(request));
}

session::EstimateRequest PlanOptions::request() const {
  if (!imported_files_.empty()) return imported();
  if (import_target_) throw InputError({"--from", "says whose the files of --import are", "--import as well", ""});
  if (!plan_file_) {
    return session::StrategyRequest{question_.question(), strategy_.strategy()};
  }
  const std::string given = question_.given_beside_plan().empty() ? strategy_.given() : question_.given_beside_plan();
  if (!given.empty())
    throw InputError({given, "cannot be combined with --plan, which says it too", "one of the two", ""});
  session::PlanRequest request = plan_request(*plan_file_);
  question_.apply_to_plan(request);
  return request;
}

}  // namespace plumbline
