#pragma once
/// \file kernel_time.h: seconds that one kernel takes on one device.
///
/// Products: the larger of arithmetic at peak * efficiency and memory traffic; efficiency falls with a short inner
/// dimension (K / (K + K0)) and with the shape of the product (product_shapes.h). Scales of rows are applied to what a
/// product writes, those of blocks to each partial sum of 128: by CUDA cores beside Hopper's tensor cores (DeepSeek-V3,
/// arXiv:2412.19437, section 3.3.2), by the tensor cores themselves since Blackwell, where Transformer Engine computes
/// its block recipe as MX. A convolution is the product that cuDNN computes implicitly (arXiv:1410.0759): patches are
/// made on chip, so that memory sees input, weights and output alone. Weight gradients are summed over all positions:
/// their inner dimension is split until the device is full (CUTLASS, implicit_gemm_convolution.md, split-k slices).
/// Attention: fused kernels compute small heads more slowly (exponentials.h), skip the upper triangle of a causal mask
/// and do five products backward for two forward; unfused ones do all of it and stream the scores. Dropout inside a
/// fused kernel adds what was measured of it, a byte a score. A delta rule's products are priced as batched ones of the
/// chunks, whose operands pass through memory, as no measurement of its kernels is known; its backward makes the first
/// of them again. Everything else: bytes over bandwidth, times a factor of its kind where that was measured. Source:
/// tile and wave quantisation as in NVIDIA's matrix-multiplication guide; efficiencies from calibration files. Not
/// modelled: caches between kernels, clock changes within a step.

#include "core/cost/calibration.h"
#include "core/cost/product_shapes.h"
#include "core/cost/quantisation.h"
#include "core/machine/device.h"
#include "core/sharding/op_work.h"

namespace plumbline {

/// Prices kernels of one device under one calibration.
class KernelClock {
 public:
  KernelClock(const Device& device, const Calibration& calibration);

  [[nodiscard]] Seconds product(const MatrixProduct& product, NumberFormat format,
                                OperandScaling scaling = OperandScaling::tensor) const;
  /// Of the implicit product of a convolution, in 16 bits or more: `elements` are what it reads and writes.
  [[nodiscard]] Seconds convolution(const MatrixProduct& product, std::int64_t elements, NumberFormat format) const;
  /// Experts' products, one launch for all.
  [[nodiscard]] Seconds grouped_product(const MatrixProduct& product, NumberFormat format,
                                        OperandScaling scaling = OperandScaling::tensor) const;
  [[nodiscard]] Seconds attention_forward(const AttentionWork& work, FlashAttention flash, NumberFormat format) const;
  [[nodiscard]] Seconds attention_backward(const AttentionWork& work, FlashAttention flash, NumberFormat format) const;
  /// The products of a delta rule as batched ones, and what is copied around them.
  [[nodiscard]] Seconds delta_rule_forward(const OpWork& work, NumberFormat format) const;
  [[nodiscard]] Seconds delta_rule_backward(const OpWork& work, NumberFormat format) const;
  /// A memory-bound kernel of the layers.
  [[nodiscard]] Seconds memory(Bytes traffic) const;
  /// The same of an operator whose kind the device's calibration may know.
  [[nodiscard]] Seconds memory_forward(OpKind kind, Bytes traffic) const;
  [[nodiscard]] Seconds memory_backward(OpKind kind, Bytes traffic) const;
  /// As `memory`, for tokens on their way to experts and back.
  [[nodiscard]] Seconds routing(Bytes traffic) const;
  /// As `memory`, for the loss over the vocabulary.
  [[nodiscard]] Seconds loss(Bytes traffic) const;
  /// Plain streaming (optimizer, accumulation, casts).
  [[nodiscard]] Seconds stream(double bytes) const;

  /// In which layouts its tensor cores take operands in fp8.
  [[nodiscard]] OperandLayouts fp8_layouts() const;

  [[nodiscard]] const Calibration& calibration() const { return calibration_; }
  [[nodiscard]] const ProductShapes& shapes() const { return *calibration_.device.shapes; }

 private:
  /// Of operands with such scales, over the rate of those with one.
  [[nodiscard]] double scaled_rate(NumberFormat format, OperandScaling scaling) const;
  /// What is said of a product beside its shape and format.
  struct ProductTerms {
    double elements = 0;  ///< read and written
    double factor = 1;    ///< of the rate
    double depth_scale = 1;
    DepthParts parts = DepthParts::listed;
  };
  /// tf32 where it is no slower than fp32, in which libraries compute it otherwise: devices without such units, and
  /// those whose units are no faster.
  [[nodiscard]] Seconds timed_product(const MatrixProduct& product, NumberFormat format,
                                      const ProductTerms& terms) const;
  [[nodiscard]] Seconds product_in(const MatrixProduct& product, NumberFormat format, const ProductTerms& terms) const;
  [[nodiscard]] Seconds memory(Bytes traffic, double factor) const;
  /// Of a device and a size of heads (exponentials.h).
  using SoftmaxFactor = double (*)(const Device& device, double head);
  [[nodiscard]] Seconds fused_attention(const AttentionWork& work, NumberFormat format, SoftmaxFactor softmax) const;
  [[nodiscard]] Seconds attention_dropout(const AttentionWork& work, Coefficient OperatorTraffic::*direction) const;
  [[nodiscard]] Seconds unfused_attention(const AttentionWork& work, NumberFormat format, int products,
                                          double score_bytes) const;

  Device device_;
  Calibration calibration_;
};

}  // namespace plumbline
