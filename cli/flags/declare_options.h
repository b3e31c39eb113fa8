#pragma once
/// \file declare_options.h: a table of options as flags of the command line.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "core/base/option.h"

namespace plumbline {

/// In the order of the table, in one group of the help but where an option names another.
template <class Flags>
void declare_options(CLI::App& app, const Options<Flags>& options, Flags& flags, const std::string& group) {
  for (const Option<Flags>& option : options) {
    const OptionWords& words = option.words;
    const std::string& shown = words.group.empty() ? group : words.group;
    if (option.is_on) {
      app.add_flag(words.flag, option.is_on(flags), words.help)->group(shown);
      continue;
    }
    CLI::Option* const declared = option.list ? app.add_option(words.flag, option.list(flags), words.help)
                                              : app.add_option(words.flag, option.text(flags), words.help);
    declared->group(shown)->type_name(words.values);
    if (option.joins) declared->multi_option_policy(CLI::MultiOptionPolicy::Join)->delimiter(',');
    if (option.divides) declared->delimiter(',');
  }
}

}  // namespace plumbline
