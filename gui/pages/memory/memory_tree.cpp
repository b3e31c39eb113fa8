#include "gui/pages/memory/memory_tree.h"

#include <algorithm>

#include "core/simulate/stage_report.h"
#include "gui/pages/memory/state_leaves.h"
#include "planner/present/numbers.h"
#include "planner/present/peak_tables.h"

namespace plumbline::gui {
namespace {

/// "layer 3", "embedding": of each execution of a block.
std::vector<std::string> execution_names(const Graph& graph) {
  std::vector<std::string> names;
  std::int64_t layer = 0;
  for (const BlockId id : graph.sequence()) {
    const Block& block = graph.block(id);
    names.push_back(block.kind() == BlockKind::layer ? "layer " + std::to_string(layer++) : block.name());
  }
  return names;
}

std::string leaf_name(const BufferFamily& family, const RankProgram& rank, const std::vector<std::string>& names) {
  const Buffer& buffer = family.first;
  if (buffer.chunk < 0) return "the stage";
  if (buffer.segment < 0) return "chunk " + std::to_string(buffer.chunk);
  const plumbline::Segment& segment =
      rank.chunks[static_cast<std::size_t>(buffer.chunk)][static_cast<std::size_t>(buffer.segment)];
  const std::string first = names[static_cast<std::size_t>(segment.first)];
  if (segment.last - segment.first <= 1) return first;
  return first + " to " + names[static_cast<std::size_t>(segment.last) - 1];
}

std::string leaf_words(const BufferFamily& family) {
  std::string words = std::to_string(family.buffers) + (family.buffers == 1 ? " buffer" : " buffers");
  if (!family.micro_batches.empty())
    words += (family.micro_batches.size() == 1 ? ", micro-batch " : ", micro-batches ") +
             present::ranges_text(family.micro_batches);
  return words;
}

/// Of Graph::sequence(), in order.
std::vector<std::size_t> executions_on(const RankProgram& rank) {
  std::vector<std::size_t> executions;
  for (const auto& chunk : rank.chunks)
    for (const plumbline::Segment& segment : chunk)
      for (auto e = segment.first; e < segment.last; ++e) executions.push_back(static_cast<std::size_t>(e));
  std::sort(executions.begin(), executions.end());
  return executions;
}

std::string class_words(MemoryClass memory_class) { return present::words_of(to_text(memory_class)); }

}  // namespace

std::vector<MemoryBranch> memory_tree(const SimulatedPlan& simulated, const Question& question,
                                      const Strategy& strategy, std::size_t stage) {
  const RankProgram& rank = simulated.program.ranks[stage];
  const MemoryBreakdown& peak = simulated.simulation.memory[stage].memory;
  const std::vector<std::string> names = execution_names(question.graph());
  const std::vector<std::size_t> executions = executions_on(rank);
  const std::vector<BufferFamily> alive = families(stage_reports(simulated.program, simulated.simulation)[stage].alive);
  std::vector<MemoryBranch> tree;
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    if (peak.by_class[c] == Bytes(0)) continue;
    MemoryBranch branch{static_cast<MemoryClass>(c), peak.by_class[c], {}};
    Bytes known(0);
    for (const BufferFamily& family : alive) {
      if (family.first.memory_class != branch.memory_class || family.total == Bytes(0)) continue;
      known += family.total;
      const bool is_persistent = family.first.lifetime == Lifetime::persistent;
      if (is_persistent && is_state(branch.memory_class)) {
        std::vector<MemoryLeaf> leaves =
            state_leaves(branch.memory_class, family.total, question, strategy, executions, names);
        branch.leaves.insert(branch.leaves.end(), leaves.begin(), leaves.end());
        if (!leaves.empty()) continue;
      }
      branch.leaves.push_back({is_persistent ? class_words(branch.memory_class) : leaf_name(family, rank, names),
                               leaf_words(family), family.total});
    }
    // What the allocator loses is in no buffer.
    if (known < branch.bytes) branch.leaves.push_back({class_words(branch.memory_class), "", branch.bytes - known});
    std::stable_sort(branch.leaves.begin(), branch.leaves.end(),
                     [](const MemoryLeaf& a, const MemoryLeaf& b) { return a.bytes > b.bytes; });
    tree.push_back(std::move(branch));
  }
  return tree;
}

present::Table memory_tree_table(const std::vector<MemoryBranch>& tree) {
  using present::Unit;
  present::Table table{{{"class", "class", Unit::text, "what the memory is used for", present::Align::left},
                        {"part", "part", Unit::text, "layer or part of the stage", present::Align::left},
                        {"memory", "GiB", Unit::gibibytes, "memory of one rank at the peak"},
                        {"buffers", "buffers", Unit::text, "how many, of which micro-batches", present::Align::left}},
                       {}};
  for (const MemoryBranch& branch : tree)
    for (const MemoryLeaf& leaf : branch.leaves)
      table.rows.push_back({present::words(class_words(branch.memory_class)), present::words(leaf.name),
                            present::gib_cell(leaf.bytes, 3), present::words(leaf.words)});
  return table;
}

}  // namespace plumbline::gui
