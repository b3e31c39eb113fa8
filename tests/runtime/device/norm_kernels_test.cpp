#include "runtime/device/norm_kernels.h"

#include <set>
#include <string_view>
#include <vector>

#include "runtime/device/cpu_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "tests/catch.h"

namespace plumbline::norm_kernels_test {
namespace {

constexpr std::int64_t rows = 3;
constexpr std::int64_t columns = 8;

std::vector<float> values(MeasuredTensor& tensor, std::int64_t count) {
  return {tensor.floats(), tensor.floats() + count};
}

struct Numbers {
  MeasuredTensor x{NumberFormat::fp32, rows, columns};
  MeasuredTensor dy{NumberFormat::fp32, rows, columns};
  MeasuredTensor weight{NumberFormat::fp32, 1, columns};
  MeasuredTensor bias{NumberFormat::fp32, 1, columns};
  MeasuredTensor y{NumberFormat::fp32, rows, columns};
  MeasuredTensor dx{NumberFormat::fp32, rows, columns};
  MeasuredTensor statistics{NumberFormat::fp32, 2, rows};
  MeasuredTensor of_weight{NumberFormat::fp32, 1, columns};
  MeasuredTensor of_bias{NumberFormat::fp32, 1, columns};

  /// As runtime/execution and runtime/measure call a norm.
  void run(OpKind kind) {
    norm_forward(cpu_kernels(), kind, {x, weight, bias, y, statistics.floats(), 1e-3F});
    norm_backward(cpu_kernels(), kind, {dy, x, weight, statistics.floats(), dx, {of_weight, of_bias}, Write::overwrite},
                  [](const auto& kernel, const auto& arguments) { kernel.run(arguments); });
  }
  /// What was written, one behind the other.
  std::vector<float> written() {
    std::vector<float> all = values(y, rows * columns);
    for (const std::vector<float>& part : {values(dx, rows * columns), values(statistics, 2 * rows),
                                           values(of_weight, columns), values(of_bias, columns)})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

/// What the table has, by name.
std::set<std::string_view> kernel_names() {
#define NAME(name, ...) #name,
  return {PLUMBLINE_KERNELS(NAME, NAME, NAME)};
#undef NAME
}

}  // namespace

TEST_CASE("a norm that is called by its kind gives what its own kernels give") {
  Numbers rms;
  rms.run(OpKind::rms_norm);
  Numbers own;
  reference::rms_norm_forward({own.x, own.weight, own.y, own.statistics.floats(), 1e-3F});
  reference::rms_norm_backward(
      {own.dy, own.x, own.weight, own.statistics.floats(), own.dx, own.of_weight, Write::overwrite});
  CHECK(rms.written() == own.written());

  Numbers layer;
  layer.run(OpKind::layer_norm);
  Numbers alone;
  float* const deviations = alone.statistics.floats() + rows;
  reference::layer_norm_forward(
      {alone.x, alone.weight, alone.bias, alone.y, alone.statistics.floats(), deviations, 1e-3F});
  reference::layer_norm_backward({alone.dy, alone.x, alone.weight, alone.statistics.floats(), deviations, alone.dx,
                                  alone.of_weight, alone.of_bias, Write::overwrite});
  CHECK(layer.written() == alone.written());
  CHECK(layer.written() != rms.written());
}

TEST_CASE("an operator is timed under the names of kernels that devices have") {
  const std::set<std::string_view> known = kernel_names();
  for (const OpRecord& record : op_records)
    for (const std::string_view name : {record.timed.forward, record.timed.backward}) {
      CAPTURE(record.name, name);
      CHECK((name.empty() || known.count(name) == 1));
      CHECK((name.empty() || record.is_executed));
    }
  for (const OpKind kind : executed_norms) CHECK(!record_of(kind).timed.forward.empty());
}

}  // namespace plumbline::norm_kernels_test
