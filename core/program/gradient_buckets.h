#pragma once
/// \file gradient_buckets.h: which gradients may be reduced while a segment makes its own, and which after it.
///
/// Answers: bytes, segment by segment. Model: gradients fill buckets in the order of the backward; a full bucket is
/// sent. Buckets are counted from the last one, which is taken as full. Inside a segment of several units every unit
/// but the last one fills its buckets while the segment is still at work. A bucket smaller than a unit is as large as
/// the unit.
/// Source: PyTorch's DistributedDataParallel and Megatron-LM's ddp-bucket-size.
/// Not modelled: gradients in an order that is not the backward's; parameters that share a bucket across chunks of V.
/// Checked against: tests/unit/core/program/gradient_buckets_test.cpp, by hand.

#include <algorithm>

#include "core/quantity/quantity.h"

namespace plumbline {

template <class Amount>
class GradientBuckets {
 public:
  struct Ready {
    Amount overlapped{0};  ///< while the segment is at work
    Amount after{0};       ///< when it has ended
  };

  GradientBuckets() = default;
  GradientBuckets(Amount total, Amount bucket) : total_(total), bucket_(bucket) {}

  /// The next segment's gradients, made by `units` units.
  [[nodiscard]] Ready add(Amount made, std::int64_t units) {
    const Amount unit = made / std::max<std::int64_t>(1, units);
    const Amount before_last_unit = units > 1 ? made_ + made - unit : made_;
    made_ += made;
    Ready ready;
    ready.overlapped = send(full(before_last_unit, unit));
    ready.after = send(made_ >= total_ ? made_ : full(made_, unit));
    return ready;
  }

 private:
  /// Of the first `made`, those in full buckets.
  [[nodiscard]] Amount full(Amount made, Amount unit) const {
    if (bucket_ <= unit || bucket_.value() == 0) return made;
    const std::int64_t left = (total_ - made).value();
    const std::int64_t open = (left + bucket_.value() - 1) / bucket_.value();
    return Amount(total_.value() - open * bucket_.value());
  }
  Amount send(Amount up_to) {
    const Amount bytes = std::max(Amount(0), up_to - sent_);
    sent_ += bytes;
    return bytes;
  }

  Amount total_{0};
  Amount bucket_{0};
  Amount made_{0};
  Amount sent_{0};
};

}  // namespace plumbline
