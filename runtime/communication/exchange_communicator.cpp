#include "runtime/communication/exchange_communicator.h"

#include <algorithm>
#include <functional>

#include "core/base/errors.h"
#include "runtime/communication/message_memory.h"

namespace plumbline {
namespace {

constexpr std::int32_t collective_tag = -1;  // those of messages are not negative

struct ByteRange {
  std::size_t first = 0;
  std::size_t size = 0;
};

ByteRange owned_bytes(std::size_t all, std::int32_t ranks, std::int32_t index, ElementFormat format) {
  const std::int64_t width = element_bytes(format);
  const ElementRange owned = owned_range(static_cast<std::int64_t>(all) / width, ranks, index);
  return {static_cast<std::size_t>(owned.first * width), static_cast<std::size_t>(owned.count * width)};
}

std::span<const std::byte> part(std::span<const std::byte> data, ByteRange range) {
  return data.subspan(range.first, range.size);
}
std::span<std::byte> part(std::span<std::byte> data, ByteRange range) { return data.subspan(range.first, range.size); }

void check_whole(std::span<const std::byte> data, ElementFormat format) {
  check(static_cast<std::int64_t>(data.size()) % element_bytes(format) == 0, "a buffer holds whole elements");
}

std::vector<ByteRange> ranges_of(std::span<const std::int64_t> counts, ElementFormat format) {
  std::vector<ByteRange> ranges;
  std::size_t first = 0;
  for (const std::int64_t count : counts) {
    check(count >= 0, "counts of elements are not negative");
    const auto size = static_cast<std::size_t>(count * element_bytes(format));
    ranges.push_back({first, size});
    first += size;
  }
  return ranges;
}

std::vector<ByteRange> equal_ranges(std::size_t all, std::int32_t ranks, ElementFormat format) {
  std::vector<ByteRange> ranges;
  for (std::int32_t rank = 0; rank < ranks; ++rank) ranges.push_back(owned_bytes(all, ranks, rank, format));
  return ranges;
}

void check_parts(const std::vector<ByteRange>& parts, std::size_t whole, std::int32_t index, std::size_t own) {
  check(parts.back().first + parts.back().size == whole, "parts of different sizes cover their buffer");
  check(parts.at(static_cast<std::size_t>(index)).size == own, "a rank's own part has the size that its count says");
}

}  // namespace

/// One call of one rank: hands chunks over, takes them in, and says where the rank is meanwhile.
class ExchangeCommunicator::Call {
 public:
  Call(ExchangeCommunicator& owner, Collective kind) : Call(owner, kind, collective_tag, owner.sequence_++) {}
  Call(ExchangeCommunicator& owner, std::int32_t tag) : Call(owner, Collective::send_receive, tag, 0) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { owner_.wire_->leave(); }

  void count() { ++owner_.sent_.calls[static_cast<std::size_t>(site_.kind)]; }

  /// The only place from which bytes leave a rank, and the only one that counts them.
  void hand_over(std::int32_t to, std::span<const std::byte> chunk) {
    Message message{site_.kind, site_.sequence, {}};
    memory_.fill(message, chunk);
    owner_.wire_->post(rank_at(to), owner_.key_, tag_, std::move(message));
    owner_.sent_.bytes[static_cast<std::size_t>(site_.kind)] += Bytes(static_cast<std::int64_t>(chunk.size()));
  }

  [[nodiscard]] Message take_in(std::int32_t from, std::size_t size) {
    Message message = owner_.wire_->take({owner_.key_, rank_at(from), tag_}, site_);
    if (message.kind == site_.kind && message.sequence == site_.sequence && message.size() == size) return message;
    const CallSite sent{site_.group, message.kind, message.sequence};
    throw InternalError("rank " + std::to_string(owner_.wire_->own_rank()) + " in " + to_text(site_) + " expected " +
                        std::to_string(size) + " bytes; rank " + std::to_string(rank_at(from)) + " sent " +
                        std::to_string(message.size()) + " bytes of " + to_text(sent));
  }
  void take_into(std::int32_t from, std::span<std::byte> chunk) {
    const Message message = take_in(from, chunk.size());
    memory_.copy(memory_.content(message), chunk);
    memory_.done(message);
  }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) { memory_.copy(from, to); }

