#include "runtime/memory_plan/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/errors.h"

namespace plumbline {
namespace {

std::int64_t aligned(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool live_together(const BufferLife& a, const BufferLife& b) { return a.first <= b.last && b.first <= a.last; }

/// Lives that have their place, by offset. A life may be given room for more bytes than it has.
class Placement {
 public:
  explicit Placement(std::int64_t alignment) : alignment_(alignment) {}

  void place(BufferLife& life, std::int64_t room) {
    life.offset = Bytes(best_offset(life, room));
    size_ = std::max(size_, life.offset.value() + life.bytes.value());
    const auto before = [](const Placed& a, const Placed& b) { return a.life->offset < b.life->offset; };
    const Placed placed{&life, life.offset.value() + room};
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), placed, before), placed);
  }
  /// What is placed from here on begins at `time` or later.
  void forget_ended(std::int32_t time) {
    std::erase_if(placed_, [&](const Placed& placed) { return placed.life->last < time; });
  }
  [[nodiscard]] std::int64_t size() const { return aligned(size_, alignment_); }

 private:
  struct Placed {
    const BufferLife* life;
    std::int64_t end;
  };

  /// The smallest gap between those that live at the same time, else the first place above them.
  [[nodiscard]] std::int64_t best_offset(const BufferLife& life, std::int64_t room) const {
    std::int64_t free_from = 0;
    std::int64_t best = -1;
    std::int64_t best_gap = Bytes::largest().value();
    for (const Placed& other : placed_) {
      if (!live_together(life, *other.life)) continue;
      const std::int64_t gap = other.life->offset.value() - free_from;
      if (gap >= room && gap < best_gap) {
        best = free_from;
        best_gap = gap;
      }
      free_from = std::max(free_from, aligned(other.end, alignment_));
    }
    return best >= 0 ? best : free_from;
  }

  std::int64_t alignment_;
  std::int64_t size_ = 0;
  std::vector<Placed> placed_;
};

using Order = std::vector<std::size_t>;

template <class Before>
Order ordered(const std::vector<BufferLife>& lives, Before before) {
  Order order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(lives[a], lives[b]); });
  return order;
}

/// Room for each life: its own bytes, or those of a slightly larger one, so that nearly equal lives can follow each
/// other in one place instead of leaving gaps that are a little too small.
std::vector<std::int64_t> shared_rooms(const std::vector<BufferLife>& lives, const Order& by_size) {
  std::vector<std::int64_t> rooms(lives.size());
  std::int64_t room = 0;
  for (const std::size_t i : by_size) {
    const std::int64_t bytes = lives[i].bytes.value();
    if (bytes < room - room / 8) room = bytes;
    room = std::max(room, bytes);
    rooms[i] = room;
  }
  return rooms;
}

/// Tries orders of placing and keeps the best.
class SmallestArena {
 public:
  SmallestArena(const std::vector<BufferLife>& lives, std::int64_t alignment)
      : lives_(lives), alignment_(alignment), bound_(aligned(live_peak(lives).value(), alignment)) {}

  /// In order of their beginning, where only those that live then are in the way: the one order for very many lives.
  void sweep(const Order& by_time) {
    std::vector<BufferLife> placed = lives_;
    Placement placement(alignment_);
    for (const std::size_t i : by_time) {
      placement.forget_ended(placed[i].first);
      placement.place(placed[i], placed[i].bytes.value());
    }
    keep_smaller(placement, std::move(placed));
  }
  /// The order as it is; then, some times, with the life that lies at the top placed first.
  void improve(Order order, const std::vector<std::int64_t>& rooms) {
    constexpr int attempts = 64;
    const auto pairs = static_cast<std::int64_t>(lives_.size() * lives_.size() / 2);
    for (int attempt = 0; attempt < attempts && size_ > bound_ && compared_ + pairs <= most_compared; ++attempt) {
      compared_ += pairs;
      std::vector<BufferLife> placed = lives_;
      Placement placement(alignment_);
      for (const std::size_t i : order) placement.place(placed[i], rooms[i]);
      const auto end_of = [&](std::size_t i) { return placed[i].offset + placed[i].bytes; };
      const auto top = std::max_element(order.begin(), order.end(),
                                        [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
      if (top != order.end()) std::rotate(order.begin(), top, top + 1);
      keep_smaller(placement, std::move(placed));
    }
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<BufferLife>& placed() const { return placed_; }

 private:
  /// Pairs of lives: some hundredths of a second, whatever a step binds.
  static constexpr std::int64_t most_compared = std::int64_t{1} << 24;

  void keep_smaller(const Placement& placement, std::vector<BufferLife> placed) {
    if (placement.size() >= size_) return;
    size_ = placement.size();
    placed_ = std::move(placed);
  }

  const std::vector<BufferLife>& lives_;
  std::int64_t alignment_;
  std::int64_t compared_ = 0;
  std::int64_t bound_;  ///< no arena is smaller
  std::int64_t size_ = Bytes::largest().value();
  std::vector<BufferLife> placed_;
};

}  // namespace

Bytes live_peak(std::span<const BufferLife> lives) {
  std::map<std::int32_t, std::int64_t> change;
  for (const BufferLife& life : lives) {
    change[life.first] += life.bytes.value();
    change[life.last + 1] -= life.bytes.value();
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const auto& [time, bytes] : change) most = std::max(most, live += bytes);
  return Bytes(most);
}

Bytes place_lives(std::vector<BufferLife>& lives, Bytes alignment) {
  check(alignment > Bytes(0), "an alignment is positive");
  const auto duration = [](const BufferLife& life) { return life.last - life.first; };
  const Order by_size = ordered(lives, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const Order by_time = ordered(lives, [](const auto& a, const auto& b) { return a.first < b.first; });
  const Order by_duration = ordered(lives, [&](const auto& a, const auto& b) { return duration(a) > duration(b); });
  std::vector<std::int64_t> own_rooms;
  for (const BufferLife& life : lives) own_rooms.push_back(life.bytes.value());
  SmallestArena smallest(lives, alignment.value());
  smallest.sweep(by_time);
  for (const auto& rooms : {own_rooms, shared_rooms(lives, by_size)})
    for (const Order& order : {by_size, by_time, by_duration}) smallest.improve(order, rooms);
  lives = smallest.placed();
  return Bytes(smallest.size());
}

}  // namespace plumbline
