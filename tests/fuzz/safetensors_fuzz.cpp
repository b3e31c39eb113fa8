// Whatever the bytes: a safetensors file is refused in one line, or its tensors cover its data, each byte once.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "runtime/checkpoint/safetensors.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto bytes = static_cast<std::int64_t>(size);
    const plumbline::SafetensorsHeader header = plumbline::parse_safetensors(text, bytes, "file");
    std::int64_t covered = 0;
    for (const plumbline::StoredTensor& tensor : header.tensors) {
      require(tensor.first == covered);
      require(plumbline::element_count(tensor.shape).value() * plumbline::bytes_of(tensor.format) == tensor.bytes);
      covered += tensor.bytes;
    }
    require(header.data_begin + covered == bytes);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 100'000);
  }
  return 0;
}
