#pragma once
/// \file search_flags.h: the flags of every verb that searches: which plans are looked at, how long, on what.

#include <optional>
#include <string>

#include "core/quantity/quantity.h"
#include "planner/session/search.h"

namespace CLI {
class App;
}

namespace plumbline {

class SearchFlags {
 public:
  void declare(CLI::App& app);
  /// Throws InputError naming the flag.
  void apply(session::SearchRequest& request) const;
  [[nodiscard]] std::optional<Seconds> time_limit() const;

 private:
  [[nodiscard]] std::optional<Framework> framework() const;

  std::optional<std::string> fixes_, flash_attention_, framework_, split_, threads_, time_limit_;
  bool executable_ = false;
};

}  // namespace plumbline
