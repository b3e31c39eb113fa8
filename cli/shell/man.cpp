// plan man: the manual page, made of the words and flags of the verbs.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <filesystem>

#include "cli/option_help.h"
#include "cli/output/output_flag.h"
#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/io/output_file.h"

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

std::string title(const std::string& page, const std::string& summary) {
  std::string capitals = page;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + roff(capitals) + " 1 \"\" \"plumbline " + std::string(program_version()) +
         "\" \"User commands\"\n.SH NAME\n" + roff(page) + " \\- " + roff(summary) + "\n";
}

std::string flag_entry(const FlagWords& flag) {
  return ".TP\n.B " + roff(flag.name) + (flag.value.empty() ? "\n" : " \\fI" + roff(flag.value) + "\\fR\n") +
         roff(flag.text) + "\n";
}

std::string verb_page(Verb& verb) {
  const VerbWords words = verb.words();
  const std::string name(words.name);
  std::string text = title("plan-" + name, std::string(words.summary)) + ".SH SYNOPSIS\n.B plan " + roff(name) + "\n" +
                     roff(words.usage) + "\n.SH DESCRIPTION\n" + roff(words.text) + "\n";
  const std::vector<FlagWords> flags = flags_of(verb);
  if (!flags.empty()) text += ".SH OPTIONS\n";
  for (const std::string& group : groups_of(flags)) {
    text += ".SS " + roff(group) + "\n";
    for (const FlagWords& flag : flags)
      if (flag.group == group) text += flag_entry(flag);
  }
  return text + ".SH EXAMPLE\n.nf\n" + roff(words.example) + "\n.fi\n.SH SEE ALSO\n.BR plan (1)\n";
}

std::string overview_page() {
  std::string text = title("plan", "which configuration to train a network with, whether it fits, what it costs") +
                     ".SH SYNOPSIS\n.B plan\n\\fIVERB\\fR [flags]\n.SH VERBS\nEach has a page of its own: "
                     ".BR plan\\-search (1).\n";
  for (const auto& verb : all_verbs())
    text += ".TP\n.B " + roff(verb->words().name) + "\n" + roff(verb->words().summary) + "\n";
  return text +
         ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nan honest no: it does not fit, nothing was found\n"
         ".TP\n.B 2\nbad input, said in one line on standard error\n.TP\n.B 3\na device, a file or memory failed\n"
         ".TP\n.B 70\nour bug\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set, no colour on a terminal\n";
}

class ManVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"man", "the manual pages", "[VERB] [--out FILE | --pages DIR]",
            "Writes a manual page in roff: that of a verb, or the overview. With --pages all of them, as make install "
            "puts them into share/man.",
            "plan man search | man -l -"};
  }
  void declare(CLI::App& app) override {
    app.add_option("verb", verb_, "whose page; absent: the overview")->type_name("VERB");
    out_.declare(app, "write to this file instead of standard output");
    app.add_option("--pages", folder_, "write every page to this folder: plan.1, plan-search.1 ...")
        ->group("Output")
        ->type_name("DIR");
  }
  void check_flags() const override {
    if (folder_ && (!verb_.empty() || out_))
      throw InputError({"--pages", "writes every page", "neither a verb nor --out", ""});
  }
  ExitCode run(Terminal& terminal) override {
    require_writable({&out_}, StandardOutput::text, terminal);
    if (folder_) {
      write_all(terminal);
      return ExitCode::done;
    }
    const std::string page = verb_.empty() ? overview_page() : verb_page(*find_verb(verb_));
    if (out_) {
      out_.write([&] { return page; }, terminal, Narration::silent);
    } else {
      terminal.print(page);
    }
    return ExitCode::done;
  }

 private:
  void write_all(Terminal& terminal) const {
    require_writable_folder("--pages", *folder_);
    const auto write = [&](const std::string& name, const std::string& text) {
      const std::filesystem::path path = std::filesystem::path(*folder_) / (name + ".1");
      write_output_file(path, text);
      terminal.print(path.string() + "\n");
    };
    write("plan", overview_page());
    for (const auto& verb : all_verbs()) write("plan-" + std::string(verb->words().name), verb_page(*verb));
  }

  std::string verb_;
  OutputFlag out_{"--out", "page"};
  std::optional<std::string> folder_;
};

const RegisteredVerb man_verb(140, make_verb<ManVerb>);

}  // namespace

}  // namespace plumbline
