#pragma once
/// \file working_ledger.h: bytes that live while a block runs, counted as they are bound and released.
///
/// Answers the most that lived at once and what was put off to weight gradients. A buffer is bound once and never used
/// again; several values may hold it, the last one's release frees it.
/// Not modelled: alignment, an allocator's loss.
/// Checked against: tests/runtime/execution/strategies_test.cpp, through working_set.h.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

/// Counted memory. A handle is an index.
class WorkingLedger {
 public:
  enum class Kind : std::uint8_t { working, deferred, elsewhere };
  static constexpr std::int32_t none = -1;

  std::int32_t bind(Bytes bytes, Kind kind = Kind::working) {
    buffers_.push_back({bytes, 1, kind});
    count(bytes, kind);
    return static_cast<std::int32_t>(buffers_.size()) - 1;
  }
  std::int32_t share(std::int32_t handle) {
    ++of(handle).holders;
    return handle;
  }
  void release(std::int32_t& handle) {
    if (handle == none) return;
    Buffer& buffer = of(handle);
    if (--buffer.holders == 0) count(Bytes(-buffer.bytes.value()), buffer.kind);
    handle = none;
  }
  void defer(std::int32_t handle) {
    Buffer& buffer = of(handle);
    if (buffer.kind != Kind::working) return;
    working_ -= buffer.bytes;
    deferred_ += buffer.bytes;
    buffer.kind = Kind::deferred;
  }
  [[nodiscard]] bool is_unique(std::int32_t handle) const { return buffers_[at(handle)].holders == 1; }
  [[nodiscard]] Bytes bytes(std::int32_t handle) const { return buffers_[at(handle)].bytes; }
  [[nodiscard]] Bytes most() const { return most_; }
  [[nodiscard]] Bytes deferred() const { return deferred_; }

 private:
  struct Buffer {
    Bytes bytes{0};
    std::int32_t holders = 1;
    Kind kind = Kind::working;
  };
  static std::size_t at(std::int32_t handle) { return static_cast<std::size_t>(handle); }
  Buffer& of(std::int32_t handle) { return buffers_[at(handle)]; }
  void count(Bytes bytes, Kind kind) {
    if (kind == Kind::working) working_ += bytes;
    if (kind == Kind::deferred) deferred_ += bytes;
    most_ = std::max(most_, working_);
  }

  std::vector<Buffer> buffers_;
  Bytes working_{0};
  Bytes deferred_{0};
  Bytes most_{0};
};

}  // namespace plumbline