  /// `parts`: of `data`, by rank.
  void reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, const std::vector<ByteRange>& parts,
                      ElementFormat format, Reduction reduction);
  void all_gather(std::span<std::byte> all, ElementFormat format);

 private:
  Call(ExchangeCommunicator& owner, Collective kind, std::int32_t tag, std::int64_t sequence)
      : owner_(owner), site_{owner.set_.name, kind, sequence}, tag_(tag) {
    owner_.wire_->enter(site_);
  }
  [[nodiscard]] std::int32_t rank_at(std::int32_t index) const {
    return owner_.set_.ranks[static_cast<std::size_t>(index)];
  }

  ExchangeCommunicator& owner_;
  CallSite site_;
  std::int32_t tag_;
  MessageMemory& memory_ = message_memory();
};

ExchangeCommunicator::ExchangeCommunicator(std::shared_ptr<Wire> wire, RankSet set, std::int32_t instance)
    : wire_(std::move(wire)), set_(std::move(set)), key_(group_key(set_, instance)) {
  const auto own = std::find(set_.ranks.begin(), set_.ranks.end(), wire_->own_rank());
  check(own != set_.ranks.end(), "a rank makes communicators of its own groups only");
  check(std::adjacent_find(set_.ranks.begin(), set_.ranks.end(), std::greater_equal<>()) == set_.ranks.end(),
        "ranks of a group ascend");
  index_ = static_cast<std::int32_t>(own - set_.ranks.begin());
}

void ExchangeCommunicator::Call::reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                                                const std::vector<ByteRange>& parts, ElementFormat format,
                                                Reduction reduction) {
  const std::int32_t ranks = owner_.set_.size();
  const std::int32_t me = owner_.index_;
  for (std::int32_t step = 1; step < ranks; ++step) {
    const std::int32_t to = (me + step) % ranks;
    hand_over(to, part(data, parts[static_cast<std::size_t>(to)]));
  }
  std::vector<Message> received(static_cast<std::size_t>(ranks));
  std::vector<std::span<const std::byte>> contributions;
  for (std::int32_t from = 0; from < ranks; ++from) {
    Message& chunk = received[static_cast<std::size_t>(from)];
    if (from != me) chunk = take_in(from, own.size());
    contributions.emplace_back(from == me ? part(data, parts[static_cast<std::size_t>(me)]) : memory_.content(chunk));
  }
  memory_.reduce(contributions, own, format, reduction);
  for (std::int32_t from = 0; from < ranks; ++from)
    if (from != me) memory_.done(received[static_cast<std::size_t>(from)]);
}

void ExchangeCommunicator::Call::all_gather(std::span<std::byte> all, ElementFormat format) {
  const std::int32_t ranks = owner_.set_.size();
  const std::int32_t me = owner_.index_;
  const std::int32_t next = (me + 1) % ranks;
  const std::int32_t previous = (me + ranks - 1) % ranks;
  for (std::int32_t step = 0; step + 1 < ranks; ++step) {
    const std::int32_t leaving = (me + ranks - step) % ranks;
    const std::int32_t coming = (previous + ranks - step) % ranks;
    hand_over(next, part(all, owned_bytes(all.size(), ranks, leaving, format)));
    take_into(previous, part(all, owned_bytes(all.size(), ranks, coming, format)));
  }
}

void ExchangeCommunicator::all_reduce(std::span<std::byte> data, ElementFormat format, Reduction reduction) {
  check_whole(data, format);
  Call call(*this, Collective::all_reduce);
  call.count();
  const std::vector<ByteRange> parts = equal_ranges(data.size(), set_.size(), format);
  call.reduce_scatter(data, part(data, parts[static_cast<std::size_t>(index_)]), parts, format, reduction);
  call.all_gather(data, format);
}

void ExchangeCommunicator::reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                                          ElementFormat format, Reduction reduction) {
  check_whole(data, format);
  check(own.size() == owned_bytes(data.size(), set_.size(), index_, format).size,
        "a reduce-scatter fills the rank's own chunk");
  Call call(*this, Collective::reduce_scatter);
  call.count();
  call.reduce_scatter(data, own, equal_ranges(data.size(), set_.size(), format), format, reduction);
}

