// Whatever the bytes: an ONNX file is refused with a one-line InputError, or becomes a graph that can be counted.
#include "core/graph/parameter_count.h"
#include "models/import/onnx/onnx_network.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    onnx::ByteSource source(text_of(data, size), "input.onnx");
    const OnnxImport onnx = import_onnx(source, onnx::Reference{"input.onnx", {}});
    require(parameter_count(onnx.network.graph) == onnx.summary.parameters);
    require(onnx.summary.parameters > 0 && onnx.summary.work.peak >= Bytes(0));
  });
  return 0;
}
