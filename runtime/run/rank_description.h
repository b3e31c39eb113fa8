#pragma once
/// \file rank_description.h: what one rank holds and does in a step, from the structures that its run works with.
///
/// Answers: an object of `plan run --describe`: the members of its groups, the tokens it reads, its parameters with
/// their shapes and places in the flat order, the range of every section that it keeps, and its actions in order of
/// issue. No prediction and no plan is read: it is what a plan file is held against.
/// Not modelled: times and bytes (core/measurement/run_record.h).
/// Checked against: tests/integration/launcher_test.py.

#include "core/io/json.h"
#include "core/program/parameter_layout.h"
#include "core/program/program.h"
#include "runtime/communication/communicator.h"

namespace plumbline {

/// Consecutive tokens of every sequence.
struct TokenSlice {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

struct RankParts {
  std::int32_t rank = 0;
  std::int32_t stage = 0;
  std::vector<std::pair<std::string, Communicator*>> groups;
  TokenSlice tokens;
  std::vector<std::int64_t> first_sequences;  ///< by micro-batch: of the global batch
};

/// What all ranks of a process say, each on its own thread and in its own place.
class RankDescriptions {
 public:
  explicit RankDescriptions(std::int64_t ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}
  void set(std::int32_t rank, const Json& description) { of_rank_[static_cast<std::size_t>(rank)] = description; }
  /// The file of --describe ("plumbline.ranks/1").
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Json> of_rank_;
};

[[nodiscard]] Json rank_description(const RankParts& parts, const ParameterLayout& layout, const RankProgram& program);

}  // namespace plumbline
