// Whatever the bytes: a safetensors file is refused in one line, or its tensors cover its data, each byte once.
#include "runtime/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

constexpr std::size_t longest_refusal = 100'000;  // a tensor's name is in it

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused(
      [&] {
        const auto bytes = static_cast<std::int64_t>(size);
        const SafetensorsHeader header = parse_safetensors(text_of(data, size), bytes, "file");
        std::int64_t covered = 0;
        for (const StoredTensor& tensor : header.tensors) {
          require(tensor.first == covered);
          require(element_count(tensor.shape).value() * bytes_of(tensor.format) == tensor.bytes);
          covered += tensor.bytes;
        }
        require(header.data_begin + covered == bytes);
      },
      longest_refusal);
  return 0;
}
