#include "cli/shell/completion_text.h"

#include "cli/option_help.h"
#include "core/base/joined.h"
#include "planner/search/space_axes.h"

namespace plumbline {
namespace {

/// Of --fix, as help shows it.
constexpr std::string_view fix_value = "AXES";

std::string verb_names() {
  std::string names;
  for (const auto& verb : all_verbs()) names += (names.empty() ? "" : " ") + std::string(verb->words().name);
  return names;
}

std::string flag_names(const std::vector<FlagWords>& flags) {
  std::string names;
  for (const FlagWords& flag : flags)
    if (flag.name.starts_with("--")) names += (names.empty() ? "" : " ") + flag.name;
  return names;
}

/// "tp= pp= ...": what a fix begins with.
std::string fix_axes() {
  std::string names;
  for (const SpaceAxis& axis : space_axes()) names += (names.empty() ? "" : " ") + axis.name() + "=";
  return names;
}

/// The values of an axis that are words: "on off", "0 1 2 3"; empty for numbers of ranks.
std::string fix_values(const StrategyAxis& axis) { return joined(choices_in(axis.values), " "); }

/// "tp=8,zero=1": bash takes = for a word of its own, so that the word is an axis, "=", a value, or a value and an
/// axis.
std::string bash_fix() {
  std::string text =
      "_plan_fix() {\n"
      "  local word=$1 axis=$2 head=\n"
      "  if [[ $word == *,* ]]; then head=${word%,*}, word=${word##*,} axis=; fi\n"
      "  case \"$axis\" in\n"
      "    '') compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -P \"$head\" -W \"" +
      fix_axes() + "\" -- \"$word\")) ;;\n";
  for (const SpaceAxis& axis : space_axes())
    if (const std::string values = fix_values(*axis.axis); !values.empty())
      text += "    " + axis.name() + ") COMPREPLY=($(compgen -W \"" + values + "\" -- \"$word\")) ;;\n";
  return text + "  esac\n}\n";
}

/// What may follow a flag, in the words of bash's compgen.
std::string bash_values(const FlagWords& flag) {
  if (!flag.choices.empty()) return "-W \"" + joined(flag.choices, " ") + "\"";
  if (flag.value == "MODEL") return "-f -W \"$(plan models --names 2>/dev/null)\"";
  if (flag.value == "MACHINE") return "-f -W \"$(plan machines --names 2>/dev/null)\"";
  if (flag.value == "STACK") return "-f -W \"$(plan stacks --names 2>/dev/null)\"";
  if (flag.value == "FILE") return "-f";
  if (flag.value == "dot") return "-W dot";
  return "";
}

/// Inside single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string fish_values(const FlagWords& flag) {
  if (!flag.choices.empty()) return " -x -a " + quoted(joined(flag.choices, " "));
  if (flag.value == "MODEL") return " -r -a '(plan models --names)'";
  if (flag.value == "MACHINE") return " -r -a '(plan machines --names)'";
  if (flag.value == "STACK") return " -r -a '(plan stacks --names)'";
  if (flag.value == "FILE") return " -r -F";
  if (flag.value == fix_value) return " -x -a " + quoted(fix_axes());
  return flag.value.empty() ? "" : " -x";
}

std::string bash_case(Verb& verb) {
  const std::vector<FlagWords> flags = flags_of(verb);
  std::string text = "    " + std::string(verb.words().name) + ")\n      case \"$previous\" in\n";
  std::string argument;
  for (const FlagWords& flag : flags) {
    if (!flag.name.starts_with("--")) argument = bash_values(flag);
    if (flag.value.empty() || !flag.name.starts_with("--")) continue;
    if (flag.value == fix_value) {
      text += "        " + flag.name + ") _plan_fix \"$word\" ''; return ;;\n";
      continue;
    }
    const std::string values = bash_values(flag);
    text += "        " + flag.name + ") " +
            (values.empty() ? std::string("COMPREPLY=()") : "COMPREPLY=($(compgen " + values + " -- \"$word\"))") +
            "; return ;;\n";
  }
  text += "      esac\n      COMPREPLY=($(compgen -W \"" + flag_names(flags) + "\" -- \"$word\"))\n";
  if (!argument.empty()) text += "      [[ $word == -* ]] || COMPREPLY+=($(compgen " + argument + " -- \"$word\"))\n";
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completion() {
  std::string text =
      std::string("# bash completion of plan; written by `plan completion bash`.\n") + bash_fix() +
      "_plan() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [[ $previous == = ]]; then _plan_fix \"$word\" \"${COMP_WORDS[COMP_CWORD-2]##*,}\"; return; fi\n"
      "  if [[ $word == = ]]; then _plan_fix '' \"${previous##*,}\"; return; fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      verb_names() +
      " --help --version\" -- \"$word\"))\n    return\n  fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n";
  for (const auto& verb : all_verbs()) text += bash_case(*verb);
  return text + "  esac\n}\ncomplete -o filenames -F _plan plan\n";
}

std::string zsh_completion() {
  return "#compdef plan\n# zsh completion of plan; written by `plan completion zsh`.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completion();
}

std::string fish_completion() {
  std::string text = "# fish completion of plan; written by `plan completion fish`.\ncomplete -c plan -f\n";
  for (const auto& verb : all_verbs()) {
    const std::string name(verb->words().name);
    text += "complete -c plan -n __fish_use_subcommand -a " + name + " -d " +
            quoted(std::string(verb->words().summary)) + "\n";
    for (const FlagWords& flag : flags_of(*verb)) {
      const std::string option = flag.name.starts_with("--") ? " -l " + flag.name.substr(2) : "";
      text += "complete -c plan -n '__fish_seen_subcommand_from " + name + "'" + option + fish_values(flag) + " -d " +
              quoted(flag.text) + "\n";
    }
  }
  return text;
}

}  // namespace plumbline
