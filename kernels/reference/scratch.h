#pragma once
/// \file scratch.h: a workspace handed out piece by piece. The same code on no memory at all counts what it would take.

#include <cstdint>

#include "core/base/errors.h"
#include "kernels/tensor_view.h"

namespace plumbline::reference {

class Scratch {
 public:
  /// Only counts: pieces are null.
  Scratch() = default;
  explicit Scratch(const Workspace& workspace) : workspace_(workspace), is_counting_(false) {}

  /// The next `count` floats, at an address that is a multiple of 64 bytes from the begin.
  float* floats(std::int64_t count) { return static_cast<float*>(bytes(count * std::int64_t{sizeof(float)})); }

  [[nodiscard]] Bytes used() const { return used_; }

 private:
  void* bytes(std::int64_t count) {
    const Bytes begin = used_;
    used_ += Bytes((count + 63) / 64 * 64);
    if (is_counting_) return nullptr;
    check(used_ <= workspace_.size, "the workspace is as large as the op's workspace function says");
    return static_cast<std::byte*>(workspace_.data) + begin.value();
  }

  Workspace workspace_;
  bool is_counting_ = true;
  Bytes used_{0};
};

}  // namespace plumbline::reference
