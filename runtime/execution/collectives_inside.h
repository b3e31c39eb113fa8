#pragma once
/// \file collectives_inside.h: which collectives of a program run inside of a block, what they send and how long.
///
/// Model: a program lists a block's collectives behind it, and predictions price them there; they run where the block's
/// instructions have them, and a program that lists none where a block runs one is refused. What they took is booked at
/// the action that lists them, drawn at the block's end.
/// Source: core/program/program.h. Not modelled: which operator a collective served.
/// Checked against: tests/runtime/execution/action_times_test.cpp, recipes_test.cpp and experts_test.cpp (left out).

#include <array>
#include <vector>

#include "core/program/block_program.h"
#include "core/program/program.h"
#include "runtime/execution/rank_environment.h"

namespace plumbline {

struct ActionTime {
  std::int64_t start_ns = 0;  ///< from the step's begin
  std::int64_t end_ns = 0;
  Bytes sent{0};           ///< what a block's operators sent is at the collective that follows, as does its time
  bool is_inside = false;  ///< a collective that ran inside of the block before it: drawn at that block's end
};

class CollectivesInside {
 public:
  CollectivesInside(const RankProgram& rank, RankGroups& groups) : rank_(rank), groups_(groups) {}

  /// Throws InternalError where a block's pass, run by this action, has a collective that is not listed behind it.
  void require_listed(std::int32_t index, const BlockProgram& block) const;
  void begin_step() { spent_.clear(); }
  void begin_block() { before_ = now(); }
  void end_block(std::int32_t index, std::vector<ActionTime>& times);
  /// Once the ends of the blocks' actions are known.
  void book(std::vector<ActionTime>& times) const;

 private:
  /// What groups that blocks communicate in have sent, and how long that took.
  struct Inside {
    Bytes sent{0};
    std::int64_t spent_ns = 0;
  };
  using OfAxes = std::array<Inside, 3>;  ///< tensor, context and expert parallelism
  [[nodiscard]] OfAxes now();

  const RankProgram& rank_;
  RankGroups& groups_;
  OfAxes before_;
  /// In the block of one action, booked at another.
  struct Spent {
    std::int32_t block = 0;
    std::int32_t place = 0;
    std::int64_t ns = 0;
  };
  std::vector<Spent> spent_;
};

}  // namespace plumbline
