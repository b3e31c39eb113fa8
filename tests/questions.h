#pragma once
/// \file questions.h: questions in one line, and every plan that the search would look at for one.

#include <string>
#include <vector>

#include "planner/search/space.h"

namespace plumbline {

/// Other fields as their defaults.
inline QuestionText question_text(const std::string& model, const std::string& machine, std::int64_t devices,
                                  std::int64_t sequence, std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = machine;
  text.devices = devices;
  text.training.sequence_length = sequence;
  text.training.global_batch = batch;
  return text;
}
inline Question question_of(const std::string& model, const std::string& machine, std::int64_t devices,
                            std::int64_t sequence, std::int64_t batch) {
  return Question(question_text(model, machine, devices, sequence, batch));
}

inline std::vector<Strategy> legal_plans(const Question& question) {
  const SpaceEnumerator space(question, {});
  std::vector<Strategy> all;
  space.for_each_family([&](const Strategy& family, const Violation* violation, std::int64_t) {
    if (violation != nullptr) return;
    const std::vector<Strategy> leaves = space.leaves(family);
    all.insert(all.end(), leaves.begin(), leaves.end());
  });
  return all;
}

}  // namespace plumbline
