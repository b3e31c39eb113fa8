#include "runtime/cuda/matrix_products.h"

#include "runtime/cuda/memory_meter.h"
#include "runtime/cuda/product_timing.h"

namespace plumbline {
namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

std::string device_name() {
  int device = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

}  // namespace

MatrixProducts::MatrixProducts(const CublasLt& library, ProductTuning tuning)
    : library_(library), tuning_(tuning), device_(device_name()) {
  const MeasuredUse measured(MemoryUse::libraries);
  require(library_.create(&handle_), "cublasLtCreate");
}

MatrixProducts::~MatrixProducts() {
  plans_.clear();
  (void)library_.destroy(handle_);
}

Bytes MatrixProducts::workspace() { return Bytes(workspace_bytes); }

ProductPlan* MatrixProducts::plan_of(const ProductCall& call) {
  const auto [at, is_new] = plans_.try_emplace(product_shape(call));
  if (!is_new) return at->second.get();
  try {
    at->second = ProductPlan::make(library_, handle_, call);
  } catch (...) {
    plans_.erase(at);
    throw;
  }
  if (at->second != nullptr) tune(*at->second, call);
  return at->second.get();
}

void MatrixProducts::tune(ProductPlan& plan, const ProductCall& call) {
  if (tuning_ == ProductTuning::first || plan.candidates() == 1) return;
  const ProductShape shape = product_shape(call);
  std::optional<std::size_t> choice = shared_choice(device_, shape);
  if (!choice) choice = share_choice(device_, shape, fastest_candidate(plan, handle_, call));
  if (*choice < plan.candidates()) plan.choose(*choice);
}

int MatrixProducts::choice(const ProductCall& call) const {
  const auto found = plans_.find(product_shape(call));
  return found == plans_.end() || found->second == nullptr ? -1 : static_cast<int>(found->second->chosen());
}

bool MatrixProducts::run(const ProductCall& call, cudaStream_t stream) {
  const Matmul& args = call.matmul;
  if (args.c.rows == 0 || args.c.columns == 0) return true;
  ProductPlan* const plan = plan_of(call);
  if (plan == nullptr) return false;
  require(plan->run(handle_, call, args.c.data, plan->chosen(), stream),
          "cublasLtMatmul of " + to_text(product_shape(call)));
  return true;
}

}  // namespace plumbline
