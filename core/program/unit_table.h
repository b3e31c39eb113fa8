#pragma once
/// \file unit_table.h: the units that a rank's actions name, in the orders in which they are gathered and reduced.
///
/// Answers: runs of RankProgram::units. Model: a unit of several executions is named by the first; each chunk's units
/// are there in the order of the network for forwards and against it for backwards, so that the actions of all
/// micro-batches name runs of the same list. Source and limits: see lower.h. Checked against:
/// tests/unit/core/program/unit_table_test.cpp, lower_test.cpp.

#include <cstdint>
#include <vector>

#include "core/program/lower.h"

namespace plumbline::passes {

class UnitTable {
 public:
  explicit UnitTable(const RankSizes& rank);

  /// Of one segment, in the order in which a pass takes them; of a segment of a larger unit, that one.
  [[nodiscard]] UnitRun of_segment(Pass pass, std::int32_t chunk, std::int32_t segment) const;
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(units_.size()); }
  /// Copies a run to the end.
  void append(UnitRun run);
  [[nodiscard]] std::vector<std::int32_t> take() { return std::move(units_); }

 private:
  using OfChunks = std::vector<std::vector<UnitRun>>;
  OfChunks forward_;
  OfChunks backward_;
  std::vector<std::int32_t> units_;
};

/// Units that follow one another in a table and are sent in that order, part by part.
class UnitQueue {
 public:
  UnitQueue() = default;
  explicit UnitQueue(std::int32_t first) : next_(first) {}

  /// `count` more units, all of `bytes` together.
  void add(std::int32_t count, Bytes bytes);
  /// Those of which these bytes are the last.
  [[nodiscard]] UnitRun send(Bytes bytes);
  /// All that are left.
  [[nodiscard]] UnitRun rest();

 private:
  std::int32_t next_ = 0;
  std::size_t sent_ = 0;     ///< of `ends_`
  std::vector<Bytes> ends_;  ///< bytes at which each unit is whole
  Bytes added_{0};
  Bytes bytes_sent_{0};
};

}  // namespace plumbline::passes
