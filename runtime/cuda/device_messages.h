#pragma once
/// \file device_messages.h: messages between the ranks of one process whose tensors lie in one GPU's memory.
///
/// Answers: what runtime/communication/exchange_communicator.h asks of messages, in the order of streams: collectives
/// of local ranks then have the bits, the counted bytes and the order of sums that they have on the CPU. Model: a
/// message is a copy in memory of the sender's; an event says when it is written, another one when it is read and may
/// be used again. The host hands pointers and events over, and waits for other ranks' hosts alone. Source:
/// docs/decisions/0012-sums-in-rank-order.md, 0050-local-ranks-on-one-gpu.md. Not modelled: several GPUs, several
/// processes. Checked against: tests/cuda/device_messages_test.cpp, tests/cuda/training_test.cpp.

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/communication/message_memory.h"

namespace plumbline {

class StagingPool;

class DeviceMessages : public MessageMemory {
 public:
  DeviceMessages();
  ~DeviceMessages() override;

  void fill(Message& message, std::span<const std::byte> chunk) override;
  [[nodiscard]] std::span<const std::byte> content(const Message& message) override;
  void done(const Message& message) override;
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override;
  void reduce(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
              ElementFormat format, Reduction reduction) override;
  /// Pieces of memory that messages were ever given.
  [[nodiscard]] std::size_t pieces() const;

 private:
  std::unique_ptr<StagingPool> pool_;
};

}  // namespace plumbline
