#include "core/program/order_memo.h"

#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// About 120 MB of actions and steps: some hundred orders of 16 ranks and 128 micro-batches.
constexpr std::size_t most_actions = 2'000'000;

using Key = std::tuple<Schedule, std::int32_t, std::int32_t, std::int32_t>;
using Order = std::shared_ptr<const CheckedOrder>;

class Memo {
 public:
  Order find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = orders_.find(key);
    return found == orders_.end() ? nullptr : found->second;
  }

  /// Keeps the first of two that were made at the same time; one that is too large is not kept at all.
  Order keep(const Key& key, Order order) {
    const std::size_t size = order->run.steps.size();
    if (size > most_actions) return order;
    const std::scoped_lock lock(mutex_);
    const auto [place, is_new] = orders_.try_emplace(key, order);
    if (!is_new) return place->second;
    ages_.push_back(key);
    actions_ += size;
    while (actions_ > most_actions) {
      const auto oldest = orders_.find(ages_.front());
      actions_ -= oldest->second->run.steps.size();
      orders_.erase(oldest);
      ages_.pop_front();
    }
    return order;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Order> orders_;
  std::deque<Key> ages_;
  std::size_t actions_ = 0;
};

}  // namespace

Order checked_order(Schedule schedule, const PipelineShape& shape) {
  static Memo memo;
  const Key key(schedule, shape.pipeline_stages, shape.virtual_stages, shape.micro_batches);
  if (Order known = memo.find(key)) return known;
  auto made = std::make_shared<CheckedOrder>();
  made->schedule = compute_schedule(schedule, shape);
  made->run = dry_run(made->schedule);
  check(!made->run.deadlock, "the order of a legal shape ends");
  return memo.keep(key, std::move(made));
}

}  // namespace plumbline
