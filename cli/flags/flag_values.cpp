#include "cli/flags/flag_values.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {

void require_only(const CLI::App& app, std::string_view mode, const std::vector<std::string>& read) {
  const auto reads = [&](std::string_view name) { return std::find(read.begin(), read.end(), name) != read.end(); };
  for (const CLI::Option* option : app.get_options()) {
    const std::string flag = option->get_name();
    if (option->count() == 0 || flag == mode || reads(flag)) continue;
    if (flag == "--force" && reads("--out")) continue;
    std::string others;
    for (const std::string& name : read) others += (others.empty() ? "only " : ", ") + name;
    throw InputError({flag, "does nothing with " + std::string(mode),
                      (others.empty() ? "nothing" : others) + " alongside " + std::string(mode), ""});
  }
}

}  // namespace plumbline
