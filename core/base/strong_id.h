#pragma once
/// \file strong_id.h: an index that knows what it indexes, so that an OpId is never taken for a TensorId.

#include <compare>
#include <cstdint>

namespace plumbline {

/// A zero-based index into the container that owns the `Tag` things. Default-constructed: no thing (`is_valid()` is
/// false).
template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::int32_t index) : index_(index) {}

  [[nodiscard]] constexpr std::int32_t index() const { return index_; }
  [[nodiscard]] constexpr bool is_valid() const { return index_ >= 0; }
  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  std::int32_t index_ = -1;
};

}  // namespace plumbline
