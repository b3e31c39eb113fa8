#pragma once
/// \file search_flags.h: the flags of every verb that searches: which plans are looked at, how long, on what.

#include <optional>

#include "core/quantity/quantity.h"
#include "planner/session/search/search_flags.h"

namespace CLI {
class App;
}

namespace plumbline {

class SearchFlags {
 public:
  void declare(CLI::App& app);
  /// What is best of what was looked at, of `search`.
  void declare_ranking(CLI::App& app);
  /// Throws InputError naming the flag.
  void apply(session::SearchRequest& request) const { flags_.apply(request); }
  [[nodiscard]] std::optional<Seconds> time_limit() const { return flags_.limit(); }

 private:
  session::SearchFlags flags_;
};

}  // namespace plumbline
