#include "planner/calibrate/folds.h"

#include <algorithm>
#include <map>

#include "tests/catch.h"

using namespace plumbline;

namespace {

std::vector<std::string> some_groups() {
  std::vector<std::string> groups;
  for (int g = 0; g < 23; ++g)
    for (int i = 0; i <= g % 7; ++i) groups.push_back("group " + std::to_string(g));
  return groups;
}

}  // namespace

TEST_CASE("A group is in one fold and folds differ by no more than the largest group") {
  const std::vector<std::string> groups = some_groups();
  const std::vector<std::size_t> folds = folds_of(groups, 5);
  std::map<std::string, std::size_t> fold_of;
  std::vector<std::ptrdiff_t> sizes(5);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CHECK(fold_of.emplace(groups[i], folds[i]).first->second == folds[i]);
    ++sizes[folds[i]];
  }
  CHECK(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()) <= 7);
}

TEST_CASE("Folds do not depend on the order of the runs") {
  std::vector<std::string> groups = some_groups();
  const std::vector<std::size_t> folds = folds_of(groups, 4);
  std::map<std::string, std::size_t> fold_of;
  for (std::size_t i = 0; i < groups.size(); ++i) fold_of[groups[i]] = folds[i];
  std::reverse(groups.begin(), groups.end());
  const std::vector<std::size_t> reversed = folds_of(groups, 4);
  for (std::size_t i = 0; i < groups.size(); ++i) CHECK(reversed[i] == fold_of[groups[i]]);
}
