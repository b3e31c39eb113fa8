#pragma once
/// \file declare_options.h: a table of options as flags of the command line.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "planner/session/option.h"

namespace plumbline {

/// In the order of the table, all in one group of the help.
template <class Flags>
void declare_options(CLI::App& app, const session::Options<Flags>& options, Flags& flags, const std::string& group) {
  for (const session::Option<Flags>& option : options) {
    const session::OptionWords& words = option.words;
    if (option.is_on) {
      app.add_flag(words.flag, option.is_on(flags), words.help)->group(group);
      continue;
    }
    CLI::Option* const declared = option.list ? app.add_option(words.flag, option.list(flags), words.help)
                                              : app.add_option(words.flag, option.text(flags), words.help);
    declared->group(group)->type_name(words.values);
    if (option.joins) declared->multi_option_policy(CLI::MultiOptionPolicy::Join)->delimiter(',');
  }
}

}  // namespace plumbline
