#pragma once
/// \file capped_options.h: the options of layers under every cap on restored bytes, whatever the numbers of layers.
///
/// Answers which options a layer may take under a cap, dominated ones dropped, and their convex corners. Model: groups
/// of layer_choice.h, of which only this counts: whether they have layers. Ranks hold the same layers in other numbers.
/// Source and what is not modelled: as layer_choice.h.
/// Checked against: tests/property/layer_choice_test.cpp, through LayerChooser.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "planner/checkpointing/option_hull.h"

namespace plumbline {

/// Options of every group by kept bytes, then time.
using OptionOrders = std::vector<std::vector<std::size_t>>;
[[nodiscard]] OptionOrders sorted_options(std::span<const LayerGroup> groups);

/// Every cap on restored bytes that changes what is allowed, ascending.
[[nodiscard]] std::vector<Bytes> restored_caps(std::span<const LayerGroup> groups);
/// Whether every group with layers has an option under the cap.
[[nodiscard]] bool has_options(std::span<const LayerGroup> groups, Bytes cap);

/// Many of them are held at once: restored bytes are looked up.
struct CappedOption {
  Bytes saved{0};
  Picoseconds time{0};
  std::uint32_t original = 0;  ///< index among the group's own options
};

/// Under one cap, by group: increasing kept bytes, decreasing time.
struct CappedOptions {
  /// Requires `has_options`.
  CappedOptions(std::span<const LayerGroup> groups, const OptionOrders& orders, Bytes cap);

  std::vector<std::vector<CappedOption>> allowed;
  std::optional<OptionHull> hull;
};

/// Under all caps. Callable from any thread.
class OptionCaps {
 public:
  class Cap {
   public:
    explicit Cap(Bytes most) : restored_(most) {}
    [[nodiscard]] Bytes restored() const { return restored_; }

   private:
    friend class OptionCaps;
    Bytes restored_;
    mutable std::once_flag once_;
    mutable std::optional<CappedOptions> options_;
  };

  /// The options of `groups` outlive it.
  explicit OptionCaps(std::span<const LayerGroup> groups);

  /// Caps under which every group has an option, ascending.
  [[nodiscard]] const std::deque<Cap>& caps() const { return caps_; }
  /// Made when first asked for.
  [[nodiscard]] const CappedOptions& under(const Cap& cap) const;
  /// Of the groups with layers, whatever they restore.
  [[nodiscard]] const std::vector<std::span<const LayerOption>>& options() const { return options_; }
  [[nodiscard]] const OptionHull& hull() const { return hull_; }
  /// Under all caps together, at most.
  [[nodiscard]] std::size_t option_count() const { return caps_.size() * option_count_; }

 private:
  std::vector<LayerGroup> groups_;
  OptionOrders orders_;
  std::deque<Cap> caps_;
  std::vector<std::span<const LayerOption>> options_;
  OptionHull hull_;
  std::size_t option_count_ = 0;
};

}  // namespace plumbline
