// plan import: what launch files of a training framework ask for, as flags of this program.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/import_files.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/question_options.h"
#include "cli/output/output_flag.h"
#include "cli/verb.h"
#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/session/import/import.h"

namespace plumbline {
namespace {

class ImportVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"import", "what launch files of a training framework ask for",
            "FILE... --from TARGET [--machine C] [--gpus N] [--out plan.json]",
            "Reads a script with the command of a training, or a framework's configuration, and prints the model, the "
            "recipe and the strategy as flags of plan estimate. Flags that matter and are not modelled are named, "
            "others counted. The other verbs read the files too: --import FILE --from TARGET.",
            "plan import train.sh --from megatron-lm --gpus 64\n"
            "plan fit --import train.sh --from megatron-lm --machine dgx-h100"};
  }
  void declare(CLI::App& app) override {
    app.add_option("files", files_, "launch files of one run; - is standard input")->type_name("FILE");
    app.add_option("--from", target_, "whose files they are: " + target_names())
        ->group("Question")
        ->type_name("TARGET");
    question_.declare(app, Recipes::one);
    out_.declare(app, "write the plan to this file; needs --machine");
    app.add_flag("--json", json_, "the answer as JSON")->group("Output");
  }
  void check_flags() const override {
    if (files_.empty())
      throw InputError({"FILE", "is missing", "launch files of one run, or - for standard input", ""});
  }
  ExitCode run(Terminal& terminal) override {
    require_writable({&out_}, json_ ? StandardOutput::json : StandardOutput::text, terminal);
    if (const std::string given = question_.given_with_import(); !given.empty())
      throw InputError({given, "the files say it", "no such flag", ""});
    session::ImportRequest request = import_request(files_, target_);
    request.question = question_.question(QuestionParts::none);
    const session::ImportAnswer answer = session::import_files(request);
    const session::StrategyRequest as_read = session::strategy_request(request, answer);
    write_plan(as_read, answer.settings.recipe, terminal);
    const session::StrategyRequest asked = session::named_in_catalogue(as_read);
    const auto flags = session::estimate_flags(asked);
    terminal.print(json_ ? to_json_text(session::to_json(answer, flags)) : text(answer, asked, flags));
    return ExitCode::done;
  }

 private:
  static std::string target_names() {
    std::string all;
    for (const LaunchTarget& target : launch_targets())
      if (target.read != nullptr) all += (all.empty() ? "" : ", ") + std::string(to_text(target.framework));
    return all + ", huggingface";
  }

  void write_plan(const session::StrategyRequest& asked, const LaunchRecipe& said, Terminal& terminal) const {
    if (!out_) return;
    if (asked.question.machine.empty())
      throw InputError({"--out", "a plan is priced on a machine", "--machine as well", ""});
    const session::EstimateRequest request(asked);
    const session::PricedQuestion priced = session::estimate(request);
    out_.write([&] { return plan_file_text(priced, said, out_.folder()); }, terminal, Narration::notes);
  }

  [[nodiscard]] static std::string text(const session::ImportAnswer& answer, const session::StrategyRequest& asked,
                                        const std::vector<std::string>& flags) {
    std::string line = "plan estimate";
    for (const std::string& word : flags) line += " " + shell_quoted(word);
    std::string all = answer.title + ":\n\n" + line + "\n";
    if (!asked.network_config.is_null())
      all +=
          "\nThe network is not in the catalogue: --out plan.json writes a plan that carries it, and --import reads "
          "it from the files.\n";
    if (const std::string recipe = to_text(answer.settings.recipe); !recipe.empty())
      all += "\nThe recipe, which --out plan.json carries:\n  " + recipe + "\n";
    if (!answer.notes.unread.empty()) all += "\nNot modelled, and it matters:\n";
    for (const std::string& sentence : answer.notes.unread) all += "  " + sentence + "\n";
    if (!answer.assumed.empty()) all += "\nAssumed, as no file says it:\n";
    for (const std::string& sentence : answer.assumed) all += "  " + sentence + "\n";
    if (answer.notes.ignored > 0)
      all += "\n" +
             (answer.notes.ignored == 1 ? "1 other flag changes"
                                        : std::to_string(answer.notes.ignored) + " other flags change") +
             " neither memory nor time.\n";
    return all;
  }

  std::vector<std::string> files_;
  std::optional<std::string> target_;
  QuestionOptions question_;
  OutputFlag out_{"--out", "plan"};
  bool json_ = false;
};

const RegisteredVerb import_verb(72, make_verb<ImportVerb>);

}  // namespace

}  // namespace plumbline
