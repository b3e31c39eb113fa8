#pragma once
/// \file collectives_inside.h: which collectives of a program run inside of a block, what they send and how long.
///
/// Model: the collectives of a block run as instructions of that block. The program also has an action for them, which
/// follows the block's action and carries their predicted time. The bytes they send and the
/// time for which they keep the compute lane, waits for their own lane included, are recorded for that action and drawn
/// at the end of the block. A block that sends something no action stands for is an internal error. Source:
/// core/program/program.h. Not modelled: which operator a collective served. Checked against:
/// tests/runtime/execution/action_times_test.cpp, recipes_test.cpp and experts_test.cpp (left out),
/// tests/cuda/collective_times_test.cpp (on the device).

#include <vector>

#include "core/program/program.h"
#include "core/program/wire_bytes.h"
#include "runtime/execution/group_calls.h"

namespace plumbline {

struct ActionTime {
  std::int64_t start_ns = 0;  ///< from the step's begin
  std::int64_t end_ns = 0;
  Bytes sent{0};           ///< what a block's operators sent is at the collective that follows, as does its time
  bool is_inside = false;  ///< a collective that ran inside of the block before it: drawn at that block's end
};

class CollectivesInside {
 public:
  CollectivesInside(const RankProgram& rank, GroupCalls& calls);

  void begin_step();
  void begin_block();
  /// Throws InternalError where the block sent what no action is a view of.
  void end_block(std::int32_t index, std::vector<ActionTime>& times);
  /// Once the ends of the blocks' actions are known.
  void book(std::vector<ActionTime>& times) const;

 private:
  /// What groups that blocks communicate in have sent.
  [[nodiscard]] WireBytes sent();

  const RankProgram& rank_;
  GroupCalls& calls_;
  WireBytes before_;
  std::size_t first_call_ = 0;  ///< of the block at hand
  /// In the block of one action, booked at its view.
  struct Inside {
    std::int32_t block = 0;
    std::int32_t view = 0;
    std::vector<TimedCall> calls;
  };
  std::vector<Inside> inside_;
};

}  // namespace plumbline
