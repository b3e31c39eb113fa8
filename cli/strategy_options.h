#pragma once
/// \file strategy_options.h: the flags of a strategy, with what absent ones mean.

#include <optional>
#include <string>

#include "planner/question/question.h"

namespace CLI {
class App;
}

namespace plumbline {

class StrategyOptions {
 public:
  void declare(CLI::App& app);
  /// Throws InputError naming the flag.
  [[nodiscard]] PartialStrategy strategy() const;
  /// A flag that was given; empty: none was.
  [[nodiscard]] std::string given() const;

 private:
  std::optional<std::string> tp_, pp_, dp_, cp_, ep_, etp_, virtual_stages_, zero_, shard_group_, schedule_,
      micro_batch_, recompute_, split_, layers_per_stage_, sequence_parallel_, flash_attention_;
};

}  // namespace plumbline
