// A device's table of kernels, measured on the CPU's device: every kind is there, with times that are positive, and it
// reads back as written.
#include "runtime/measure/measure_device.h"

#include <set>

#include "core/io/kernel_table_json.h"
#include "runtime/device/cpu_device.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("A device is measured into a table of every kind of kernel") {
  CpuDevice device(LaneThreads::none);
  MeasureOptions options;
  options.extent = MeasureExtent::brief;
  KernelTable table = measure_device(device, options);
  std::set<std::string> kinds;
  for (const ProductTiming& one : table.products) {
    kinds.insert(one.kind);
    CHECK(one.median_s > 0);
  }
  CHECK(kinds == std::set<std::string>{"forward", "input_gradient", "weight_gradient"});
  CHECK(table.products.size() == 9);  // of three formats
  std::set<std::string> ops;
  for (const MemoryTiming& one : table.memory_bound) {
    ops.insert(one.op);
    CHECK(one.median_s > 0);
    CHECK(one.bytes > Bytes(0));
  }
  for (const char* const op : {"add", "tiny_add", "launch", "copy", "copy_to_host", "copy_from_host", "adamw",
                               "rms_norm_forward", "rms_norm_backward", "gelu_forward", "swiglu_forward"}) {
    INFO(op);
    CHECK(ops.count(op) == 1);
  }
  REQUIRE(table.attention.size() == 1);
  CHECK(table.attention[0].forward_s > 0);
  CHECK(table.attention[0].backward_s > 0);
  table.device = table.machine = "a processor";
  const Json json = to_json(table);
  CHECK(kernel_table_from_json(JsonPlace(json, "table:")) == table);
}

TEST_CASE("A measurement that is stopped keeps what it has") {
  CpuDevice device(LaneThreads::none);
  MeasureOptions options;
  std::stop_source source;
  source.request_stop();
  options.stop = source.get_token();
  const KernelTable table = measure_device(device, options);
  CHECK(table.products.empty());
  CHECK(table.memory_bound.size() == 2);
}

}  // namespace
}  // namespace plumbline
