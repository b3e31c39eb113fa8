// Checkpointing of chains against solved instances: shortest paths over what memory holds.

#include "planner/checkpointing/chain.h"
#include "tests/catch.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline {
namespace {

Chain chain_of(JsonObject& row) {
  Chain chain{counts_at(row, "values"), counts_at(row, "gradients"), {}};
  const auto saved = counts_at(row, "saved");
  const auto forward = counts_at(row, "forward");
  const auto backward = counts_at(row, "backward");
  const auto forward_overhead = counts_at(row, "forward_overhead");
  const auto backward_overhead = counts_at(row, "backward_overhead");
  for (std::size_t i = 0; i < saved.size(); ++i)
    chain.stages.push_back(
        {Picoseconds(forward[i]), Picoseconds(backward[i]), saved[i], forward_overhead[i], backward_overhead[i]});
  return chain;
}

TEST_CASE("persistent and unrestricted chains take the solved times at every memory") {
  std::size_t optima = 0;
  CHECK(for_each_instance("chain", [&](JsonObject& row) {
          const Chain chain = chain_of(row);
          for (const JsonPlace& place : row.at("optima").elements()) {
            JsonObject optimum(place);
            const std::int64_t memory = count_at(optimum, "memory");
            const auto schedule = persistent_schedule(chain, memory);
            const auto unrestricted = unrestricted_time(chain, memory);
            INFO(row.at("id").string() << ", memory " << memory);
            CHECK((schedule ? std::optional(schedule->time.value()) : std::nullopt) ==
                  solved_at(optimum, "persistent"));
            CHECK((unrestricted ? std::optional(unrestricted->value()) : std::nullopt) ==
                  solved_at(optimum, "unrestricted"));
            ++optima;
          }
        }) == 4);
  CHECK(optima == 27);
}

}  // namespace
}  // namespace plumbline
