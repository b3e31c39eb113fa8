#include "runtime/mpi/mpi_wire.h"

namespace plumbline {
namespace {}  // namespace

MpiWire::MpiWire(const MpiOptions& options) : options_(options), failures_(transport_, mailbox_), waits_(transport_) {
  transport_.start(
      {[this](std::int32_t from, PeerMessage kind, std::span<const std::byte> data) { receive(from, kind, data); },
       [this](const std::string& text) { mailbox_.fail(text); }});
}

MpiWire::~MpiWire() { transport_.stop(); }

void MpiWire::post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) {
  FragmentHeader header;
  header.group = group;
  header.tag = tag;
  header.action = failures_.action();
  send_fragments(message, header, options_.largest_fragment,
                 [&](std::vector<std::byte> data) { transport_.send(to, PeerMessage::data, std::move(data)); });
}

/// A rank whose wait has failed is still waiting for those who ask it.
Message MpiWire::take(const MessageKey& key, const CallSite& site) {
  waits_.wait_for(key.from);
  Message message =
      take_or_explain(mailbox_, key, site, own_rank(), options_.deadline, [&] { return waits_.chain_from(key.from); });
  waits_.stop_waiting();
  return message;
}

void MpiWire::finish() {
  wait_at_end("its messages to be received", [this] { return transport_.has_sent_all(); });
  waits_.finish();
  transport_.enter_barrier();
  wait_at_end("the other ranks to finish", [this] { return transport_.has_barrier_completed(); });
  transport_.stop();
  transport_.finalize();
}

void MpiWire::receive(std::int32_t from, PeerMessage kind, std::span<const std::byte> data) {
  switch (kind) {
    case PeerMessage::data: return receive_fragment(from, data);
    case PeerMessage::failure: return failures_.receive_failure(from, data);
    case PeerMessage::status: return failures_.receive_status(from, data);
    case PeerMessage::wait_question: return waits_.receive_question(from);
    case PeerMessage::wait_answer: return waits_.receive_answer(from, data);
  }
}

void MpiWire::receive_fragment(std::int32_t from, std::span<const std::byte> fragment) {
  const FragmentHeader header = fragment_header(fragment);
  failures_.receive_action(from, header.action);
  const MessageKey key{header.group, from, header.tag};
  if (auto message = joiner_.add(key, fragment)) mailbox_.deposit(key, std::move(*message));
}

void MpiWire::wait_at_end(const std::string& what, const std::function<bool()>& is_done) {
  const auto deadline = Clock::now() + options_.deadline;
  while (!is_done()) {
    if (const auto failure = mailbox_.failure())
      throw CommunicationError(rank_name(own_rank()) + " stopped at its end: " + *failure);
    if (Clock::now() > deadline)
      throw CommunicationError(rank_name(own_rank()) + " waited " + duration_text(options_.deadline) +
                               " at its end for " + what + waits_.unfinished_ranks());
    std::this_thread::sleep_for(idle_sleep);
  }
}

}  // namespace plumbline
