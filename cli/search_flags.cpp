#include "cli/search_flags.h"

#include "cli/declare_options.h"

namespace plumbline {

void SearchFlags::declare(CLI::App& app) { declare_options(app, session::search_options(), flags_, "Search"); }

void SearchFlags::declare_ranking(CLI::App& app) { declare_options(app, session::ranking_options(), flags_, "Search"); }

}  // namespace plumbline
