#pragma once
/// \file sourced.h: a number together with where it comes from.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline {

/// `datasheet`: the vendor's document; `measured`: somebody's benchmark; `published`: a price list, paper or source
/// code; `assumed`: nobody's, so `explain` names it when it moves an answer.
enum class SourceKind : std::uint8_t { datasheet, measured, published, assumed };
inline constexpr std::array all_source_kinds{SourceKind::datasheet, SourceKind::measured, SourceKind::published,
                                             SourceKind::assumed};
[[nodiscard]] std::string_view to_text(SourceKind kind);

template <class T>
struct Sourced {
  T value{};
  std::string source = {};  ///< document, table or person
  SourceKind kind = SourceKind::assumed;
  std::string date = {};  ///< "2024-05"; empty when the number does not age

  bool operator==(const Sourced&) const = default;
};

}  // namespace plumbline
