#include "kernels/layer_norm.h"
#include "kernels/rms_norm.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

// Not a single column: its normalised value is a constant, and its gradient what is left of equal numbers.
constexpr Size norm_sizes[] = {{1, 3}, {3, 5}, {9, 67}, {2, 300}, {67, 3}};

/// More rows than one launch sums: parts that are whole, and one that is not, and columns in and behind whole eights.
constexpr Size long_sizes[] = {{257, 8}, {600, 13}, {600, 133}};
/// Rows begin at multiples of 16 bytes, or do not.
constexpr std::int64_t no_gap = 1;
std::int64_t gap_of_eights(const Size& size) { return (8 - size.columns % 8) % 8 + 8; }

void check_rms(cudaStream_t stream, const Size& size, NumberFormat format, Write write) {
  BothTensor x = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor w = random_both(1, size.columns, 2, format);
  BothTensor y = random_both(size.rows, size.columns, 3, format);
  BothTensor dy = random_both(size.rows, size.columns, 4, format, 2);
  BothTensor dw = random_both(1, size.columns, 5);
  BothArray<float> inverse_root(size.rows, -1.0F);
  reference::rms_norm_forward({x.host(), w.host(), y.host(), inverse_root.host()});
  cuda::rms_norm_forward({x.device(), w.device(), y.device(), inverse_root.device()}, stream);
  reference::rms_norm_backward({dy.host(), x.host(), w.host(), inverse_root.host(), dy.host(), dw.host(), write});
  cuda::rms_norm_backward({dy.device(), x.device(), w.device(), inverse_root.device(), dy.device(), dw.device(), write},
                          stream);
  finish(stream);
  CHECK(relative_error(inverse_root.on_device(), inverse_root.on_host()) <= 1e-6);
  CHECK(y.error() <= tolerance(format));
  CHECK(dy.error() <= tolerance(format));
  CHECK(dw.error() <= 1e-5);
}

TEST_CASE("RMSNorm and its gradients, the input's in place, are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : norm_sizes)
      for (const NumberFormat format : float_formats)
        for (const Write write : {Write::overwrite, Write::accumulate}) check_rms(stream, size, format, write);
  });
}

struct LayerNormCase {
  Size size;
  NumberFormat format;
  bool has_bias;
  Write write;
};

void check_layer(cudaStream_t stream, const LayerNormCase& c) {
  BothTensor x = random_both(c.size.rows, c.size.columns, 1, c.format, 1);
  BothTensor w = random_both(1, c.size.columns, 2, c.format);
  BothTensor b = random_both(1, c.size.columns, 6, c.format);
  BothTensor y = random_both(c.size.rows, c.size.columns, 3, c.format);
  BothTensor dy = random_both(c.size.rows, c.size.columns, 4, c.format, 2);
  BothTensor dw = random_both(1, c.size.columns, 5);
  BothTensor db = random_both(1, c.size.columns, 7);
  BothArray<float> mean(c.size.rows, -1.0F);
  BothArray<float> deviation(c.size.rows, -1.0F);
  LayerNormForward forward{x.host(), w.host(), {}, y.host(), mean.host(), deviation.host()};
  LayerNormForward forward_device{x.device(), w.device(), {}, y.device(), mean.device(), deviation.device()};
  LayerNormBackward backward{dy.host(), x.host(), w.host(), mean.host(), deviation.host(), dy.host(), dw.host()};
  LayerNormBackward backward_device{dy.device(),        x.device(),  w.device(), mean.device(),
                                    deviation.device(), dy.device(), dw.device()};
  backward.write = backward_device.write = c.write;
  if (c.has_bias) {
    forward.bias = b.host();
    forward_device.bias = b.device();
    backward.bias_gradient = db.host();
    backward_device.bias_gradient = db.device();
  }
  reference::layer_norm_forward(forward);
  cuda::layer_norm_forward(forward_device, stream);
  reference::layer_norm_backward(backward);
  cuda::layer_norm_backward(backward_device, stream);
  finish(stream);
  CHECK(y.error() <= tolerance(c.format));
  CHECK(dy.error() <= 2 * tolerance(c.format));
  CHECK(dw.error() <= 1e-5);
  CHECK(db.error() <= 1e-5);
}

