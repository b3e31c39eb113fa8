#include "cli/peak_view.h"

#include <algorithm>

#include "cli/plan_view.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "core/quantity/text.h"
#include "core/simulate/stage_report.h"

namespace plumbline {
namespace {

constexpr std::size_t most_families = 6;

enum class Parts : std::uint8_t { unnamed, named };

/// "chunk 1 part 2, micro-batches 0-3 7"; what the stage as a whole owns has no such words.
std::string owner_text(const BufferFamily& family, Parts parts) {
  if (family.first.chunk < 0) return "the stage";
  std::string text = "chunk " + std::to_string(family.first.chunk);
  if (parts == Parts::named) text += " part " + std::to_string(family.first.piece);
  if (family.micro_batches.empty()) return text;
  return text + ", micro-batch" + (family.micro_batches.size() > 1 ? "es " : " ") + ranges_text(family.micro_batches);
}

std::string classes_text(const MemoryBreakdown& memory) {
  Table table({{"  at the peak", Align::left}, {"GiB"}});
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (memory.by_class[c].value() > 0)
      table.add_row({"  " + words_of(to_text(static_cast<MemoryClass>(c))), gib_text(memory.by_class[c], 2)});
  return table.text(terminal_columns);
}

/// States are there all the time, and the classes say them.
std::string largest_text(std::vector<Buffer> alive) {
  std::erase_if(alive, [](const Buffer& buffer) { return buffer.lifetime == Lifetime::persistent; });
  if (alive.empty()) return "";
  const bool has_parts = std::any_of(alive.begin(), alive.end(), [](const Buffer& b) { return b.piece > 0; });
  const std::vector<BufferFamily> all = families(alive);
  Table table({{"  largest that come and go", Align::left}, {"GiB"}, {"buffers"}, {"of", Align::left}});
  for (std::size_t i = 0; i < std::min(most_families, all.size()); ++i)
    table.add_row({"  " + words_of(to_text(all[i].first.memory_class)), gib_text(all[i].total, 2),
                   std::to_string(all[i].buffers), owner_text(all[i], has_parts ? Parts::named : Parts::unnamed)});
  return "\n" + table.text(terminal_columns);
}

}  // namespace

std::string ranges_text(const std::vector<std::int32_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : " ") + std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

std::string peak_text(const PlayedPlan& played) {
  const auto rank = static_cast<std::size_t>(played.simulation.heaviest_rank);
  const StageReport report = stage_reports(played.program, played.simulation)[rank];
  std::string text = "peak memory  " + gib_text(played.simulation.peak_memory(), 2) + " GiB on stage " +
                     std::to_string(rank) + " at " + to_text(to_seconds(report.peak_at));
  if (!report.peak_action.empty()) text += ", when " + report.peak_action + " starts";
  return text + "\n" + classes_text(played.simulation.memory[rank].memory) + largest_text(report.alive);
}

}  // namespace plumbline
