#pragma once
/// \file memory_data.h: what the memory page shows of a plan, or of the plan with other choices.

#include <memory>
#include <string>
#include <vector>

#include "gui/page.h"
#include "gui/pages/memory/memory_knobs.h"
#include "gui/pages/memory/memory_tree.h"

namespace plumbline::gui {

/// The closed form: what sliders answer.
struct MemoryData {
  SharedPlan of;
  Plan plan;
  std::vector<Bytes> device_memory;  ///< by stage, of the smallest device
  std::vector<Bytes> capacity;       ///< that, without the headroom asked for
  bool is_changed = false;           ///< whether it is another plan than `of`

  [[nodiscard]] std::size_t stages() const { return plan.prediction.stage_memory.size(); }
};
using SharedMemory = std::shared_ptr<const MemoryData>;

/// Throws InputError where the choices cannot go together.
[[nodiscard]] SharedMemory memory_data(const SharedPlan& plan, const MemoryKnobs& knobs);

/// "step 7.12 s (+3.2 %), peak 61.2 GiB on stage 0, 18.4 GiB left: fits".
[[nodiscard]] std::string memory_words(const MemoryData& data);

/// By stage: what its ranks hold at the peak, down to layers.
[[nodiscard]] std::vector<std::vector<MemoryBranch>> memory_trees(const MemoryData& data);

}  // namespace plumbline::gui
