#include "cli/catalogue/catalogue_verb.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/flag_values.h"

namespace plumbline {

void CatalogueVerb::declare(CLI::App& app) {
  app_ = &app;
  app.add_option("NAME", name_, "a name, an alias, or a file")->group("Output")->type_name(type_name_);
  app.add_flag("--names", names_, "only the names, one per line")->group("Output");
  app.add_flag("--json", json_, "JSON on standard output, and nothing else there")->group("Output");
}

ExitCode CatalogueVerb::run(Terminal& terminal) {
  if (names_) require_only(*app_, "--names", {});
  std::string text;
  if (name_) {
    write_files(*name_, terminal);
    text = one(*name_);
  } else if (names_)
    for (const std::string& name : names()) text += name + "\n";
  else
    text = all();
  if (name_)
    if (const std::string said = warning(*name_); !said.empty()) terminal.note("plan: " + said);
  terminal.print(text);
  return ExitCode::done;
}

}  // namespace plumbline
