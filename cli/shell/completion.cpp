// plan completion: what a shell needs to complete this command.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/flag_values.h"
#include "cli/output/output_flag.h"
#include "cli/shell/completion_text.h"
#include "cli/verb.h"

namespace plumbline {
namespace {

class CompletionVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {
        "completion", "shell completions for bash, zsh or fish", "bash|zsh|fish",
        "Writes a script that completes verbs, flags, their values and the names of the catalogue. make install puts "
        "it where shells look.",
        "source <(plan completion bash)"};
  }
  void declare(CLI::App& app) override {
    app.add_option("SHELL", shell_, "for which shell")->group("Output")->type_name("bash|zsh|fish");
    out_.declare(app, "write to this file instead of standard output");
  }
  ExitCode run(Terminal& terminal) override {
    require_writable({&out_}, StandardOutput::text, terminal);
    const std::string text = script(shell_.value_or(""));
    if (out_) {
      out_.write([&] { return text; }, terminal, Narration::silent);
    } else {
      terminal.print(text);
    }
    return ExitCode::done;
  }

 private:
  static std::string script(const std::string& shell) {
    if (shell == "bash") return bash_completion();
    if (shell == "zsh") return zsh_completion();
    if (shell == "fish") return fish_completion();
    refuse_choice("SHELL", shell, {"bash", "zsh", "fish"});
  }

  std::optional<std::string> shell_;
  OutputFlag out_{"--out", "script"};
};

const RegisteredVerb completion_verb(130, make_verb<CompletionVerb>);

}  // namespace

}  // namespace plumbline
