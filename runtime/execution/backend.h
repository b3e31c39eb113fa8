#pragma once
/// \file backend.h: memory for tensors on one rank: bound, counted by class, and given back.
///
/// Model: memory that was given back serves the next tensor of its size, so that after the first step nothing is
/// allocated. Memory that nobody has written holds NaN when `poison` is asked: a kernel that reads it is found.
/// Not modelled: memory of other devices than the CPU.
/// Checked against: tests/runtime/execution/live_bytes_test.cpp.

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/tensor_view.h"
#include "runtime/execution/live_bytes.h"

namespace plumbline {

enum class Poison : std::uint8_t { no, yes };

class Backend;

/// Memory of kernels that is no tensor: their own scratch, and operands cast for one product.
enum class ScratchUse : std::uint8_t { kernel, input, weight, gradient };

/// Memory that is bound to a tensor until its last holder lets go.
class BoundBuffer {
 public:
  BoundBuffer(Backend& backend, MemoryClass memory_class, Bytes bytes);
  BoundBuffer(const BoundBuffer&) = delete;
  BoundBuffer& operator=(const BoundBuffer&) = delete;
  ~BoundBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// From here on it counts as another class.
  void count_as(MemoryClass memory_class);

 private:
  Backend& backend_;
  MemoryClass class_;
  Bytes bytes_;
  std::byte* data_;
};
using BufferRef = std::shared_ptr<BoundBuffer>;
[[nodiscard]] inline std::span<std::byte> span_of(const BufferRef& buffer) {
  return {buffer->data(), static_cast<std::size_t>(buffer->bytes().value())};
}

class Backend {
 public:
  explicit Backend(Poison poison = Poison::no) : poison_(poison) {}
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] BufferRef bind(MemoryClass memory_class, Bytes bytes) {
    return std::make_shared<BoundBuffer>(*this, memory_class, bytes);
  }
  /// The same memory for each call of one use; not counted as live.
  [[nodiscard]] Workspace workspace(Bytes bytes, ScratchUse use = ScratchUse::kernel);
  /// Memory for as long as the backend lives, for what is no tensor: token ids, frequencies, scales, sums of a step.
  /// Not counted as live.
  [[nodiscard]] void* reserve(Bytes bytes) { return reserved_.emplace_back(allocate(bytes)).get(); }
  [[nodiscard]] LiveBytes& live() { return live_; }
  [[nodiscard]] Bytes workspace_bytes() const {
    Bytes sum(0);
    for (const Scratch& one : scratch_) sum += one.size;
    return sum;
  }
  /// What the system gave for tensors.
  [[nodiscard]] Bytes arena_bytes() const { return arena_; }

 private:
  friend class BoundBuffer;
  struct Aligned {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Aligned>;

  [[nodiscard]] std::byte* take(Bytes bytes);
  void give_back(std::byte* data, Bytes bytes);
  [[nodiscard]] static Memory allocate(Bytes bytes);

  Poison poison_;
  LiveBytes live_;
  std::vector<Memory> owned_;
  std::vector<Memory> reserved_;
  std::map<Bytes, std::vector<std::byte*>> idle_;
  Bytes arena_{0};
  struct Scratch {
    Memory memory;
    Bytes size{0};
  };
  std::array<Scratch, 4> scratch_;  ///< by ScratchUse
};

}  // namespace plumbline
