#include "runtime/cuda/product_plan.h"

#include <algorithm>
#include <optional>

#include "runtime/cuda/matrix_products.h"
#include "runtime/cuda/refused_products.h"

namespace plumbline {
namespace {

constexpr int most_candidates = 8;

const char* text_of(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_NOT_INITIALIZED: return "not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "invalid value";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "architecture mismatch";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "execution failed";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "internal error";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "not supported";
    default: return "error";
  }
}

/// CUBLASLT_MATMUL_DESC_A_SCALE_MODE, ..._B_SCALE_MODE and CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F of cuBLAS 12.9
/// and later, which older headers do not name.
constexpr auto mode_of_a = static_cast<cublasLtMatmulDescAttributes_t>(31);
constexpr auto mode_of_b = static_cast<cublasLtMatmulDescAttributes_t>(32);
constexpr std::int32_t outer_vectors = 3;

bool has_outer_scales(const ProductShape& shape) { return shape.scales[0] == OperandScales::outer; }

/// What the library does not take on this device, or with these types: our kernels do. Other errors are failures.
bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE || status == CUBLAS_STATUS_ARCH_MISMATCH;
}

std::optional<cudaDataType_t> type_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
    case NumberFormat::tf32: return CUDA_R_32F;
    case NumberFormat::bf16: return CUDA_R_16BF;
    case NumberFormat::fp16: return CUDA_R_16F;
    case NumberFormat::fp8_e4m3: return CUDA_R_8F_E4M3;
    case NumberFormat::fp8_e5m2: return CUDA_R_8F_E5M2;
    default: return std::nullopt;
  }
}

/// Whether the library's tables can have it; its heuristic says whether they do.
bool is_asked_for(const ProductShape& shape) {
  const auto& [a, b, c] = shape.formats;
  const bool one_width = bits(a) == bits(b) && (bits(a) == 8 || type_of(a) == type_of(b)) &&
                         (a == NumberFormat::tf32) == (b == NumberFormat::tf32);
  const auto is_outer = [&](std::size_t operand) { return shape.scales[operand] == OperandScales::outer; };
  const auto is_inner = [&](std::size_t operand) { return shape.scales[operand] == OperandScales::inner; };
  if (is_outer(0) != is_outer(1) || is_inner(0) || is_inner(1)) return false;
  return shape.k > 0 && type_of(a) && type_of(b) && type_of(c) && type_of(shape.epilogue_format) && one_width &&
         bits(c) > 8;
}

cublasOperation_t operation(Transpose transpose) { return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }

