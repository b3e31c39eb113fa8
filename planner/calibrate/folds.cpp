#include "planner/calibrate/folds.h"

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "planner/question/fingerprint.h"

namespace plumbline {
namespace {

struct Group {
  std::size_t runs = 0;
  std::string hash;
  std::string name;
};

}  // namespace

std::vector<std::size_t> folds_of(std::span<const std::string> groups, std::size_t count) {
  check(count > 0, "runs are tested in at least one fold");
  std::map<std::string, std::size_t> sizes;
  for (const std::string& group : groups) ++sizes[group];
  std::vector<Group> order;
  for (const auto& [name, runs] : sizes) order.push_back({runs, fingerprint(name), name});
  std::sort(order.begin(), order.end(),
            [](const Group& a, const Group& b) { return a.runs != b.runs ? a.runs > b.runs : a.hash < b.hash; });
  std::vector<std::size_t> filled(count);
  std::map<std::string, std::size_t> fold_of_group;
  for (const Group& group : order) {
    const auto emptiest = static_cast<std::size_t>(std::min_element(filled.begin(), filled.end()) - filled.begin());
    fold_of_group[group.name] = emptiest;
    filled[emptiest] += group.runs;
  }
  std::vector<std::size_t> folds;
  for (const std::string& group : groups) folds.push_back(fold_of_group[group]);
  return folds;
}

}  // namespace plumbline
