#include "cli/option_help.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/output/table.h"

namespace plumbline {
namespace {

constexpr std::size_t text_column = 30;

std::string indented_lines(std::string_view text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result + "\n";
}

std::string flag_line(const FlagWords& flag) {
  std::string line = "  " + flag.name;
  if (!flag.value.empty()) line += " " + (flag.choices.size() > 4 ? std::string("NAME") : flag.value);
  const std::string text =
      flag.choices.size() > 4 ? flag.text + ": " + flag.value.substr(0, flag.value.size()) : flag.text;
  std::string spaced = text;
  if (flag.choices.size() > 4) {
    spaced = flag.text + ":";
    for (const std::string& choice : flag.choices) spaced += " " + choice;
  }
  if (line.size() + 1 < text_column) {
    line.resize(text_column, ' ');
  } else {
    line += "\n" + std::string(text_column, ' ');
  }
  std::string body = wrapped(spaced, terminal_columns() - text_column, 0);
  for (const char c : body) {
    line += c;
    if (c == '\n') line += std::string(text_column, ' ');
  }
  return line + "\n";
}

}  // namespace

std::vector<std::string> choices_in(const std::string& value) {
  if (value.find('|') == std::string::npos) return {};
  std::vector<std::string> choices;
  std::string choice;
  for (const char c : value + "|") {
    if (c == '|') {
      if (std::none_of(choice.begin(), choice.end(), [](unsigned char letter) { return std::isupper(letter) != 0; }))
        choices.push_back(choice);
      choice.clear();
    } else {
      choice += c;
    }
  }
  return choices;
}

std::vector<FlagWords> flags_of(const CLI::App& app) {
  std::vector<FlagWords> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    FlagWords flag;
    flag.name = option->get_positional() ? option->get_name(true) : option->get_name(false, false);
    if (option->get_items_expected_max() > 0) flag.value = option->get_type_name();
    flag.choices = choices_in(flag.value);
    flag.group = option->get_group();
    flag.text = option->get_description();
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::vector<FlagWords> flags_of(Verb& verb) {
  CLI::App app;
  app.set_help_flag("-h,--help", "this text")->group("Output");
  verb.declare(app);
  return flags_of(app);
}

std::vector<std::string> groups_of(const std::vector<FlagWords>& flags) {
  std::vector<std::string> groups;
  for (const FlagWords& flag : flags)
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  const auto output = std::find(groups.begin(), groups.end(), "Output");
  if (output != groups.end()) std::rotate(output, std::next(output), groups.end());
  return groups;
}

std::string help_text(const VerbWords& words, const std::vector<FlagWords>& flags) {
  std::string text = "plan " + std::string(words.name) + ": " + std::string(words.summary) + "\n\nUsage:\n";
  text += indented_lines("plan " + std::string(words.name) + " " + std::string(words.usage));
  text += "\n" + wrapped(std::string(words.text), terminal_columns(), 0) + "\n";
  for (const std::string& group : groups_of(flags)) {
    text += "\n" + group + ":\n";
    for (const FlagWords& flag : flags)
      if (flag.group == group) text += flag_line(flag);
  }
  return text + "\nExample:\n" + indented_lines(words.example);
}

std::string overview_text() {
  std::string text =
      "plan: which configuration should I launch, will it fit, what will it cost?\n\nUsage:\n  plan VERB [flags]\n\n"
      "Verbs:\n";
  for (const auto& verb : all_verbs()) {
    std::string line = "  " + std::string(verb->words().name);
    line.resize(14, ' ');
    text += line + std::string(verb->words().summary) + "\n";
  }
  return text +
         "\nplan VERB --help lists a verb's flags with an example; plan --version says which program this is.\n"
         "Exit codes: 0 done, 1 an honest no, 2 bad input, 3 device or environment failure, 70 our bug.\n\nExample:\n"
         "  plan search --model llama-3-70b --machine dgx-h100 --gpus 64 --global-batch 512\n";
}

}  // namespace plumbline
