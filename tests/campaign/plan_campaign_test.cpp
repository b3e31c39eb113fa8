// The campaign of `make campaign-plans`, small enough for every build.

#include "tests/campaign/campaign.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

void run(std::int64_t cases, std::int32_t threads) {
  CampaignRange range;
  range.seed = 20261123;
  range.cases = cases;
  range.threads = threads;
  const CampaignResult result = run_campaign(range);
  INFO(report(result));
  CHECK(result.broken() == 0);
  for (const Law& law : all_laws()) {
    CAPTURE(law.name);
    const auto tally = result.laws.find(law.name);
    CHECK(tally != result.laws.end());
    if (tally != result.laws.end()) CHECK(tally->second.held > 0);  // a law that is never asked proves nothing
  }
}

TEST_CASE("five hundred random plans obey every law") { run(500, 1); }
TEST_CASE("twenty thousand random plans obey every law", "[long]") { run(20'000, 2); }

// Found by longer campaigns. Each was broken, or is known now with its reason, and stays so.
TEST_CASE("plans that broke laws in other campaigns obey them or are known") {
  struct Found {
    std::uint64_t seed;
    std::int64_t number;
  };
  const Found found = GENERATE(Found{31337, 11139},  // a search found what rule R27 refuses
                               Found{7, 19912},      // GPipe whose messages queue in both directions
                               Found{20261129, 8821}, Found{20261129, 16541}, Found{20261129, 19601},
                               Found{20261130, 18428}, Found{31337, 6301}, Found{31337, 8005}, Found{31337, 17299},
                               // messages that shared their link's rate with those behind them
                               Found{777, 5016}, Found{777, 83624}, Found{777, 104136}, Found{777, 131736},
                               Found{777, 30208}, Found{777, 66102});
  CampaignRange range;
  range.seed = found.seed;
  range.cases = 1;
  range.first = found.number;
  const CampaignResult result = run_campaign(range);
  INFO(report(result));
  CHECK(result.checks() > 20);
  CHECK(result.broken() == 0);
}

TEST_CASE("every law has a name of its own and a sentence") {
  std::set<std::string_view> names;
  for (const Law& law : all_laws()) {
    CHECK(names.insert(law.name).second);
    CHECK(law.sentence.back() == '.');
  }
  CHECK(names.size() >= 30);
  for (const KnownViolation& known : known_violations()) CHECK(names.count(known.law) == 1);
}

TEST_CASE("a case is the same whichever cases come before it") {
  Draw one(7, 41);
  Draw again(7, 41);
  CHECK(command(random_plan(one).asked, "f") == command(random_plan(again).asked, "f"));
}

}  // namespace
}  // namespace plumbline
