// plan man: the manual page, made of the words and flags of the verbs.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/option_help.h"
#include "cli/output_flag.h"
#include "core/base/version.h"

namespace plumbline {
namespace {

/// Text that roff takes for what it is.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
      result += c;
    }
  }
  return result;
}

std::string verb_section(Verb& verb) {
  const VerbWords words = verb.words();
  std::string text = ".SS plan " + roff(words.name) + "\n" + roff(words.text) + "\n";
  for (const FlagWords& flag : flags_of(verb)) {
    text += ".TP\n.B " + roff(flag.name);
    text += flag.value.empty() ? "\n" : " \\fI" + roff(flag.value) + "\\fR\n";
    text += roff(flag.text) + "\n";
  }
  return text + ".PP\nExample:\n.PP\n.nf\n.RS\n" + roff(words.example) + "\n.RE\n.fi\n";
}

std::string manual_page() {
  std::string text = ".TH PLAN 1 \"\" \"plumbline " + std::string(program_version()) +
                     "\" \"User commands\"\n.SH NAME\n"
                     "plan \\- which configuration to train a network with, whether it fits, what it costs\n"
                     ".SH SYNOPSIS\n.B plan\n\\fIVERB\\fR [flags]\n.SH VERBS\n";
  for (const auto& verb : all_verbs())
    text += ".TP\n.B " + roff(verb->words().name) + "\n" + roff(verb->words().summary) + "\n";
  text += ".SH FLAGS\n";
  for (const auto& verb : all_verbs()) text += verb_section(*verb);
  return text +
         ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nan honest no: it does not fit, nothing was found\n"
         ".TP\n.B 2\nbad input, said in one line on standard error\n.TP\n.B 3\na device, a file or memory failed\n"
         ".TP\n.B 70\nour bug\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set, no colour on a terminal\n";
}

class ManVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"man", "the manual page", "[--out plan.1]",
            "Writes the manual page in roff, as make install puts it into share/man.", "plan man | man -l -"};
  }
  void declare(CLI::App& app) override { out_.declare(app, "write to this file instead of standard output"); }
  ExitCode run(Terminal& terminal) override {
    require_writable({&out_}, StandardOutput::text, terminal);
    if (out_) {
      out_.write([&] { return manual_page(); }, terminal, Narration::silent);
    } else {
      terminal.print(manual_page());
    }
    return ExitCode::done;
  }

 private:
  OutputFlag out_{"--out", "page"};
};

const RegisteredVerb registered(140, make_verb<ManVerb>);

}  // namespace

}  // namespace plumbline
