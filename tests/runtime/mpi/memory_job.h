#pragma once
/// \file memory_job.h: the ranks of a job in one thread: what one sends is received before `send` returns.

#include <memory>
#include <set>

#include "runtime/mpi/failure_detector.h"
#include "runtime/mpi/wait_graph.h"

namespace plumbline {

class MemoryJob {
 public:
  struct Rank : PeerChannel {
    Rank(MemoryJob& all, std::int32_t number, std::int32_t ranks) : job(all), own(number), count(ranks) {}
    [[nodiscard]] std::int32_t rank() const override { return own; }
    [[nodiscard]] std::int32_t size() const override { return count; }
    void send(std::int32_t to, PeerMessage kind, std::vector<std::byte> data) override {
      job.deliver(own, to, kind, data);
    }
    [[nodiscard]] bool has_sent_all() override { return true; }

    MemoryJob& job;
    std::int32_t own;
    std::int32_t count;
    Mailbox mailbox;
    FailureDetector failures{*this, mailbox};
    WaitGraph waits{*this};
  };

  explicit MemoryJob(std::int32_t ranks) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank, ranks));
  }
  Rank& operator[](std::size_t rank) { return *ranks_[rank]; }
  /// From here this rank receives nothing, as a process that was stopped.
  void stop(std::int32_t rank) { stopped_.insert(rank); }
  void go_on(std::int32_t rank) { stopped_.erase(rank); }

 private:
  void deliver(std::int32_t from, std::int32_t to, PeerMessage kind, std::span<const std::byte> data) {
    if (stopped_.contains(to)) return;
    Rank& rank = *ranks_[static_cast<std::size_t>(to)];
    switch (kind) {
      case PeerMessage::data: break;
      case PeerMessage::failure: rank.failures.receive_failure(from, data); break;
      case PeerMessage::status: rank.failures.receive_status(from, data); break;
      case PeerMessage::wait_question: rank.waits.receive_question(from); break;
      case PeerMessage::wait_answer: rank.waits.receive_answer(from, data); break;
    }
  }

  std::vector<std::unique_ptr<Rank>> ranks_;
  std::set<std::int32_t> stopped_;
};

}  // namespace plumbline
