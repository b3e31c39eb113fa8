#pragma once
/// \file communicator.h: what a group of ranks says to each other, and how many bytes of it each rank sent.
///
/// Answers: collectives and messages over fp32, bf16, fp16 and plain bytes; counted bytes per kind of call.
/// Model: every rank of a group makes the same collective calls in the same order. Sums are formed in ascending rank
/// order, each chunk by the rank that owns it, in fp32, and rounded once to the format: the same bits in every run,
/// over every transport, and wherever in a buffer a number lies. `send` is buffered: it copies and returns. Source:
/// nccl-tests, doc/PERFORMANCE.md (volumes); docs/decisions/0012-sums-in-rank-order.md (order and hand-overs). Not
/// modelled: calls that return before they are done; reduction inside a switch; memory of messages on their way.
/// Checked against: tests/runtime/communication/local_communicator_threads_test.cpp (sums by hand, bytes of
/// core/sharding/collective.h), tests/runtime/mpi/mpi_test.py (the same bits and bytes over MPI).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/tensor_box.h"
#include "core/sharding/collective.h"

namespace plumbline {

enum class ElementFormat : std::uint8_t { fp32, bf16, fp16, bytes };
[[nodiscard]] std::string_view to_text(ElementFormat format);
[[nodiscard]] std::int64_t element_bytes(ElementFormat format);

inline constexpr std::size_t collective_count = collective_records.size();

/// Counted where a message leaves its rank. `calls` counts those that this rank made; of messages, the sends.
struct SentByKind {
  std::array<Bytes, collective_count> bytes{};
  std::array<std::int64_t, collective_count> calls{};

  [[nodiscard]] Bytes operator[](Collective kind) const { return bytes[static_cast<std::size_t>(kind)]; }
};

/// Ranks that speak with each other. `ranks` are numbers in the world, ascending; `name` is for messages and reports.
struct RankSet {
  std::string name;
  std::vector<std::int32_t> ranks;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(ranks.size()); }
};

/// Which of `elements` the rank at `index` owns in a reduce-scatter or all-gather: equal parts, the first
/// `elements % ranks` one longer.
[[nodiscard]] ElementRange owned_range(std::int64_t elements, std::int32_t ranks, std::int32_t index);

/// One rank's end of a group. Peers are named by their index in the group. A call throws CommunicationError (wire.h)
/// when a peer failed or stayed away past the deadline, InternalError when the ranks' calls do not fit together or
/// sizes are wrong. Buffers may be of any alignment.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual const RankSet& rank_set() const = 0;
  [[nodiscard]] virtual std::int32_t index() const = 0;
  [[nodiscard]] virtual const SentByKind& sent() const = 0;

  /// In place; no reduction of `bytes`. A maximum is a NaN where any rank has one.
  virtual void all_reduce(std::span<std::byte> data, ElementFormat format, Reduction reduction) = 0;
  /// `own` has the size of owned_range(elements of `data`); it may be that very part of `data`.
  virtual void reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, ElementFormat format,
                              Reduction reduction) = 0;
  /// `own` has the size of owned_range(elements of `all`); it may be that very part of `all`.
  virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all, ElementFormat format) = 0;
  // The same of parts that differ in size: `counts[i]` elements are rank i's, part after part. No ring: each rank sends
  // its own part to every other, or every other's part to its owner.
  virtual void reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                              std::span<const std::int64_t> counts, ElementFormat format, Reduction reduction) = 0;
  virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all,
                          std::span<const std::int64_t> counts, ElementFormat format) = 0;
  /// `send_counts[i]` elements of `data`, part after part, go to rank i; `receive_counts[i]` come from it. The two
  /// buffers may not overlap.
  virtual void all_to_all(std::span<const std::byte> data, std::span<const std::int64_t> send_counts,
                          std::span<std::byte> received, std::span<const std::int64_t> receive_counts,
                          ElementFormat format) = 0;
  virtual void broadcast(std::span<std::byte> data, std::int32_t root) = 0;
  /// Buffered: `data` may be changed as soon as the call returns. `tag` is not negative; messages of one tag between
  /// two ranks arrive in order.
  virtual void send(std::span<const std::byte> data, std::int32_t to, std::int32_t tag) = 0;
  virtual void receive(std::span<std::byte> data, std::int32_t from, std::int32_t tag) = 0;
  virtual void barrier() = 0;
};

}  // namespace plumbline
