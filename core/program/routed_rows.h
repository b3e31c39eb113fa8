#pragma once
/// \file routed_rows.h: rows of experts that one execution of a block exchanged with other ranks for one micro-batch.
///
/// Counted where the forward runs. Checked against: tests/runtime/execution/experts_test.cpp.

#include <cstdint>
#include <map>
#include <utility>

namespace plumbline {

/// `left`, `came`: to and from other expert-parallel ranks. `given`, `gathered`: to and from those that divide the same
/// experts, which all work on the rows of each; a row that is given to two of them counts twice.
struct RoutedRows {
  std::int64_t left = 0;
  std::int64_t came = 0;
  std::int64_t given = 0;
  std::int64_t gathered = 0;

  RoutedRows& operator+=(const RoutedRows& other) {
    left += other.left;
    came += other.came;
    given += other.given;
    gathered += other.gathered;
    return *this;
  }
  bool operator==(const RoutedRows&) const = default;
};
/// By execution of the network and micro-batch.
using RoutedStep = std::map<std::pair<std::int32_t, std::int32_t>, RoutedRows>;

}  // namespace plumbline