TEST_CASE("LayerNorm and its gradients, with and without bias, are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : norm_sizes)
      for (const NumberFormat format : float_formats)
        for (const bool has_bias : {false, true})
          check_layer(stream, {size, format, has_bias, has_bias ? Write::accumulate : Write::overwrite});
  });
}

/// Gradients of a norm's parameters over many rows.
struct LongSums {
  LongSums(const Size& size, NumberFormat format, std::int64_t gap)
      : x(random_both(size.rows, size.columns, 1, format, gap)),
        w(random_both(1, size.columns, 2, format)),
        dy(random_both(size.rows, size.columns, 4, format, gap)),
        dw(random_both(1, size.columns, 5)),
        db(random_both(1, size.columns, 7)),
        mean(size.rows, 0.25F),
        deviation(size.rows, 0.7F) {}

  void run(cudaStream_t stream, Write write) {
    reference::layer_norm_backward(
        {dy.host(), x.host(), w.host(), mean.host(), deviation.host(), {}, dw.host(), db.host(), write});
    LayerNormBackward args{dy.device(), x.device(),  w.device(),  mean.device(), deviation.device(),
                           {},          dw.device(), db.device(), write};
    args.workspace = device_workspace(cuda::layer_norm_workspace(args));
    REQUIRE(args.workspace.size > Bytes(0));
    cuda::layer_norm_backward(args, stream);
    reference::rms_norm_backward({dy.host(), x.host(), w.host(), deviation.host(), {}, dw.host(), Write::accumulate});
    RmsNormBackward rms{dy.device(), x.device(), w.device(), deviation.device(), {}, dw.device(), Write::accumulate};
    rms.workspace = device_workspace(cuda::rms_norm_workspace(rms));
    cuda::rms_norm_backward(rms, stream);
    finish(stream);
  }

  BothTensor x, w, dy, dw, db;
  BothArray<float> mean;
  BothArray<float> deviation;
};

// Of 600 terms below 1 in magnitude a sum errs by less than 20 * 2^-24 * 600; the largest sums are about
// sqrt(600 / 9) = 8, so 1e-4 of them would be 40 times as much.
TEST_CASE("gradients of norms' parameters over many rows are summed in parts, and are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : long_sizes)
      for (const NumberFormat format : float_formats)
        for (const std::int64_t gap : {no_gap, gap_of_eights(size)})
          for (const Write write : {Write::overwrite, Write::accumulate}) {
            LongSums sums(size, format, gap);
            sums.run(stream, write);
            CHECK(sums.dw.error() <= 1e-5);
            CHECK(sums.db.error() <= 1e-5);
          }
  });
}

TEST_CASE("gradients of norms' parameters over many rows are the same bits in every order of threads and blocks") {
  std::vector<std::vector<std::byte>> found;
  on_both([&](cudaStream_t stream) {
    LongSums sums({600, 133}, NumberFormat::bf16, 3);
    sums.run(stream, Write::accumulate);
    found.push_back(sums.dw.on_device());
    found.push_back(sums.db.on_device());
    CHECK(found[found.size() - 2] == found[0]);
    CHECK(found.back() == found[1]);
  });
}

TEST_CASE("a norm's gradient of the weight alone leaves the rest") {
  on_both([](cudaStream_t stream) {
    BothTensor x = random_both(5, 67, 1);
    BothTensor w = random_both(1, 67, 2);
    BothTensor dy = random_both(5, 67, 3);
    BothTensor dw = random_both(1, 67, 4);
    BothArray<float> inverse_root(5, 0.7F);
    reference::rms_norm_backward({dy.host(), x.host(), w.host(), inverse_root.host(), {}, dw.host()});
    cuda::rms_norm_backward({dy.device(), x.device(), w.device(), inverse_root.device(), {}, dw.device()}, stream);
    finish(stream);
    CHECK(dw.error() <= 1e-5);
    CHECK(dy.is_same());
  });
}

}  // namespace
}  // namespace plumbline
