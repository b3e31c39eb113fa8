// Whatever the text: the small grammars of strategy flags and rows (recompute, freeze, schedules, splits, layouts)
// refuse it or give a value whose text reads back to the same value.
#include "core/plan/strategy.h"
#include "core/training/adaptation_text.h"
#include "planner/validate/stage_layout.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

template <class FromText>
void require_text_reads_back(std::string_view text, FromText from_text) {
  const auto value = from_text(text);
  if (value) require(from_text(to_text(*value)) == value);
}

void require_freeze_reads_back(std::string_view text) {
  Adaptation adaptation;
  freeze_from_text(text, "--freeze", adaptation);
  for (const LayerRange& range : adaptation.frozen_layers) require(0 <= range.first && range.first <= range.last);
  Adaptation again;
  if (!(adaptation == Adaptation{})) freeze_from_text(freeze_text(adaptation), "--freeze", again);
  require(again == adaptation);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_text_reads_back(text, recompute_from_text);
  require_text_reads_back(text, schedule_from_text);
  require_text_reads_back(text, stage_split_from_text);
  require_text_reads_back(text, lora_targets_from_text);
  require_accepted_or_refused([&] { require_freeze_reads_back(text); });
  require_accepted_or_refused([&] {
    const std::vector<std::int32_t> layers = stage_layout_from_text(text);
    require(layers.size() <= longest_layout);
    for (const std::int32_t count : layers) require(count >= 0);
  });
  return 0;
}
