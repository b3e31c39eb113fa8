// A brief measurement has every kind of entry, and more work takes longer.

#include "kernels/elementwise.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "runtime/measure/timing.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("a brief measurement of this computer has every kind of kernel, each with a positive time") {
  MeasureOptions options;
  options.extent = MeasureExtent::brief;
  options.cores = 2;
  const KernelTable table = measure_kernels(options);
  CHECK(table.products.size() >= 27);
  CHECK(table.attention.size() == 3);
  CHECK(table.collectives.size() == 4);
  REQUIRE(table.crowds.size() == 2);
  CHECK(table.crowds.back().threads == 2);
  CHECK(table.crowds.back().slowdown > 0);
  std::set<std::string> ops;
  for (const MemoryTiming& entry : table.memory_bound) {
    ops.insert(entry.op);
    CHECK(entry.median_s > 0);
  }
  for (const char* op : {"tiny_add", "add", "rms_norm_forward", "swiglu_backward", "rotary", "cross_entropy", "adamw",
                         "attention_dropout_forward", "attention_dropout_backward"})
    CHECK(ops.count(op) == 1);
  for (const ProductTiming& p : table.products) CHECK(p.median_s > 0);
  for (const AttentionTiming& a : table.attention) CHECK((a.forward_s > 0 && a.backward_s > 0));
  for (const CollectiveTiming& c : table.collectives) CHECK(c.median_s > 0);
}

TEST_CASE("a kernel over a thousand times as many numbers takes longer") {
  MeasuredTensor few(NumberFormat::fp32, 1, 1 << 10);
  MeasuredTensor many(NumberFormat::fp32, 1, 1 << 20);
  const Seconds budget(0.01);
  CHECK(median_time(
            [&] {
              reference::add({few, few, few});
            },
            budget) <
        median_time(
            [&] {
              reference::add({many, many, many});
            },
            budget));
}

TEST_CASE("a call that does another one's work and more takes longer by the rest; one that does less has no figure") {
  MeasuredTensor few(NumberFormat::fp32, 1, 1 << 10);
  MeasuredTensor many(NumberFormat::fp32, 1, 1 << 20);
  const auto small = [&] { reference::add({few, few, few}); };
  const auto large = [&] { reference::add({many, many, many}); };
  const Seconds budget(0.02);
  const std::optional<Seconds> more = median_difference(large, small, budget);
  REQUIRE(more);
  const Seconds whole = median_time(large, budget);
  CHECK(*more > whole * 0.3);
  CHECK(*more < whole * 3);
  CHECK_FALSE(median_difference(small, large, budget));
}

TEST_CASE("a measurement that is stopped returns what it has") {
  std::stop_source source;
  MeasureOptions options;
  options.stop = source.get_token();
  source.request_stop();
  CHECK(measure_kernels(options).products.empty());
}

}  // namespace plumbline
