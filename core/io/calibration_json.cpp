#include "core/io/calibration_json.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Key in the file, member it fills, and the range that physics leaves it.
template <class Owner>
struct Field {
  std::string_view key;
  Coefficient Owner::*member;
  double smallest;
  double largest;
};

using D = DeviceCalibration;
constexpr std::array device_fields{
    Field<D>{"wave_exponent", &D::wave_exponent, 0, 4},
    Field<D>{"batched_product_factor", &D::batched_product_factor, 0.01, 2},
    Field<D>{"grouped_product_factor", &D::grouped_product_factor, 0.01, 2},
    Field<D>{"flash_forward_fraction", &D::flash_forward_fraction, 0.001, 1},
    Field<D>{"flash_backward_factor", &D::flash_backward_factor, 0.01, 2},
    Field<D>{"flash_half_sequence", &D::flash_half_sequence, 0, 1e6},
    Field<D>{"bandwidth_fraction", &D::bandwidth_fraction, 0.01, 1},
    Field<D>{"kernel_gap_s", &D::kernel_gap_s, 0, 1},
    Field<D>{"residual_sigma", &D::residual_sigma, 0, 2},
};

using S = StackCalibration;
constexpr std::array stack_fields{
    Field<S>{"step_factor", &S::step_factor, 0.1, 10},
    Field<S>{"memory_bound_factor", &S::memory_bound_factor, 0.01, 100},
    Field<S>{"loss_factor", &S::loss_factor, 0.01, 100},
    Field<S>{"flash_factor", &S::flash_factor, 0.01, 10},
    Field<S>{"tensor_parallel_exposure", &S::tensor_parallel_exposure, 0, 10},
    Field<S>{"tensor_parallel_backward_factor", &S::tensor_parallel_backward_factor, 0, 10},
    Field<S>{"pipeline_exposure", &S::pipeline_exposure, 0, 10},
    Field<S>{"data_parallel_exposure", &S::data_parallel_exposure, 0, 10},
    Field<S>{"context_parallel_exposure", &S::context_parallel_exposure, 0, 10},
    Field<S>{"expert_parallel_exposure", &S::expert_parallel_exposure, 0, 10},
    Field<S>{"shard_overlap_norm", &S::shard_overlap_norm, 1, 64},
    Field<S>{"host_time_per_kernel_s", &S::host_time_per_kernel_s, 0, 1},
    Field<S>{"step_overhead_s", &S::step_overhead_s, 0, 1e4},
    Field<S>{"accumulation_bytes", &S::accumulation_bytes, 0, 100},
    Field<S>{"optimizer_traffic_factor", &S::optimizer_traffic_factor, 0, 100},
    Field<S>{"score_bytes_forward", &S::score_bytes_forward, 0, 1000},
    Field<S>{"score_bytes_backward", &S::score_bytes_backward, 0, 1000},
    Field<S>{"logit_bytes", &S::logit_bytes, 0, 100},
    Field<S>{"context_bytes", &S::context_bytes, 0, 1e12},
    Field<S>{"communicator_bytes", &S::communicator_bytes, 0, 1e12},
    Field<S>{"workspace_bytes", &S::workspace_bytes, 0, 1e12},
    Field<S>{"fragmentation_fraction", &S::fragmentation_fraction, 0, 1},
    Field<S>{"expert_imbalance", &S::expert_imbalance, 1, 1000},
    Field<S>{"host_bytes_per_rank", &S::host_bytes_per_rank, 0, 1e13},
    Field<S>{"residual_sigma", &S::residual_sigma, 0, 2},
    Field<S>{"memory_sigma", &S::memory_sigma, 0, 2},
};

Coefficient coefficient_from_json(const JsonPlace& place, double smallest, double largest) {
  JsonObject object(place);
  Coefficient result;
  result.value = object.at("value").number(smallest, largest);
  result.relative_sigma = object.at("relative_sigma").number(0, 10);
  const JsonPlace kind = object.at("kind");
  result.kind = kind.string();
  const std::vector<std::string> kinds{"fitted", "measured", "assumed"};
  if (std::find(kinds.begin(), kinds.end(), result.kind) == kinds.end())
    throw InputError(
        {kind.where(), "\"" + result.kind + "\"", "fitted, measured or assumed", nearest_text(result.kind, kinds)});
  result.source = object.at("source").string();
  object.finish();
  return result;
}

template <class Owner, std::size_t N>
void read_fields(JsonObject& object, Owner& owner, const std::array<Field<Owner>, N>& fields) {
  for (const Field<Owner>& field : fields)
    owner.*field.member = coefficient_from_json(object.at(field.key), field.smallest, field.largest);
}

template <class Owner, std::size_t N>
std::vector<NamedCoefficient> named(const Owner& owner, const std::array<Field<Owner>, N>& fields) {
  std::vector<NamedCoefficient> result;
  for (const Field<Owner>& field : fields) result.push_back({std::string(field.key), owner.*field.member});
  return result;
}

ProductEfficiency product_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ProductEfficiency product;
  const JsonPlace format = object.at("format");
  const auto read = number_format_from_text(format.string());
  if (!read) throw InputError({format.where(), "\"" + format.string() + "\"", "a number format such as bf16", ""});
  product.format = *read;
  product.peak_fraction = coefficient_from_json(object.at("peak_fraction"), 0.001, 1);
  product.half_depth = coefficient_from_json(object.at("half_depth"), 0, 1e6);
  object.finish();
  return product;
}

}  // namespace

DeviceCalibration device_calibration_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.calibration/1");
  DeviceCalibration device;
  device.name = object.at("name").string();
  for (const JsonPlace& name : object.at("devices").elements()) device.devices.push_back(name.string());
  const JsonPlace products = object.at("products");
  for (const JsonPlace& product : products.elements()) device.products.push_back(product_from_json(product));
  if (device.products.empty())
    throw InputError({products.where(), "is empty", "the efficiency of at least one number format", ""});
  read_fields(object, device, device_fields);
  object.finish();
  return device;
}

StackCalibration stack_calibration_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.stack/1");
  StackCalibration stack;
  stack.name = object.at("name").string();
  stack.description = object.at("description").string();
  read_fields(object, stack, stack_fields);
  object.finish();
  return stack;
}

std::vector<NamedCoefficient> coefficients(const DeviceCalibration& device) {
  std::vector<NamedCoefficient> result;
  for (const ProductEfficiency& p : device.products) {
    const std::string format(to_text(p.format));
    result.push_back({format + " peak_fraction", p.peak_fraction});
    result.push_back({format + " half_depth", p.half_depth});
  }
  for (NamedCoefficient& c : named(device, device_fields)) result.push_back(std::move(c));
  return result;
}
std::vector<NamedCoefficient> coefficients(const StackCalibration& stack) { return named(stack, stack_fields); }

}  // namespace plumbline
