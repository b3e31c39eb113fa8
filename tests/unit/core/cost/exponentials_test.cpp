#include "core/cost/exponentials.h"

#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Device device(std::string_view machine) { return find_machine(machine).groups.front().node.device; }

}  // namespace

// H100: an exponential takes 1 / 16 of a clock, the products of a score in heads of 128 512 / 4096 = 1 / 8, of 64
// 1 / 16. So 3 / 16 become 2 / 16, of which heads of 64 should take 1.5 / 16.
TEST_CASE("heads of 64 reach three quarters of what those of 128 do on Hopper") {
  CHECK(softmax_factor_forward(device("dgx-h100"), 64) == Approx(2 / 1.5));
  CHECK(softmax_factor_forward(device("dgx-h100"), 128) == 1);
  // Backward 5 / 16 of products and 1 / 16; 2.5 / 16 and 1 / 16.
  CHECK(softmax_factor_backward(device("dgx-h100"), 64) == Approx(3.5 / 3));
}

// models/measurements/NVIDIA-H200-2026-11-26/kernels.json, 16 384 tokens: 12 heads of 64 and 32 of 128, seconds forward
// and backward.
TEST_CASE("cuDNN on an H200 loses at least as much to heads of 64") {
  const double forward = (9.569e-4 / (12 * 64)) / (3.303e-3 / (32 * 128));
  const double backward = (3.056e-3 / (12 * 64)) / (1.0818e-2 / (32 * 128));
  CHECK(softmax_factor_forward(device("dgx-h200"), 64) < forward);
  CHECK(softmax_factor_backward(device("dgx-h200"), 64) < backward);
}

// B200: products in heads of 64 take 1 / 32, with 1 / 16; GB300 makes an exponential in 1 / 32.
TEST_CASE("small heads are slower still where products became faster than exponentials") {
  CHECK(softmax_factor_forward(device("dgx-b200"), 64) == Approx(3.0 / 32 / (1.0 / 16)));
  CHECK(softmax_factor_forward(device("gb300-nvl72"), 64) == Approx(2.0 / 32 / (1.5 / 32)));
  CHECK(softmax_factor_forward(device("dgx-b200"), 192) < 1);
}

TEST_CASE("before Hopper tiles that share a multiprocessor hide exponentials") {
  CHECK(softmax_factor_forward(device("dgx-a100-80g"), 64) == 1);
  CHECK(softmax_factor_backward(device("dgx-a100-80g"), 64) == 1);
}

}  // namespace plumbline
