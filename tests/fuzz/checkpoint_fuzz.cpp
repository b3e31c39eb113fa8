// Whatever the bytes: a checkpoint's manifest is refused in one line, or written as one that reads back to the same
// text; and the text as it was written is refused once any of its bytes is another.
#include "runtime/checkpoint/manifest.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

std::string rewritten(std::string_view text) {
  const Json json = parse_json(text, "manifest");
  return manifest_text(manifest_from_json(JsonPlace(json, "manifest:")));
}

void require_seal(std::string_view text, std::uint8_t where, std::uint8_t change) {
  std::string sealed = rewritten(text);
  (void)sealed_manifest(sealed, "manifest");
  if (change == 0) return;
  char& byte = sealed[where * (sealed.size() - 1) / 255];
  byte = static_cast<char>(byte ^ change);
  try {
    (void)sealed_manifest(sealed, "manifest");
  } catch (const InputError&) {
    return;
  }
  require(false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  require_round_trip(text, rewritten);
  if (size > 2) require_accepted_or_refused([&] { require_seal(text, data[size / 2], data[size / 3]); });
  return 0;
}
