// What launch files ask for, asked by flags.
#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "planner/session/import/import.h"
#include "planner/session/import/import_json.h"
#include "planner/session/question_flags.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

Answer shown(const ImportRequest& request) {
  const ImportAnswer found = import_files(request);
  const StrategyRequest asked = named_in_catalogue(strategy_request(request, found));
  Answer answer;
  answer.json = to_json_text(to_json(found, estimate_flags(asked)));
  answer.sentences = found.notes.unread;
  for (const std::string& sentence : found.assumed) answer.sentences.push_back("assumed: " + sentence);
  return answer;
}

}  // namespace

ImportRequest read_launch_files(const std::vector<std::string>& files, const std::optional<std::string>& from) {
  ImportRequest request;
  request.from = required_target(from);
  for (const std::string& file : files)
    request.files.push_back({file, read_text_file(file, "a launch script or configuration")});
  return request;
}

UseCase import_files_use_case() {
  struct Asked {
    QuestionFlags question;
    std::optional<std::string> from;
  };
  const auto asked = std::make_shared<Asked>();
  UseCase use_case;
  use_case.options.push_back(bound("--from", "NAME", asked->from));
  bind_options(use_case.options, question_options(Recipes::one, DeviceCounts::one), asked->question);
  use_case.work = [asked](const Inputs& inputs) {
    if (const std::string said = asked->question.given_with_import(); !said.empty())
      throw InputError({said, "the files say it", "no such flag", ""});
    ImportRequest request = read_launch_files(inputs.files, asked->from);
    request.question = asked->question.question(QuestionParts::none);
    return Work{[request](const Task& task) {
                  Answer answer = shown(request);
                  answer.found = !task.is_stopped();
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
