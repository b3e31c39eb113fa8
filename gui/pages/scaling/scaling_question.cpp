#include "gui/pages/scaling/scaling_question.h"

#include <algorithm>
#include <array>

#include "core/quantity/text.h"

namespace plumbline::gui {
namespace {

constexpr std::int64_t tokens_per_parameter = 20;

/// Whole nodes, or on a part of one node every half of it.
std::vector<std::int64_t> device_counts(std::int64_t devices, std::int64_t per_node) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t quarters : {1, 2, 4, 8, 16}) {
    const std::int64_t count = devices * quarters / 4;
    const bool is_exact = 4 * count == devices * quarters;
    const bool is_whole = count <= per_node ? count > 0 && per_node % count == 0 : count % per_node == 0;
    if (is_exact && is_whole) counts.push_back(count);
  }
  if (counts.empty()) counts.push_back(devices);
  return counts;
}

}  // namespace

ScalingQuestion scaling_question(const session::PricedQuestion& asked, const session::RunLimits& limits) {
  ScalingQuestion result;
  session::SearchRequest& search = result.request.search;
  search.question = asked.question.text();
  search.top = 1;
  search.limits_cost = false;
  Training& training = search.question.training;
  if (!training.token_budget && !search.question.sample_budget) {
    training.token_budget = tokens_per_parameter * asked.plan.model.trained_parameters;
    result.remark = "No budget of tokens was given: " + count_text(*training.token_budget) +
                    ", 20 for each parameter that is trained (arXiv:2203.15556).";
  }
  result.request.devices = device_counts(asked.plan.machine.devices, asked.plan.machine.devices_per_node);
  result.request.limits = limits;
  result.request.scalings = {session::Scaling::strong, session::Scaling::weak};
  return result;
}

}  // namespace plumbline::gui
