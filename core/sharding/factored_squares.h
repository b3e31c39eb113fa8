#pragma once
/// \file factored_squares.h: what an optimizer that factors squared gradients keeps of a parameter, and what ranks sum
/// for it.
///
/// Answers: numbers of fp32 values. Model: of a matrix (r x c) the sums of squares by row and by column, r + c values;
/// of a vector each element's square. Every matrix of a tensor of experts is one of its own. Beside them two sums for
/// each matrix or vector: of its weights' squares and of its update's. Ranks that share the states of a section add up
/// all of these; ranks that each hold a slice of a matrix add up what their slices have in common: the columns' where
/// they divide the rows, the rows' where they divide the columns, and both sums. Sums lie in two parts, one before the
/// update is known and one behind; in each of them those that ranks divide come first, filled up to a multiple of these
/// ranks, and the whole is filled up to a multiple of those that share states, so that all send equal parts.
/// Source: Shazeer and Stern, "Adafactor", arXiv:1804.04235, algorithms 2, 4 and 5. Checked against:
/// tests/property/update_program_test.cpp (the instructions of random plans).

#include <cstdint>

namespace plumbline {

/// Of the trained parameters of a section, as one rank holds them.
struct FactoredSums {
  std::int64_t matrices = 0;  ///< and vectors
  std::int64_t values = 0;    ///< by row and by column
  // Of those of which ranks hold slices:
  std::int64_t divided = 0;  ///< matrices and vectors
  std::int64_t shared = 0;   ///< values that slices have in common

  FactoredSums& operator+=(const FactoredSums& other) { return add(other, 1); }
  FactoredSums& add(const FactoredSums& other, std::int64_t count) {
    matrices += count * other.matrices;
    values += count * other.values;
    divided += count * other.divided;
    shared += count * other.shared;
    return *this;
  }
};

/// Ranks that hold slices of a matrix, and those that share the states of a section.
struct SummingRanks {
  std::int64_t slices = 1;
  std::int64_t states = 1;
};

/// Where a section's sums lie, in fp32 values from the beginning of a buffer.
struct FactoredRoom {
  std::int64_t divided = 0;  ///< of the first part: what ranks with slices add up, filled up
  std::int64_t first = 0;    ///< all of the first part, filled up
  std::int64_t divided_updates = 0;
  std::int64_t second = 0;
  std::int64_t means = 0;  ///< of every matrix, behind both parts

  [[nodiscard]] constexpr std::int64_t total() const { return first + second + means; }
};
[[nodiscard]] constexpr FactoredRoom factored_room(const FactoredSums& sums, SummingRanks ranks) {
  const auto filled = [](std::int64_t count, std::int64_t parts) { return (count + parts - 1) / parts * parts; };
  FactoredRoom room;
  room.divided = filled(sums.shared + sums.divided, ranks.slices);
  room.first = filled(room.divided + sums.values - sums.shared + sums.matrices - sums.divided, ranks.states);
  room.divided_updates = filled(sums.divided, ranks.slices);
  room.second = filled(room.divided_updates + sums.matrices - sums.divided, ranks.states);
  room.means = sums.matrices;
  return room;
}

}  // namespace plumbline
