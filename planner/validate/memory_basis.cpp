#include "planner/validate/memory_basis.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr double gigabyte = 1e9;
constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

MemoryFigure as_stated(const RunFields& fields, double bytes) {
  const std::string understood = fields.word("memory_basis_as");
  const std::string basis = understood.empty() ? fields.word("memory_basis") : understood;
  return {bytes, memory_basis_from_text(basis).value_or(MemoryBasis::device_total),
          memory_rank_from_text(fields.word("memory_rank")).value_or(MemoryRank::heaviest)};
}

Bytes on_basis(const MemoryBreakdown& memory, MemoryBasis basis) {
  switch (basis) {
    case MemoryBasis::allocated: return memory.live();
    case MemoryBasis::reserved: return memory.reserved();
    case MemoryBasis::device_total: return memory.device_total();
  }
  return memory.device_total();
}

}  // namespace

std::optional<MemoryFigure> memory_figure(const RunMeasurement& measured, const RunFields& fields) {
  if (measured.memory_max_allocated_bytes) {
    MemoryFigure figure = as_stated(fields, *measured.memory_max_allocated_bytes);
    figure.basis = MemoryBasis::allocated;
    return figure;
  }
  if (measured.memory_gib) return as_stated(fields, *measured.memory_gib * gibibyte);
  if (measured.memory_gb_as_published) {
    const double unit = fields.word("memory_unit") == "GB" ? gigabyte : gibibyte;
    return as_stated(fields, *measured.memory_gb_as_published * unit);
  }
  for (const auto& [value, basis] : {std::pair(measured.memory_reserved_gib, MemoryBasis::reserved),
                                     std::pair(measured.memory_active_gib, MemoryBasis::allocated)}) {
    if (!value) continue;
    MemoryFigure figure = as_stated(fields, *value * gibibyte);
    figure.basis = basis;
    return figure;
  }
  return std::nullopt;
}

double predicted_bytes(const Prediction& prediction, const MemoryFigure& figure) {
  const auto bytes = [&](const MemoryBreakdown& stage) {
    return static_cast<double>(on_basis(stage, figure.basis).value());
  };
  if (figure.rank == MemoryRank::first) return bytes(prediction.stage_memory.front());
  if (figure.rank == MemoryRank::last) return bytes(prediction.stage_memory.back());
  double most = 0;
  for (const MemoryBreakdown& stage : prediction.stage_memory) most = std::max(most, bytes(stage));
  return most;
}

}  // namespace plumbline
