// Whatever the bytes: a checkpoint's manifest is refused in one line, or written as one that reads back to the same
// text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "runtime/checkpoint/manifest.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string rewritten(std::string_view text) {
  const plumbline::Json json = plumbline::parse_json(text, "manifest");
  const plumbline::CheckpointManifest manifest = plumbline::manifest_from_json(plumbline::JsonPlace(json, "manifest:"));
  require(!plumbline::manifest_fault(manifest));
  return plumbline::to_json_text(plumbline::to_json(manifest));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = rewritten(text);
    require(rewritten(once) == once);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 100'000);
  }
  return 0;
}
