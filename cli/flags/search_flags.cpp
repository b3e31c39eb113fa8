#include "cli/flags/search_flags.h"

#include "cli/flags/declare_options.h"

namespace plumbline {

void SearchFlags::declare(CLI::App& app) { declare_options(app, session::search_options(), flags_, "Search"); }

void SearchFlags::declare_ranking(CLI::App& app) { declare_options(app, session::ranking_options(), flags_, "Search"); }

}  // namespace plumbline
