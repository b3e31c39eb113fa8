#include "runtime/cuda/device_messages.h"

#include <atomic>

#include "core/quantity/text.h"
#include "runtime/cuda/cuda_event.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/reduce_contributions.h"

namespace plumbline {

/// Memory of one message at a time. The sender writes it, one receiver reads it.
struct StagedPiece {
  explicit StagedPiece(std::size_t bytes)
      : memory(reserve_device_memory(Bytes(static_cast<std::int64_t>(bytes)), MemoryUse::communication)), size(bytes) {}
  StagedPiece(const StagedPiece&) = delete;
  StagedPiece& operator=(const StagedPiece&) = delete;
  /// Streams may still write or read.
  ~StagedPiece() {
    (void)cudaEventSynchronize(written.get());
    (void)cudaEventSynchronize(read.get());
  }

  DeviceMemory memory;
  std::size_t size;
  CudaEvent written;
  CudaEvent read;
  std::atomic<bool> is_free = true;  ///< its reader has recorded `read`
};

namespace {

class StagedBytes : public DeviceBytes {
 public:
  StagedBytes(std::shared_ptr<StagedPiece> piece, std::size_t size) : piece_(std::move(piece)), size_(size) {}
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] StagedPiece& piece() const { return *piece_; }

 private:
  std::shared_ptr<StagedPiece> piece_;
  std::size_t size_;
};

StagedPiece& piece_of(const Message& message) {
  const auto* const staged = dynamic_cast<const StagedBytes*>(message.on_device.get());
  check(staged != nullptr, "what a device receives was sent by a device of this process");
  return staged->piece();
}

}  // namespace

/// Of one sender, used by its thread alone.
class StagingPool {
 public:
  [[nodiscard]] std::shared_ptr<StagedPiece> piece(std::size_t bytes) {
    std::shared_ptr<StagedPiece>* best = nullptr;
    for (std::shared_ptr<StagedPiece>& one : pieces_)
      if (one->size >= bytes && one->is_free && (best == nullptr || one->size < (*best)->size)) best = &one;
    if (best != nullptr) return *best;
    return pieces_.emplace_back(std::make_shared<StagedPiece>(bytes));
  }
  [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

 private:
  std::vector<std::shared_ptr<StagedPiece>> pieces_;
};

DeviceMessages::DeviceMessages() : pool_(std::make_unique<StagingPool>()) {}
DeviceMessages::~DeviceMessages() = default;

std::size_t DeviceMessages::pieces() const { return pool_->pieces(); }

void DeviceMessages::fill(Message& message, std::span<const std::byte> chunk) {
  if (chunk.empty()) return;
  const std::shared_ptr<StagedPiece> piece = pool_->piece(chunk.size());
  piece->is_free = false;
  piece->read.hold_back(current_stream());
  copy(chunk, {piece->memory.get(), chunk.size()});
  piece->written.record(current_stream());
  message.on_device = std::make_shared<StagedBytes>(piece, chunk.size());
}

std::span<const std::byte> DeviceMessages::content(const Message& message) {
  if (message.size() == 0) return {};
  StagedPiece& piece = piece_of(message);
  piece.written.hold_back(current_stream());
  return {piece.memory.get(), message.size()};
}

void DeviceMessages::done(const Message& message) {
  if (message.size() == 0) return;
  StagedPiece& piece = piece_of(message);
  piece.read.record(current_stream());
  piece.is_free = true;
}

void DeviceMessages::copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.empty() || from.data() == to.data()) return;
  require(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToDevice, current_stream()),
          "cudaMemcpyAsync of " + to_text(Bytes(static_cast<std::int64_t>(from.size()))) + " between ranks");
}

void DeviceMessages::reduce(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                            ElementFormat format, Reduction reduction) {
  if (!result.empty()) reduce_contributions(contributions, result, format, reduction, current_stream());
}

}  // namespace plumbline
