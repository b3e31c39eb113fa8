#include "core/program/update_program.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/sharding/collective.h"

namespace plumbline {
namespace {

constexpr std::array<std::string_view, 17> kind_names{
    "sum-gradients", "decide",    "update",     "update-matrix", "allocate",      "release",
    "clear",         "direction", "copy",       "gather",        "orthogonalise", "apply",
    "add-squares",   "reduce",    "keep-means", "add-updates",   "take-update"};

std::string text_of(const FloatRows& rows) {
  if (rows.buffer < 0) return {};
  const std::string shape = rows.rows == 1
                                ? std::to_string(rows.columns)
                                : std::to_string(rows.rows) + " x " + std::to_string(rows.columns) +
                                      (rows.stride == rows.columns ? "" : " of " + std::to_string(rows.stride));
  return "buffer " + std::to_string(rows.buffer) + " at " + std::to_string(rows.first) + ": " + shape;
}

std::string line(const UpdateInstruction& i, const ParameterLayout& layout) {
  std::string text(to_text(i.kind));
  if (i.owned >= 0) {
    const OwnedRange& owned = layout.owned[static_cast<std::size_t>(i.owned)];
    text += " " + layout.parameters[static_cast<std::size_t>(owned.parameter)].name + " [" +
            std::to_string(i.elements.first) + ", " + std::to_string(i.elements.first + i.elements.count) + ")";
  }
  if (i.kind == UpdateKind::gather || i.kind == UpdateKind::reduce)
    text += std::string(i.group == GatherGroup::states ? " states" : " slices") + " of " + std::to_string(i.ranks);
  if (i.rows > 0) text += " of " + std::to_string(i.rows) + " x " + std::to_string(i.columns);
  if (i.from.buffer >= 0) text += " from " + text_of(i.from);
  if (i.to.buffer >= 0) text += " to " + text_of(i.to);
  return text;
}

}  // namespace

std::string_view to_text(UpdateKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::string to_text(const UpdateProgram& program, const ParameterLayout& layout) {
  std::string text;
  for (const UpdateInstruction& i : program.instructions) text += line(i, layout) + "\n";
  return text;
}

}  // namespace plumbline
