// Whatever the bytes: a checkpoint's manifest is refused in one line, or written as one that reads back to the same
// text.
#include "runtime/checkpoint/manifest.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

constexpr std::size_t longest_refusal = 100'000;  // names of tensors and folders stand in it

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "manifest");
  const CheckpointManifest manifest = manifest_from_json(JsonPlace(json, "manifest:"));
  require(!manifest_fault(manifest));
  return to_json_text(to_json(manifest));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_round_trip(text_of(data, size), rewritten, longest_refusal);
  return 0;
}
