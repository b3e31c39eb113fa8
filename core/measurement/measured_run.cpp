#include "core/measurement/measured_run.h"

#include <array>
#include <utility>

namespace plumbline {
namespace {

constexpr std::array<std::pair<MemoryBasis, std::string_view>, 3> bases{{{MemoryBasis::allocated, "allocated"},
                                                                         {MemoryBasis::reserved, "reserved"},
                                                                         {MemoryBasis::device_total, "device"}}};
constexpr std::array<std::pair<MemoryRank, std::string_view>, 3> memory_ranks{
    {{MemoryRank::heaviest, "heaviest"}, {MemoryRank::first, "first"}, {MemoryRank::last, "last"}}};

template <class Table>
std::string_view name_in(const Table& table, decltype(table.front().first) value) {
  for (const auto& [each, name] : table)
    if (each == value) return name;
  return "";
}

template <class Table>
auto value_in(const Table& table, std::string_view text) -> std::optional<std::decay_t<decltype(table.front().first)>> {
  for (const auto& [each, name] : table)
    if (name == text) return each;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> RunFields::number(std::string_view key) const {
  const auto found = numbers.find(key);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::string RunFields::word(std::string_view key) const {
  const auto found = words.find(key);
  return found == words.end() ? "" : found->second;
}

bool RunFields::has(std::string_view key) const { return numbers.contains(key) || words.contains(key); }

std::string_view to_text(MemoryBasis basis) { return name_in(bases, basis); }
std::optional<MemoryBasis> memory_basis_from_text(std::string_view text) { return value_in(bases, text); }
std::string_view to_text(MemoryRank rank) { return name_in(memory_ranks, rank); }
std::optional<MemoryRank> memory_rank_from_text(std::string_view text) { return value_in(memory_ranks, text); }

}  // namespace plumbline
