// Whatever the bytes: the reader refuses with a one-line InputError or accepts; and what it accepted is written as
// text that reads back and is written the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "core/io/json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string written = plumbline::to_json_text(plumbline::parse_json(text, "input"));
    require(plumbline::to_json_text(plumbline::parse_json(written, "written")) == written);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
  return 0;
}
