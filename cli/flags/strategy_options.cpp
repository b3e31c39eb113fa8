#include "cli/flags/strategy_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace plumbline {

void StrategyOptions::declare(CLI::App& app) {
  session::for_each_flag(flags_, [&](const StrategyAxis& axis, std::optional<std::string>& text) {
    CLI::Option* const option = app.add_option(axis.flag, text, axis.help)->group("Strategy")->type_name(axis.values);
    if (axis.kind == AxisKind::toggle) option->expected(0, 1);
  });
}

}  // namespace plumbline