void ExchangeCommunicator::reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                                          std::span<const std::int64_t> counts, ElementFormat format,
                                          Reduction reduction) {
  const std::vector<ByteRange> parts = ranges_of(counts, format);
  check_parts(parts, data.size(), index_, own.size());
  Call call(*this, Collective::reduce_scatter);
  call.count();
  call.reduce_scatter(data, own, parts, format, reduction);
}

void ExchangeCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all,
                                      std::span<const std::int64_t> counts, ElementFormat format) {
  const std::vector<ByteRange> parts = ranges_of(counts, format);
  check_parts(parts, all.size(), index_, own.size());
  Call call(*this, Collective::all_gather);
  call.count();
  call.copy(own, part(all, parts[static_cast<std::size_t>(index_)]));
  const std::int32_t ranks = set_.size();
  for (std::int32_t step = 1; step < ranks; ++step)
    call.hand_over((index_ + step) % ranks, part(all, parts[static_cast<std::size_t>(index_)]));
  for (std::int32_t step = 1; step < ranks; ++step) {
    const std::int32_t from = (index_ + ranks - step) % ranks;
    call.take_into(from, part(all, parts[static_cast<std::size_t>(from)]));
  }
}

void ExchangeCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all, ElementFormat format) {
  check_whole(all, format);
  const std::span<std::byte> place = part(all, owned_bytes(all.size(), set_.size(), index_, format));
  check(own.size() == place.size(), "an all-gather gives the rank's own chunk");
  Call call(*this, Collective::all_gather);
  call.count();
  call.copy(own, place);
  call.all_gather(all, format);
}

void ExchangeCommunicator::all_to_all(std::span<const std::byte> data, std::span<const std::int64_t> send_counts,
                                      std::span<std::byte> received, std::span<const std::int64_t> receive_counts,
                                      ElementFormat format) {
  const std::vector<ByteRange> leaving = ranges_of(send_counts, format);
  const std::vector<ByteRange> coming = ranges_of(receive_counts, format);
  const auto ranks = static_cast<std::size_t>(set_.size());
  check(leaving.size() == ranks && coming.size() == ranks, "an all-to-all has one count for each rank");
  check(leaving.back().first + leaving.back().size == data.size() &&
            coming.back().first + coming.back().size == received.size(),
        "counts of an all-to-all cover its buffers");
  const auto me = static_cast<std::size_t>(index_);
  check(leaving[me].size == coming[me].size, "a rank takes from itself what it gives itself");
  Call call(*this, Collective::all_to_all);
  call.count();
  call.copy(part(data, leaving[me]), part(received, coming[me]));
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t to = (me + step) % ranks;
    call.hand_over(static_cast<std::int32_t>(to), part(data, leaving[to]));
  }
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t from = (me + ranks - step) % ranks;
    call.take_into(static_cast<std::int32_t>(from), part(received, coming[from]));
  }
}

void ExchangeCommunicator::broadcast(std::span<std::byte> data, std::int32_t root) {
  const std::int32_t ranks = set_.size();
  check(root >= 0 && root < ranks, "the root of a broadcast is in its group");
  Call call(*this, Collective::broadcast);
  call.count();
  if (index_ != root) call.take_into((index_ + ranks - 1) % ranks, data);
  const std::int32_t next = (index_ + 1) % ranks;
  if (next != root) call.hand_over(next, data);
}

void ExchangeCommunicator::send(std::span<const std::byte> data, std::int32_t to, std::int32_t tag) {
  check(to >= 0 && to < set_.size() && to != index_ && tag >= 0, "a message goes to another rank of the group");
  Call call(*this, tag);
  call.count();
  call.hand_over(to, data);
}

void ExchangeCommunicator::receive(std::span<std::byte> data, std::int32_t from, std::int32_t tag) {
  check(from >= 0 && from < set_.size() && from != index_ && tag >= 0,
        "a message comes from another rank of the group");
  Call call(*this, tag);
  call.take_into(from, data);
}

void ExchangeCommunicator::barrier() {
  Call call(*this, Collective::barrier);
  call.count();
  const std::int32_t ranks = set_.size();
  for (std::int32_t distance = 1; distance < ranks; distance *= 2) {
    call.hand_over((index_ + distance) % ranks, {});
    call.take_into((index_ + ranks - distance) % ranks, {});
  }
}

}  // namespace plumbline
