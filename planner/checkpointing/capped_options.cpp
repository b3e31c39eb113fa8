#include "planner/checkpointing/capped_options.h"

#include <algorithm>
#include <numeric>

namespace plumbline {

OptionOrders sorted_options(std::span<const LayerGroup> groups) {
  OptionOrders orders;
  for (const LayerGroup& group : groups) {
    std::vector<std::size_t> order(group.options.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const LayerOption& x = group.options[a];
      const LayerOption& y = group.options[b];
      return x.saved != y.saved ? x.saved < y.saved : x.time < y.time;
    });
    orders.push_back(std::move(order));
  }
  return orders;
}

std::vector<Bytes> restored_caps(std::span<const LayerGroup> groups) {
  std::vector<Bytes> caps;
  for (const LayerGroup& group : groups)
    if (group.count > 0)
      for (const LayerOption& option : group.options) caps.push_back(option.restored);
  if (caps.empty()) caps.emplace_back(0);
  std::sort(caps.begin(), caps.end());
  caps.erase(std::unique(caps.begin(), caps.end()), caps.end());
  return caps;
}

bool has_options(std::span<const LayerGroup> groups, Bytes cap) {
  return std::all_of(groups.begin(), groups.end(), [&](const LayerGroup& group) {
    return group.count == 0 || std::any_of(group.options.begin(), group.options.end(),
                                           [&](const LayerOption& o) { return o.restored <= cap; });
  });
}

CappedOptions::CappedOptions(std::span<const LayerGroup> groups, const OptionOrders& orders, Bytes cap)
    : allowed(groups.size()) {
  std::vector<std::vector<LayerOption>> options(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<CappedOption> taken;
    for (const std::size_t o : orders[g]) {
      const LayerOption& option = groups[g].options[o];
      if (option.restored > cap || (!taken.empty() && option.time >= taken.back().time)) continue;
      taken.push_back({option.saved, option.time, static_cast<std::uint32_t>(o)});
      options[g].push_back(option);
    }
    if (taken.empty()) {  // of no layers: never taken
      taken.push_back({});
      options[g].push_back({});
    }
    allowed[g].assign(taken.begin(), taken.end());
  }
  hull.emplace(options);
}

namespace {

std::vector<std::span<const LayerOption>> options_of(std::span<const LayerGroup> groups) {
  std::vector<std::span<const LayerOption>> options;
  for (const LayerGroup& group : groups)
    if (group.count > 0) options.push_back(group.options);
  return options;
}

}  // namespace

OptionCaps::OptionCaps(std::span<const LayerGroup> groups)
    : groups_(groups.begin(), groups.end()),
      orders_(sorted_options(groups)),
      options_(options_of(groups)),
      hull_(options_) {
  for (const Bytes cap : restored_caps(groups))
    if (has_options(groups, cap)) caps_.emplace_back(cap);
  for (const std::span<const LayerOption> of_group : options_) option_count_ += of_group.size();
}

const CappedOptions& OptionCaps::under(const Cap& cap) const {
  std::call_once(cap.once_, [&] { cap.options_.emplace(groups_, orders_, cap.restored_); });
  return *cap.options_;
}

}  // namespace plumbline
