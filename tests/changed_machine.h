#pragma once
/// \file changed_machine.h: a question on a machine of the catalogue with a change, as a file that lives with a test.

#include <fstream>
#include <functional>

#include "core/io/machine_json.h"
#include "models/machine_catalog.h"
#include "planner/question/question.h"
#include "tests/temporary_folder.h"

namespace plumbline {

class ChangedMachine {
 public:
  explicit ChangedMachine(std::function<void(Node&)> change) : change_(std::move(change)) {}

  [[nodiscard]] QuestionText of(QuestionText text) const {
    Cluster cluster = find_machine(text.machine);
    for (NodeGroup& group : cluster.groups) change_(group.node);
    const auto file = folder_ / "machine.json";
    std::ofstream(file) << to_json_text(machine_json({std::nullopt, std::nullopt, cluster}));
    text.machine = file.string();
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::function<void(Node&)> change_;
};

}  // namespace plumbline
