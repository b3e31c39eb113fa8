#pragma once
/// \file mpi_transport.h: the messages of a session over MPI.
///
/// Model: one thread receives whatever comes and completes sends, so that a rank that computes still delivers; it
/// sleeps between looks. MPI is called by one thread at a time.
/// Source: MPI 3.1, chapters 3 (matched probes, order of messages), 5.12 (barriers that do not block), 12 (threads).
/// Checked against: tests/runtime/mpi/mpi_test.py. This header needs no MPI.

#include <functional>
#include <memory>
#include <thread>

#include "runtime/mpi/peer_channel.h"

namespace plumbline {

/// At most one in the life of a process.
class MpiTransport final : public PeerChannel {
 public:
  /// What the thread calls.
  struct Receiver {
    /// Messages of one rank come in the order of their sends.
    std::function<void(std::int32_t from, PeerMessage kind, std::span<const std::byte> data)> on_message;
    /// Nothing more will come, and why.
    std::function<void(const std::string& text)> on_end;
  };

  /// Starts MPI. Throws InputError when a launcher's variables contradict it, EnvironmentError when it cannot start.
  MpiTransport();
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] std::int32_t rank() const override { return rank_; }
  [[nodiscard]] std::int32_t size() const override { return size_; }
  /// How many of the ranks share this computer's memory.
  [[nodiscard]] std::int32_t ranks_on_host() const { return ranks_on_host_; }

  /// Starts the thread.
  void start(Receiver receiver);
  void send(std::int32_t to, PeerMessage kind, std::vector<std::byte> data) override;
  [[nodiscard]] bool has_sent_all() override;
  void enter_barrier();
  [[nodiscard]] bool has_barrier_completed();

  /// Ends the thread; nothing is received or sent any more.
  void stop();
  /// Ends MPI, behind `stop`.
  void finalize();
  [[nodiscard]] bool is_finalized() const { return is_finalized_; }

 private:
  struct Requests;

  void receive_until_stopped();
  [[nodiscard]] bool begin_receive();
  [[nodiscard]] bool complete_receives();
  void complete_sends();

  std::int32_t rank_ = 0;
  std::int32_t size_ = 1;
  std::int32_t ranks_on_host_ = 1;
  bool is_finalized_ = false;
  std::unique_ptr<Requests> requests_;
  Receiver receiver_;
  std::thread thread_;
};

}  // namespace plumbline
