#include "core/program/program.h"

namespace plumbline {

std::string_view to_text(Stream stream) {
  static constexpr std::array<std::string_view, stream_count> names{"compute", "tensor",   "context", "expert",
                                                                    "data",    "pipeline", "copy"};
  return names[static_cast<std::size_t>(stream)];
}

std::int64_t Program::action_count() const {
  std::int64_t count = 0;
  for (const RankProgram& rank : ranks) count += std::ssize(rank.actions);
  return count;
}

std::span<const BufferUse> uses_of(const Action& action, const RankProgram& rank) {
  return std::span(rank.uses).subspan(static_cast<std::size_t>(action.first_use), std::size_t{action.uses});
}

std::span<const std::int32_t> units_of(const Action& action, const RankProgram& rank) {
  const UnitRun units = action.units();
  return std::span(rank.units).subspan(static_cast<std::size_t>(units.first), static_cast<std::size_t>(units.count));
}

std::string to_text(const Action& a) {
  std::string text(to_text(a.kind()));
  if (a.micro_batch >= 0) text += " " + std::to_string(a.micro_batch);
  if (a.chunk >= 0) text += " of chunk " + std::to_string(a.chunk);
  if (const std::int32_t segment = a.segment(); segment > 0) text += " part " + std::to_string(segment);
  return text;
}

}  // namespace plumbline
