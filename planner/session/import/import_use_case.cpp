// What launch files ask for, asked by flags, and as JSON.
#include "planner/session/import/import.h"

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "planner/frameworks/launch/launch_recipe.h"
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

namespace {

Json texts(const std::vector<std::string>& all) {
  Json::Array array;
  for (const std::string& one : all) array.emplace_back(one);
  return array;
}

}  // namespace

Json to_json(const ImportAnswer& answer, const std::vector<std::string>& flags) {
  Json::Object object;
  object.emplace_back("format", import_format);
  object.emplace_back("target", to_text(answer.framework));
  object.emplace_back("flags", texts(flags));
  object.emplace_back("network", answer.settings.network_config);
  object.emplace_back("recipe", to_json(answer.settings.recipe));
  object.emplace_back("not_modelled", texts(answer.notes.unread));
  object.emplace_back("assumed", texts(answer.assumed));
  object.emplace_back("ignored_flags", answer.notes.ignored);
  return object;
}

}  // namespace plumbline::session
