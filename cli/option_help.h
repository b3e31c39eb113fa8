#pragma once
/// \file option_help.h: what CLI11 knows of a verb's flags, as a list that help, man page and completions are made of.

#include <string>
#include <vector>

#include "cli/verb.h"

namespace plumbline {

struct FlagWords {
  std::string name;                  ///< "--gpus", or the name of an argument without dashes
  std::string value;                 ///< "N", "FILE", "gpipe|1f1b"; empty when it takes none
  std::vector<std::string> choices;  ///< when the value is one of these
  std::string group;
  std::string text;
};

[[nodiscard]] std::vector<FlagWords> flags_of(const CLI::App& app);
/// "gpipe|1f1b" names its values, "FILE" describes them: none.
[[nodiscard]] std::vector<std::string> choices_in(const std::string& value);
/// The flags of a verb that was just made.
[[nodiscard]] std::vector<FlagWords> flags_of(Verb& verb);

/// In the order in which they are shown: as declared, "Output" last.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<FlagWords>& flags);

/// The text of `plan VERB --help` and of `plan --help`.
[[nodiscard]] std::string help_text(const VerbWords& words, const std::vector<FlagWords>& flags);
[[nodiscard]] std::string overview_text();

}  // namespace plumbline
