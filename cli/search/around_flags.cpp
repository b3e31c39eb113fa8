#include "cli/search/around_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/flag_values.h"
#include "cli/flags/import_files.h"
#include "cli/flags/plan_file.h"
#include "core/base/errors.h"

namespace plumbline {
namespace {

void refuse_with_around(const std::string& flag) {
  if (!flag.empty())
    throw InputError({flag, "cannot be combined with --around, which says it too", "one of the two", ""});
}

}  // namespace

void AroundFlags::declare(CLI::App& app) {
  app.add_option("--around", files_,
                 "what to change of this plan file, or of these launch files of one run (with --from)")
      ->group("Around")
      ->type_name("FILE");
  app.add_option("--from", from_, "with --around: whose launch files they are, a name of plan import")
      ->group("Around")
      ->type_name("TARGET");
  app.add_option("--changes", changes_, "with --around: the most choices that may change, 1 to 4 (2)")
      ->group("Around")
      ->type_name("N");
}

bool AroundFlags::is_given() const {
  if (!files_.empty()) return true;
  if (from_) throw InputError({"--from", "says whose the files of --around are", "--around as well", ""});
  if (changes_) throw InputError({"--changes", "says how far from --around plans may be", "--around as well", ""});
  return false;
}

session::EstimateRequest AroundFlags::start(const QuestionOptions& question, session::SearchRequest& search) const {
  if (from_) {
    refuse_with_around(question.given_with_import());
    session::ImportRequest request = import_request(files_, from_);
    request.question = question.question(QuestionParts::some);
    const session::ImportAnswer imported = session::import_files(request);
    if (!search.framework) search.framework = imported.framework;
    return session::strategy_request(request, imported);
  }
  refuse_with_around(question.given_with_plan());
  if (files_.size() > 1)
    throw InputError({"--around", files_[1] + " is a second plan file", "one plan, or launch files with --from", ""});
  session::PlanRequest request = plan_request(files_.front());
  question.apply_to_plan(request);
  return request;
}

session::AroundRequest AroundFlags::request(const QuestionOptions& question, session::SearchRequest search) const {
  const session::EstimateRequest asked = start(question, search);
  session::AroundRequest request{session::estimate(asked), std::move(search)};
  if (changes_)
    request.changes = static_cast<std::int32_t>(whole_number("--changes", *changes_, 1, session::most_changes));
  return request;
}

}  // namespace plumbline
