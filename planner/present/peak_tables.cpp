#include "planner/present/peak_tables.h"

#include <algorithm>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

enum class Parts : std::uint8_t { unnamed, named };

/// "chunk 1 part 2, micro-batches 0-3 7"; what the stage as a whole owns has no such words.
std::string owner_text(const BufferFamily& family, Parts parts) {
  if (family.first.chunk < 0) return "the stage";
  std::string text = "chunk " + std::to_string(family.first.chunk);
  if (parts == Parts::named) text += " part " + std::to_string(family.first.segment);
  if (family.micro_batches.empty()) return text;
  return text + ", micro-batch" + (family.micro_batches.size() > 1 ? "es " : " ") + ranges_text(family.micro_batches);
}

}  // namespace

Table peak_class_table(const MemoryBreakdown& memory) {
  Table table{{{"class", "at the peak", Unit::text, "what the memory is used for", Align::left},
               {"memory", "GiB", Unit::gibibytes, "memory of one rank"}},
              {}};
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (memory.by_class[c].value() > 0)
      table.rows.push_back({words(words_of(to_text(static_cast<MemoryClass>(c)))), gib_cell(memory.by_class[c], 2)});
  return table;
}

/// States are there all the time, and the classes say them.
Table largest_buffer_table(std::vector<Buffer> alive, std::size_t most) {
  Table table{{{"class", "largest that come and go", Unit::text, "what the buffers are used for", Align::left},
               {"memory", "GiB", Unit::gibibytes, "memory of all buffers alike"},
               {"buffers", "buffers", Unit::number, "how many there are"},
               {"owner", "of", Unit::text, "the pipeline chunk and micro-batches that they belong to", Align::left}},
              {}};
  std::erase_if(alive, [](const Buffer& buffer) { return buffer.lifetime == Lifetime::persistent; });
  const bool has_parts = std::any_of(alive.begin(), alive.end(), [](const Buffer& b) { return b.segment > 0; });
  const std::vector<BufferFamily> all = families(alive);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
    table.rows.push_back({words(words_of(to_text(all[i].first.memory_class))), gib_cell(all[i].total, 2),
                          whole(all[i].buffers), words(owner_text(all[i], has_parts ? Parts::named : Parts::unnamed))});
  return table;
}

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

}  // namespace plumbline::present
