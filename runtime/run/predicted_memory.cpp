#include "runtime/run/predicted_memory.h"

#include "core/quantity/text.h"

namespace plumbline {

std::vector<std::string> predicted_memory_texts(const Prediction& prediction) {
  std::vector<std::string> texts;
  for (const MemoryBreakdown& memory : prediction.stage_memory) {
    std::string parts;
    for (std::size_t c = 0; c < memory_class_count; ++c)
      if (const auto one = static_cast<MemoryClass>(c); memory[one].value() > 0)
        parts += (parts.empty() ? ": " : ", ") + to_text(memory[one]) + " of " + std::string(to_text(one));
    texts.push_back(to_text(memory.device_total()) + " at the peak of stage " + std::to_string(texts.size()) + parts);
  }
  return texts;
}

}  // namespace plumbline
