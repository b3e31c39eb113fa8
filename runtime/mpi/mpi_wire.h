#pragma once
/// \file mpi_wire.h: what the communicators of an MPI rank send and wait through, with all that a failed wait can say.
///
/// Checked against: tests/runtime/mpi/mpi_test.py.

#include "runtime/communication/wire.h"
#include "runtime/mpi/failure_detector.h"
#include "runtime/mpi/fragments.h"
#include "runtime/mpi/mpi_session.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/mpi/wait_graph.h"

namespace plumbline {

class MpiWire final : public Wire {
 public:
  explicit MpiWire(const MpiOptions& options);
  ~MpiWire() override;
  MpiWire(const MpiWire&) = delete;
  MpiWire& operator=(const MpiWire&) = delete;

  [[nodiscard]] MpiTransport& transport() { return transport_; }
  [[nodiscard]] FailureDetector& failures() { return failures_; }

  [[nodiscard]] std::int32_t own_rank() const override { return transport_.rank(); }
  void post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) override;
  [[nodiscard]] Message take(const MessageKey& key, const CallSite& site) override;
  void enter(const CallSite&) override {}
  void leave() override {}
  void abandon(const std::string& failure) override { mailbox_.fail(failure); }

  /// Waits until all ranks have come here, then ends MPI. Throws CommunicationError when one does not come in time.
  void finish();

 private:
  void receive(std::int32_t from, PeerMessage kind, std::span<const std::byte> data);
  void receive_fragment(std::int32_t from, std::span<const std::byte> fragment);
  void wait_at_end(const std::string& what, const std::function<bool()>& is_done);

  MpiOptions options_;
  MpiTransport transport_;
  Mailbox mailbox_;
  FragmentJoiner joiner_;  ///< of the transport's thread
  FailureDetector failures_;
  WaitGraph waits_;
};

}  // namespace plumbline
