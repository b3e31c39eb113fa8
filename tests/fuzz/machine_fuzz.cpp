// Whatever the bytes: a machine file is refused in one line, or accepted and written as text that reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/machine_json.h"
#include "models/machine_catalog.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string rewritten(std::string_view text) {
  const plumbline::Json json = plumbline::parse_json(text, "machine");
  return plumbline::to_json_text(
      plumbline::machine_json(plumbline::read_machine(json, "machine", plumbline::machine_parts())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = rewritten(text);
    require(rewritten(once) == once);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
  return 0;
}
