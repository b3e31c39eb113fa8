#include "runtime/cuda/matrix_products.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;
constexpr std::uint32_t most_alignment = 16;

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

void require(cublasStatus_t status, const std::string& call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError(call + ": " + text_of(status) + " (status " + std::to_string(static_cast<int>(status)) + ")");
}

cudaDataType_t type_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
    case NumberFormat::tf32: return CUDA_R_32F;
    case NumberFormat::bf16: return CUDA_R_16BF;
    case NumberFormat::fp16: return CUDA_R_16F;
    case NumberFormat::fp8_e4m3: return CUDA_R_8F_E4M3;
    case NumberFormat::fp8_e5m2: return CUDA_R_8F_E5M2;
    default: throw CudaError("cuBLASLt has no product of " + std::string(to_text(format)));
  }
}

std::uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  std::uint32_t alignment = 1;
  while (alignment < most_alignment && address % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

template <class Value>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, Value value) {
  require(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute of " + std::to_string(static_cast<int>(attribute)));
}

template <class Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
  require(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute of " + std::to_string(static_cast<int>(attribute)));
}

/// Of a matrix by rows: its transpose by columns.
class Layout {
 public:
  Layout(NumberFormat format, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    require(cublasLtMatrixLayoutCreate(&layout_, type_of(format), static_cast<std::uint64_t>(columns),
                                       static_cast<std::uint64_t>(rows), stride),
            "cublasLtMatrixLayoutCreate");
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() { (void)cublasLtMatrixLayoutDestroy(layout_); }
  [[nodiscard]] cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Description {
 public:
  explicit Description(const ProductShape& shape) {
    const bool is_tf32 = shape.formats[0] == NumberFormat::tf32;
    require(cublasLtMatmulDescCreate(&description_, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                     CUDA_R_32F),
            "cublasLtMatmulDescCreate");
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { (void)cublasLtMatmulDescDestroy(description_); }
  [[nodiscard]] cublasLtMatmulDesc_t get() const { return description_; }

 private:
  cublasLtMatmulDesc_t description_ = nullptr;
};

class Preference {
 public:
  explicit Preference(const ProductShape& shape) {
    require(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    set(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace_bytes));
    set(preference_, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.alignments[1]);
    set(preference_, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.alignments[0]);
    set(preference_, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.alignments[2]);
    set(preference_, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.alignments[2]);
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() { (void)cublasLtMatmulPreferenceDestroy(preference_); }
  [[nodiscard]] cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

cublasOperation_t operation(Transpose transpose) { return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }

Layout layout_of(const ConstTensorView& view) { return {view.format, view.rows, view.columns, view.stride}; }

}  // namespace

/// Descriptors and algorithm of one shape. The library's first operand is our second.
class MatrixProducts::Plan {
 public:
  Plan(cublasLtHandle_t handle, const ProductShape& shape, const Matmul& args)
      : description_(shape), a_(layout_of(args.a)), b_(layout_of(args.b)), c_(layout_of(args.c)) {
    set(description_.get(), CUBLASLT_MATMUL_DESC_TRANSA, operation(shape.transpose_b));
    set(description_.get(), CUBLASLT_MATMUL_DESC_TRANSB, operation(shape.transpose_a));
    if (shape.has_bias) {
      set(description_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(description_.get(), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(shape.bias));
    }
    point_to(args);  // the heuristic reads alignments
    const Preference preference(shape);
    int found = 0;
    cublasLtMatmulHeuristicResult_t best{};
    require(cublasLtMatmulAlgoGetHeuristic(handle, description_.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                           preference.get(), 1, &best, &found),
            "cublasLtMatmulAlgoGetHeuristic of " + to_text(shape));
    if (found == 0) throw CudaError("cublasLtMatmulAlgoGetHeuristic of " + to_text(shape) + ": there is none");
    algorithm_ = best.algo;
    workspace_ = best.workspaceSize;
  }

  void run(cublasLtHandle_t handle, const Matmul& args, cudaStream_t stream) {
    check(static_cast<std::size_t>(args.workspace.size.value()) >= workspace_,
          "a product has the workspace it asked for");
    point_to(args);
    constexpr float one = 1;
    const float beta = args.write == Write::accumulate ? 1.0F : 0.0F;
    require(cublasLtMatmul(handle, description_.get(), &one, args.b.data, b_.get(), args.a.data, a_.get(), &beta,
                           args.c.data, c_.get(), args.c.data, c_.get(), &algorithm_, args.workspace.data, workspace_,
                           stream),
            "cublasLtMatmul of " + to_text(product_shape(args)));
  }

 private:
  /// Pointers that are no part of the plan.
  void point_to(const Matmul& args) {
    if (args.bias.is_there()) set(description_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.bias.data);
    if (args.a.scale != nullptr)
      set(description_.get(), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(args.a.scale));
    if (args.b.scale != nullptr)
      set(description_.get(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(args.b.scale));
  }

  Description description_;
  Layout a_;
  Layout b_;
  Layout c_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_ = 0;
};

ProductShape product_shape(const Matmul& args) {
  const bool is_a = args.transpose_a == Transpose::yes;
  ProductShape shape;
  shape.m = args.c.rows;
  shape.n = args.c.columns;
  shape.k = is_a ? args.a.rows : args.a.columns;
  shape.strides = {args.a.stride, args.b.stride, args.c.stride};
  shape.formats = {args.a.format, args.b.format, args.c.format};
  shape.alignments = {alignment_of(args.a.data), alignment_of(args.b.data), alignment_of(args.c.data)};
  shape.transpose_a = args.transpose_a;
  shape.transpose_b = args.transpose_b;
  shape.has_bias = args.bias.is_there();
  if (shape.has_bias) shape.bias = args.bias.format;
  shape.write = args.write;
  return shape;
}

std::string to_text(const ProductShape& shape) {
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k) + " of " +
         std::string(to_text(shape.formats[0])) + " and " + std::string(to_text(shape.formats[1])) + " into " +
         std::string(to_text(shape.formats[2]));
}

MatrixProducts::MatrixProducts() { require(cublasLtCreate(&handle_), "cublasLtCreate"); }
MatrixProducts::~MatrixProducts() {
  plans_.clear();
  (void)cublasLtDestroy(handle_);
}

Bytes MatrixProducts::workspace(const Matmul&) { return Bytes(workspace_bytes); }

MatrixProducts::Plan& MatrixProducts::plan_of(const ProductShape& shape, const Matmul& args) {
  std::unique_ptr<Plan>& plan = plans_[shape];
  if (plan == nullptr) plan = std::make_unique<Plan>(handle_, shape, args);
  return *plan;
}

void MatrixProducts::run(const Matmul& args, cudaStream_t stream) {
  const ProductShape shape = product_shape(args);
  if (shape.m == 0 || shape.n == 0) return;
  check(shape.k > 0, "a product sums over something");
  plan_of(shape, args).run(handle_, args, stream);
}

}  // namespace plumbline
