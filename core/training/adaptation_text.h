#pragma once
/// \file adaptation_text.h: frozen parameters as people write them: "embeddings,layers:0-15".

#include <string>
#include <string_view>

#include "core/training/training.h"

namespace plumbline {

/// Parts apart by commas: "embeddings", "layers:FIRST-LAST", "layers:N". Throws InputError (where as given).
void freeze_from_text(std::string_view text, std::string_view where, Adaptation& adaptation);
/// What `freeze_from_text` reads back; empty when nothing is frozen by hand.
[[nodiscard]] std::string freeze_text(const Adaptation& adaptation);

/// "all" or "qkv".
[[nodiscard]] std::string_view to_text(LoraTargets targets);
[[nodiscard]] std::optional<LoraTargets> lora_targets_from_text(std::string_view text);

}  // namespace plumbline
