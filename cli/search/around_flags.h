#pragma once
/// \file around_flags.h: the flags of `search` that name a strategy to start from, as a plan or as launch files.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/question_options.h"
#include "planner/session/search/around.h"

namespace CLI {
class App;
}

namespace plumbline {

class AroundFlags {
 public:
  void declare(CLI::App& app);
  /// Whether there is a strategy to start from. Throws InputError for --from or --changes without --around.
  [[nodiscard]] bool is_given() const;
  /// What is started from, priced, for a search as it is asked for otherwise. Throws InputError that names the file or
  /// a flag that says what it says too.
  [[nodiscard]] session::AroundRequest request(const QuestionOptions& question, session::SearchRequest search) const;

 private:
  [[nodiscard]] session::EstimateRequest start(const QuestionOptions& question, session::SearchRequest& search) const;

  std::vector<std::string> files_;
  std::optional<std::string> from_, changes_;
};

}  // namespace plumbline