template <class Value>
void set(const CublasLt& library, cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         Value value) {
  require(library.preference_set(preference, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute of " + std::to_string(static_cast<int>(attribute)));
}

}  // namespace

void require(cublasStatus_t status, const std::string& call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError(call + ": " + text_of(status) + " (status " + std::to_string(static_cast<int>(status)) + ")");
}

template <class Value>
void ProductPlan::set(cublasLtMatmulDescAttributes_t attribute, Value value) {
  require(library_.description_set(description_.get(), attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute of " + std::to_string(static_cast<int>(attribute)));
}

ProductPlan::ProductPlan(const CublasLt& library, const ProductShape& shape)
    : library_(library),
      description_(nullptr, library.description_destroy),
      a_(nullptr, library.layout_destroy),
      b_(nullptr, library.layout_destroy),
      c_(nullptr, library.layout_destroy) {
  const bool is_tf32 = shape.formats[0] == NumberFormat::tf32;
  cublasLtMatmulDesc_t description = nullptr;
  require(library_.description_create(&description, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                      CUDA_R_32F),
          "cublasLtMatmulDescCreate");
  description_.reset(description);
}

void ProductPlan::describe(const ProductShape& shape) {
  set(CUBLASLT_MATMUL_DESC_TRANSA, operation(shape.transpose_b));
  set(CUBLASLT_MATMUL_DESC_TRANSB, operation(shape.transpose_a));
  if (shape.epilogue == Epilogue::none) return;
  set(CUBLASLT_MATMUL_DESC_EPILOGUE,
      shape.epilogue == Epilogue::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB);
  set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(shape.epilogue_format).value_or(CUDA_R_32F));
}

bool ProductPlan::take_outer_scales() {
  const auto take = [&](cublasLtMatmulDescAttributes_t attribute) {
    return library_.description_set(description_.get(), attribute, &outer_vectors, sizeof outer_vectors) ==
           CUBLAS_STATUS_SUCCESS;
  };
  return take(mode_of_a) && take(mode_of_b);
}

ProductPlan::Layout ProductPlan::layout(const ConstTensorView& view) const {
  cublasLtMatrixLayout_t made = nullptr;
  require(
      library_.layout_create(&made, type_of(view.format).value_or(CUDA_R_32F), static_cast<std::uint64_t>(view.columns),
                             static_cast<std::uint64_t>(view.rows), view.stride),
      "cublasLtMatrixLayoutCreate");
  return {made, library_.layout_destroy};
}

std::unique_ptr<ProductPlan> ProductPlan::make(const CublasLt& library, cublasLtHandle_t handle,
                                               const ProductCall& call) {
  const ProductShape shape = product_shape(call);
  if (!is_asked_for(shape)) return nullptr;
  std::unique_ptr<ProductPlan> plan(new ProductPlan(library, shape));
  plan->describe(shape);
  if (has_outer_scales(shape) && !plan->take_outer_scales()) {
    remember_refused({shape, "older than 12.9"});
    return nullptr;
  }
  plan->a_ = plan->layout(call.matmul.a);
  plan->b_ = plan->layout(call.matmul.b);
  plan->c_ = plan->layout(call.matmul.c);
  plan->point_to(call);  // the heuristic reads alignments
  return plan->ask(handle, shape) ? std::move(plan) : nullptr;
}

bool ProductPlan::ask(cublasLtHandle_t handle, const ProductShape& shape) {
  cublasLtMatmulPreference_t made = nullptr;
  require(library_.preference_create(&made), "cublasLtMatmulPreferenceCreate");
  const Held<cublasLtMatmulPreferenceOpaque_t> preference(made, library_.preference_destroy);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    plumbline::set(library_, made, attribute, value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(MatrixProducts::workspace().value()));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.alignments[1]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.alignments[0]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.alignments[2]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.alignments[2]);
  candidates_.resize(most_candidates);
  int found = 0;
  const cublasStatus_t status = library_.heuristic(handle, description_.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                                   made, most_candidates, candidates_.data(), &found);
  // On another architecture than sm_90 the library has no such scales.
  if (is_refusal(status) || (status == CUBLAS_STATUS_NOT_SUPPORTED && has_outer_scales(shape)))
    remember_refused({shape, text_of(status)});
  else if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    require(status, "cublasLtMatmulAlgoGetHeuristic of " + to_text(shape));
  candidates_.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
  std::erase_if(candidates_, [](const cublasLtMatmulHeuristicResult_t& one) {
    return one.state != CUBLAS_STATUS_SUCCESS ||
           one.workspaceSize > static_cast<std::size_t>(MatrixProducts::workspace().value());
  });
  return !candidates_.empty();
}

void ProductPlan::point_to(const ProductCall& call) {
  const Matmul& args = call.matmul;
  if (args.bias.is_there()) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.bias.data);
  if (call.row_sums.is_there()) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(call.row_sums.data));
  if (args.a.scale != nullptr) set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(args.a.scale));
  if (args.b.scale != nullptr) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(args.b.scale));
}

cublasStatus_t ProductPlan::run(cublasLtHandle_t handle, const ProductCall& call, void* into, std::size_t candidate,
                                cudaStream_t stream) {
  const Matmul& args = call.matmul;
  const cublasLtMatmulHeuristicResult_t& how = candidates_[candidate];
  check(static_cast<std::size_t>(args.workspace.size.value()) >= how.workspaceSize,
        "a product has the workspace it asked for");
  point_to(call);
  constexpr float one = 1;
  const float beta = args.write == Write::accumulate ? 1.0F : 0.0F;
  return library_.matmul(handle, description_.get(), &one, args.b.data, b_.get(), args.a.data, a_.get(), &beta, into,
                         c_.get(), into, c_.get(), &how.algo, args.workspace.data, how.workspaceSize, stream);
}

}  // namespace plumbline
