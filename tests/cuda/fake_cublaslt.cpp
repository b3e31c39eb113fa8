#include "tests/cuda/fake_cublaslt.h"

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "kernels/matmul.h"
#include "kernels/reference/chunk.h"
#include "tests/cuda_on_cpu/control.h"

using plumbline::ConstTensorView;
using plumbline::Matmul;
using plumbline::NumberFormat;
using plumbline::ScaleOf;
using plumbline::Transpose;
using plumbline::Write;

struct cublasLtContext {
  bool is_open = true;
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
};
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t operation_a = CUBLAS_OP_N;
  cublasOperation_t operation_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  cublasLtMatmulMatrixScale_t mode_a = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  cublasLtMatmulMatrixScale_t mode_b = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
};
struct cublasLtMatmulPreferenceOpaque_t {
  std::uint64_t workspace = 0;
  std::uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace fake_cublaslt {
namespace {

constexpr std::size_t needed_workspace = 4096;

std::map<std::string, cublasStatus_t>& failures() {
  static std::map<std::string, cublasStatus_t> of_calls;
  return of_calls;
}
/// Ranks are threads.
std::mutex mutex;
std::atomic<int> asked = 0;
std::atomic<int> computed = 0;
std::atomic<int> outer_scaled = 0;
std::atomic<bool> knows_modes = true;

std::vector<std::chrono::milliseconds>& delays_of_algorithms() {
  static std::vector<std::chrono::milliseconds> delays(3, std::chrono::milliseconds(0));
  return delays;
}

cublasStatus_t obstacle(const std::string& name) {
  const std::lock_guard lock(mutex);
  const auto found = failures().find(name);
  if (found == failures().end()) return CUBLAS_STATUS_SUCCESS;
  const cublasStatus_t status = found->second;
  failures().erase(found);
  return status;
}

NumberFormat format_of(cudaDataType_t type, cublasComputeType_t compute) {
  switch (type) {
    case CUDA_R_16F: return NumberFormat::fp16;
    case CUDA_R_16BF: return NumberFormat::bf16;
    case CUDA_R_8F_E4M3: return NumberFormat::fp8_e4m3;
    case CUDA_R_8F_E5M2: return NumberFormat::fp8_e5m2;
    default: return compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? NumberFormat::tf32 : NumberFormat::fp32;
  }
}

struct Product {
  const cublasLtMatmulDescOpaque_t& how;
  const cublasLtMatrixLayoutOpaque_t& a;
  const cublasLtMatrixLayoutOpaque_t& b;
  const cublasLtMatrixLayoutOpaque_t& d;
};

bool is_8_bits(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

bool shapes_fit(const Product& p) {
  const auto m = p.how.operation_a == CUBLAS_OP_N ? p.a.rows : p.a.columns;
  const auto k = p.how.operation_a == CUBLAS_OP_N ? p.a.columns : p.a.rows;
  const auto k_of_b = p.how.operation_b == CUBLAS_OP_N ? p.b.rows : p.b.columns;
  const auto n = p.how.operation_b == CUBLAS_OP_N ? p.b.columns : p.b.rows;
  return m == p.d.rows && n == p.d.columns && k == k_of_b;
}

/// cuBLAS 13.1, table of supported data types of cublasLtMatmul; fp8: both operands along k, e5m2 with e5m2 is not
/// there.
bool types_fit(const Product& p) {
  if (is_8_bits(p.a.type) != is_8_bits(p.b.type)) return false;
  if (is_8_bits(p.a.type)) {
    constexpr std::int64_t step = 16;
    const bool is_aligned = p.a.rows % step == 0 && p.a.columns % step == 0 && p.b.columns % step == 0 &&
                            p.a.leading % step == 0 && p.b.leading % step == 0;
    return is_aligned && p.how.operation_a == CUBLAS_OP_T && p.how.operation_b == CUBLAS_OP_N &&
           (p.a.type == CUDA_R_8F_E4M3 || p.b.type == CUDA_R_8F_E4M3) && !is_8_bits(p.d.type);
  }
  if (p.a.type != p.b.type || is_8_bits(p.d.type)) return false;
  return p.a.type == CUDA_R_32F ? p.d.type == CUDA_R_32F : p.d.type == p.a.type || p.d.type == CUDA_R_32F;
}

/// cuBLAS 13.1, "Outer vector scaling": fp8, both operands, compute capability 9.0 alone; their lengths are m and n,
/// which a computation reads.
cublasStatus_t scales_refusal(const cublasLtMatmulDescOpaque_t& how, cudaDataType_t type) {
  const bool is_outer = how.mode_a == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  if (is_outer != (how.mode_b == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!is_outer) return CUBLAS_STATUS_SUCCESS;
  if (!is_8_bits(type) || how.scale_a == nullptr || how.scale_b == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return CUBLAS_STATUS_INTERNAL_ERROR;
  return device.major == 9 && device.minor == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t refusal(const Product& p) {
  if (!shapes_fit(p)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!types_fit(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (const cublasStatus_t status = scales_refusal(p.how, p.a.type); status != CUBLAS_STATUS_SUCCESS) return status;
  const bool has_bias = p.how.epilogue == CUBLASLT_EPILOGUE_BIAS;
  if (has_bias && p.how.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (has_bias && p.how.bias_type != p.d.type && p.d.type != CUDA_R_16BF && p.d.type != CUDA_R_16F)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // "Bias gradient vector elements are the same type as the output elements."
  if (p.how.epilogue == CUBLASLT_EPILOGUE_BGRADB) {
    if (p.how.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (p.how.bias_type != p.d.type || is_8_bits(p.a.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool is_aligned(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// A matrix by columns is its transpose by rows. Outer scales are those of rows where the inner dimension lies along
/// them.
ConstTensorView view(const void* data, const cublasLtMatrixLayoutOpaque_t& layout,
                     const cublasLtMatmulDescOpaque_t& how, const float* scale, ScaleOf outer) {
  const bool is_outer = how.mode_a == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  return {data,  format_of(layout.type, how.compute), layout.columns, layout.rows, layout.leading,
          scale, is_outer ? outer : ScaleOf::tensor};
}

Transpose transpose(cublasOperation_t operation) { return operation == CUBLAS_OP_T ? Transpose::yes : Transpose::no; }

/// d^T = op(b)^T op(a)^T.
void compute(Matmul product) {
  std::vector<std::byte> scratch(static_cast<std::size_t>(plumbline::reference::matmul_workspace(product).value()) +
                                 64);
  void* memory = scratch.data();
  std::size_t size = scratch.size();
  constexpr std::size_t alignment = 64;
  product.workspace.data = std::align(alignment, 0, memory, size);
  product.workspace.size = plumbline::Bytes(static_cast<std::int64_t>(size));
  plumbline::reference::matmul(product);
}

/// Sums of op(b)'s columns, which are rows of the product's first operand.
void add_row_sums(const Matmul& product, void* sums, NumberFormat format) {
  const bool is_turned = product.transpose_a == Transpose::yes;
  const plumbline::TensorView to{sums, format, 1, product.c.rows, product.c.rows, nullptr};
  for (std::int64_t row = 0; row < product.c.rows; ++row) {
    const std::int64_t count = is_turned ? product.a.rows : product.a.columns;
    float sum = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      float value = 0;
      plumbline::reference::load_to(product.a, is_turned ? k : row, is_turned ? row : k, 1, &value);
      sum += value;
    }
    plumbline::reference::store(to, 0, row, 1, &sum);
  }
}

template <class Object, class... Arguments>
cublasStatus_t create(const char* name, Object** object, Arguments... arguments) {
  const cublasStatus_t status = obstacle(name);
  if (status == CUBLAS_STATUS_SUCCESS) *object = new Object{arguments...};
  return status;
}

template <class Object>
cublasStatus_t destroy(Object* object) {
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t take(Value& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

void fail_call(const std::string& name, cublasStatus_t status) {
  const std::lock_guard lock(mutex);
  failures()[name] = status;
}
int heuristics_asked() { return asked; }
int products_computed() { return computed; }
int outer_scaled_products() { return outer_scaled; }
void know_no_scale_modes(bool is_old) { knows_modes = !is_old; }
void set_algorithms(std::vector<std::chrono::milliseconds> delays) { delays_of_algorithms() = std::move(delays); }

}  // namespace fake_cublaslt

namespace plumbline {
namespace {

FoundCublasLt& fake_library() {
  static FoundCublasLt found{{cublasLtCreate, cublasLtDestroy, cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutDestroy,
                              cublasLtMatmulDescCreate, cublasLtMatmulDescDestroy, cublasLtMatmulDescSetAttribute,
                              cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceDestroy,
                              cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulAlgoGetHeuristic, cublasLtMatmul},
                             ""};
  return found;
}
ProductTuning tuning = ProductTuning::first;
std::atomic<std::size_t> handle_bytes = 0;

}  // namespace

const FoundCublasLt& cublaslt() { return fake_library(); }
ProductTuning product_tuning() { return tuning; }

}  // namespace plumbline

void fake_cublaslt::set_handle_bytes(std::size_t bytes) { plumbline::handle_bytes = bytes; }
void fake_cublaslt::set_missing(const std::string& problem) { plumbline::fake_library().problem = problem; }
void fake_cublaslt::set_tuning(plumbline::ProductTuning tuning) { plumbline::tuning = tuning; }

using namespace fake_cublaslt;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  cuda_on_cpu::take_memory(plumbline::handle_bytes);
  return create("cublasLtCreate", handle);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  if (leading < static_cast<std::int64_t>(rows) || rows == 0 || columns == 0) return CUBLAS_STATUS_INVALID_VALUE;
  return create("cublasLtMatrixLayoutCreate", layout, type, static_cast<std::int64_t>(rows),
                static_cast<std::int64_t>(columns), leading);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return create("cublasLtMatmulDescCreate", description, compute);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) { return destroy(description); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  const cublasStatus_t status = obstacle("cublasLtMatmulDescSetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const bool is_mode = attribute == CUBLASLT_MATMUL_DESC_A_SCALE_MODE || attribute == CUBLASLT_MATMUL_DESC_B_SCALE_MODE;
  if (is_mode && !knows_modes) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(d->operation_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(d->operation_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(d->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(d->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return take(d->scale_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return take(d->scale_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return take(d->bias_type, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE: return take(d->mode_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE: return take(d->mode_b, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create("cublasLtMatmulPreferenceCreate", preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  const cublasStatus_t status = obstacle("cublasLtMatmulPreferenceSetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return take(preference->workspace, value, bytes);
  return take(preference->alignments[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  *found = 0;
  ++asked;
  cublasStatus_t status = obstacle("cublasLtMatmulAlgoGetHeuristic");
  if (status == CUBLAS_STATUS_SUCCESS) status = refusal({*description, *a, *b, *d});
  if (status != CUBLAS_STATUS_SUCCESS || wanted < 1) return status;
  if (preference->workspace < needed_workspace) return CUBLAS_STATUS_SUCCESS;
  for (const std::chrono::milliseconds delay : delays_of_algorithms()) {
    if (*found == wanted) break;
    cublasLtMatmulHeuristicResult_t& result = results[(*found)++];
    result = {};
    for (int i = 0; i < 4; ++i) result.algo.data[i] = preference->alignments[i];
    result.algo.data[4] = static_cast<std::uint64_t>(delay.count());
    result.workspaceSize = needed_workspace;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  cublasStatus_t status = obstacle("cublasLtMatmul");
  if (status == CUBLAS_STATUS_SUCCESS) status = refusal({*description, *a_layout, *b_layout, *d_layout});
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const void* const pointers[4] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!is_aligned(pointers[i], algorithm->data[i])) return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace_bytes < needed_workspace || workspace == nullptr || !is_aligned(workspace, 256) || c != d ||
      *static_cast<const float*>(alpha) != 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto& how = *description;
  const auto outer = [](bool is_rows) { return is_rows ? ScaleOf::row : ScaleOf::column; };
  Matmul product{.a = view(b, *b_layout, how, how.scale_b, outer(how.operation_b == CUBLAS_OP_N)),
                 .b = view(a, *a_layout, how, how.scale_a, outer(how.operation_a == CUBLAS_OP_T)),
                 .c = {d, format_of(d_layout->type, CUBLAS_COMPUTE_32F), d_layout->columns, d_layout->rows,
                       d_layout->leading, nullptr},
                 .transpose_a = transpose(how.operation_b),
                 .transpose_b = transpose(how.operation_a)};
  if (*static_cast<const float*>(beta) != 0) product.write = Write::accumulate;
  if (how.epilogue == CUBLASLT_EPILOGUE_BIAS)
    product.bias = {how.bias, format_of(how.bias_type, CUBLAS_COMPUTE_32F), 1, d_layout->rows, d_layout->rows, nullptr};
  void* const sums = how.epilogue == CUBLASLT_EPILOGUE_BGRADB ? const_cast<void*>(how.bias) : nullptr;
  const NumberFormat of_sums = format_of(how.bias_type, CUBLAS_COMPUTE_32F);
  const std::chrono::milliseconds delay(algorithm->data[4]);
  const cudaError_t error = cuda_on_cpu::enqueue_work(stream, [=] {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    compute(product);
    if (sums != nullptr) add_row_sums(product, sums, of_sums);
    ++computed;
    if (product.a.scale_of != ScaleOf::tensor) ++outer_scaled;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
