#include "kernels/adafactor.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::cuda_adafactor_test {
namespace {

/// Matrices of a tensor, of which the rank has the elements [first, first + count).
struct Matrices {
  std::int64_t matrices;
  std::int64_t rows;
  std::int64_t columns;  ///< 1: a vector
  std::int64_t first;
  std::int64_t count;
  std::int64_t whole_rows;
  [[nodiscard]] bool is_vector() const { return columns == 1; }
};
constexpr Matrices sizes[] = {{1, 6, 9, 0, 54, 6},        {1, 33, 70, 40, 2001, 33},   {3, 5, 37, 100, 300, 5},
                              {2, 40, 300, 0, 24000, 80}, {1, 1000, 1, 17, 700, 1000}, {1, 3, 1, 1, 1, 3}};

std::vector<float> positive(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values = random_values(count, seed);
  for (float& value : values) value = std::abs(value);
  return values;
}

/// What one rank is given, on both devices.
struct Both {
  Both(const Matrices& m, NumberFormat format, bool with_master)
      : size(m),
        parameter(random_both(1, m.count, 1, format)),
        master(random_both(1, m.count, 2)),
        gradient(random_both(1, m.count, 3, format)),
        row_means(1, m.matrices * m.rows, NumberFormat::fp32, positive(m.matrices * m.rows, 4)),
        column_means(1, m.matrices * m.columns, NumberFormat::fp32, positive(m.matrices * m.columns, 5)),
        row_sums(1, m.matrices * m.rows, NumberFormat::fp32, positive(m.matrices * m.rows, 6)),
        column_sums(1, m.matrices * m.columns, NumberFormat::fp32, positive(m.matrices * m.columns, 7)),
        weight_sums(1, m.matrices, NumberFormat::fp32, positive(m.matrices, 8)),
        update_sums(1, m.matrices, NumberFormat::fp32, positive(m.matrices, 9)),
        mean_rows(1, m.matrices, NumberFormat::fp32, positive(m.matrices, 10)),
        has_master(with_master) {}

  template <class View>
  AdafactorStep args(View view) {
    const auto floats = [&](BothTensor& t) { return static_cast<float*>(view(t).data); };
    AdafactorStep a;
    a.parameter = {.parameter = view(parameter),
                   .master = has_master ? view(master) : TensorView{},
                   .gradient = view(gradient),
                   .gradient_factor = 0.5F,
                   .learning_rate = 0.3F,
                   .weight_decay = 0.1F,
                   .gradient_limit = 0.6F};
    a.first = size.first;
    a.matrices = size.matrices;
    a.rows = size.rows;
    a.columns = a.whole_columns = size.columns;
    a.whole_rows = size.whole_rows;
    a.row_means = view(row_means);
    if (!size.is_vector()) a.column_means = view(column_means);
    a.row_sums = floats(row_sums);
    a.column_sums = floats(column_sums);
    a.weight_sums = floats(weight_sums);
    a.update_sums = floats(update_sums);
    a.mean_rows = floats(mean_rows);
    a.step = 7;
    return a;
  }
  AdafactorStep on_host() {
    return args([](BothTensor& t) { return t.host(); });
  }
  AdafactorStep on_device() {
    AdafactorStep a = args([](BothTensor& t) { return t.device(); });
    a.workspace = device_workspace(cuda::adafactor_workspace(a));
    return a;
  }
  void check_all(NumberFormat format) {
    CHECK(parameter.error() <= tolerance(format));
    for (BothTensor* t :
         {&master, &row_means, &column_means, &row_sums, &column_sums, &weight_sums, &update_sums, &mean_rows})
      CHECK(t->error() <= 2e-6);
    CHECK(gradient.is_same());
  }

  Matrices size;
  BothTensor parameter, master, gradient, row_means, column_means, row_sums, column_sums, weight_sums, update_sums,
      mean_rows;
  bool has_master;
};

TEST_CASE("Adafactor's sums, means, updates and steps are the CPU's, for ranges that begin and end within rows") {
  on_both([&](cudaStream_t stream) {
    for (const Matrices& size : sizes)
      for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16})
        for (const bool with_master : {false, true}) {
          INFO(size.matrices << " x " << size.rows << " x " << size.columns << " from " << size.first);
          Both both(size, format, with_master);
          reference::adafactor_squares(both.on_host());
          cuda::adafactor_squares(both.on_device(), stream);
          reference::adafactor_means(both.on_host());
          cuda::adafactor_means(both.on_device(), stream);
          reference::adafactor_updates(both.on_host());
          cuda::adafactor_updates(both.on_device(), stream);
          reference::adafactor_step(both.on_host());
          cuda::adafactor_step(both.on_device(), stream);
          cuda_on_cpu::require(cudaStreamSynchronize(stream));
          both.check_all(format);
        }
  });
}

TEST_CASE("a step that is not taken leaves all of Adafactor's tensors as they are") {
  on_both([&](cudaStream_t stream) {
    BothArray<StepDecision> decision({StepDecision{1, 0, 3}});
    Both both(sizes[2], NumberFormat::fp32, true);
    AdafactorStep host = both.on_host();
    AdafactorStep device = both.on_device();
    host.parameter.decision = decision.host();
    device.parameter.decision = decision.device();
    reference::adafactor_squares(host);
    reference::adafactor_means(host);
    reference::adafactor_updates(host);
    reference::adafactor_step(host);
    cuda::adafactor_squares(device, stream);
    cuda::adafactor_means(device, stream);
    cuda::adafactor_updates(device, stream);
    cuda::adafactor_step(device, stream);
    cuda_on_cpu::require(cudaStreamSynchronize(stream));
    CHECK(both.master.is_same());
    CHECK(both.row_means.is_same());
    CHECK(both.row_sums.is_same());
    CHECK(both.update_sums.is_same());
  });
}

}  // namespace
}  // namespace plumbline::cuda_adafactor_test
