// What a size is asked: its flags, checks of the request, and the searches that it consists of.

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "core/quantity/text.h"
#include "models/machine_catalog.h"
#include "planner/session/question_flags.h"
#include "planner/session/search/search_flags.h"
#include "planner/session/size/size.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

/// Where nobody says how many GPUs: up to twice the 16 384 on which Llama 3.1 405B was trained (arXiv:2407.21783),
/// and without limits to stop at, far enough to see how a run scales.
constexpr std::int64_t most_doubled_devices = 32'768;
constexpr std::size_t counts_without_limits = 7;

void require_between(const char* where, double value, double smallest, double largest) {
  if (std::isfinite(value) && value >= smallest && value <= largest) return;
  throw InputError({where, fixed(value, 3) + " is out of range",
                    fixed(smallest, smallest == std::floor(smallest) ? 0 : 3) + " to " + fixed(largest, 0), ""});
}

bool can_have(const Cluster& cluster, std::int64_t devices) {
  try {
    (void)with_device_count(cluster, devices);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<std::int64_t> doubled_from(const Cluster& cluster, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> counts;
  for (std::int64_t devices = first; devices <= last && can_have(cluster, devices); devices *= 2)
    counts.push_back(devices);
  return counts;
}

/// Whole nodes, doubled; parts of the node where no network joins several.
std::vector<std::int64_t> usual_counts(const SizeRequest& request) {
  const Cluster cluster = find_machine(request.search.question.machine);
  if (cluster.groups.size() > 1) return {device_count(cluster)};
  const std::int64_t node = cluster.groups.front().node.devices;
  std::vector<std::int64_t> counts = doubled_from(cluster, node, most_doubled_devices);
  if (counts.size() < 2) counts = doubled_from(cluster, 1, node);
  if (!request.limits.any()) counts.resize(std::min(counts.size(), counts_without_limits));
  return counts;
}

/// Doubles hold whole numbers up to 2^53, about 9e15: what passes was counted exactly, and fits in 64 bits. No batch
/// that a question takes comes near it.
constexpr double most_grown_batch = 1e15;

std::int64_t batch_of(Scaling scaling, std::int64_t batch, std::int64_t devices, std::int64_t smallest) {
  if (scaling == Scaling::strong || batch < 1) return batch;
  const double grown = static_cast<double>(batch) * static_cast<double>(devices) / static_cast<double>(smallest);
  if (grown > most_grown_batch || batch % smallest * devices % smallest != 0)
    throw InputError({"--scaling weak",
                      "a global batch of " + std::to_string(batch) + " on " + std::to_string(smallest) +
                          " GPUs is no whole number on " + std::to_string(devices),
                      "a batch that is a multiple of " + std::to_string(smallest), ""});
  return batch / smallest * devices + batch % smallest * devices / smallest;
}

std::vector<std::int64_t> asked_counts(const SizeRequest& request) {
  return request.devices.empty() ? usual_counts(request) : request.devices;
}

/// Throws InputError for no tokens and for numbers out of range.
void require_size(const SizeRequest& request) {
  const QuestionText& question = request.search.question;
  if (!question.training.token_budget && !question.sample_budget)
    throw InputError({"--tokens", "is missing", "tokens of the whole run, such as 15T, or --samples", ""});
  check(!request.scalings.empty(), "a size has a scaling");
  if (request.limits.days) require_between("--days", *request.limits.days, least_days, most_days);
  if (request.limits.budget) require_between("--budget", request.limits.budget->value(), least_dollars, most_dollars);
  if (request.power_usage_effectiveness) require_between("--pue", *request.power_usage_effectiveness, 1, highest_pue);
  if (request.grid_grams_per_kwh) require_between("--grid", *request.grid_grams_per_kwh, 0, dirtiest_grid);
}

/// The request with one stack for all its numbers of GPUs where nobody named one: that of the most.
SizeRequest with_one_stack(SizeRequest request) {
  QuestionText largest = request.search.question;
  if (!largest.stack.empty() || request.search.framework) return request;
  const std::vector<std::int64_t> counts = asked_counts(request);
  largest.devices = *std::max_element(counts.begin(), counts.end());
  request.search.question.stack = Question(largest).usual_stack().taken().stack;
  return request;
}

constexpr std::int64_t tokens_per_parameter = 20;

/// Whole nodes, or on a part of one node every half of it.
std::vector<std::int64_t> counts_around(std::int64_t devices, std::int64_t per_node) {
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

std::string_view to_text(Scaling scaling) { return scaling == Scaling::strong ? "strong" : "weak"; }

std::vector<Scaling> SizeFlags::scalings() const {
  const std::string text = scaling.value_or("strong");
  if (text == "strong") return {Scaling::strong};
  if (text == "weak") return {Scaling::weak};
  if (text == "both") return {Scaling::strong, Scaling::weak};
  refuse_choice("--scaling", text, {"strong", "weak", "both"});
}

void SizeFlags::apply(SizeRequest& request) const {
  request.limits = run_limits(days, budget);
  if (pue) request.power_usage_effectiveness = real_number("--pue", *pue, 1, highest_pue);
  if (grid) request.grid_grams_per_kwh = real_number("--grid", *grid, 0, dirtiest_grid);
  request.scalings = scalings();
}

const Options<SizeFlags>& size_options() {
  static const Options<SizeFlags> options = [] {
    Options<SizeFlags> rows;
    const auto add = [&](std::optional<std::string> SizeFlags::*text, OptionWords words) {
      rows.push_back(text_option<SizeFlags>(text, std::move(words)));
    };
    add(&SizeFlags::days, {"--days", "DAYS", "the run may take at most so many days"});
    rows.back().words.field = {"Deadline", "days"};
    add(&SizeFlags::budget, {"--budget", "DOLLARS", "and cost at most so many dollars, such as 250K"});
    rows.back().words.field = {
        .caption = "Budget", .placeholder = "dollars", .explanation = "dollars that the whole run may cost"};
    add(&SizeFlags::scaling, {"--scaling", "strong|weak|both",
                              "strong: the batch stays; weak: it grows with the GPUs from the fewest on (strong)"});
    add(&SizeFlags::pue, {"--pue", "RATIO", "energy of the site over that of its computers (world mean)"});
    add(&SizeFlags::grid, {"--grid", "GRAMS", "of CO2 that the grid emits for a kWh (world mean)"});
    return rows;
  }();
  return options;
}

std::vector<PreparedSize::Point> size_points(const SizeRequest& request) {
  std::vector<std::int64_t> counts = asked_counts(request);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<PreparedSize::Point> points;
  for (const std::int64_t devices : counts)
    for (const Scaling scaling : request.scalings) {
      SearchRequest one = request.search;
      one.question.devices = devices;
      one.question.training.global_batch =
          batch_of(scaling, one.question.training.global_batch, devices, counts.front());
      one.objective = Objective::step_time;
      one.top = 1;
      one.pareto = false;
      one.limits_cost = false;
      points.push_back({scaling, prepare_search(one)});
    }
  return points;
}

ScalingQuestion scaling_question(const PricedQuestion& asked, const RunLimits& limits) {
  ScalingQuestion result;
  SearchRequest& search = result.request.search;
  search.question = asked.question.text();
  search.top = 1;
  search.limits_cost = false;
  Training& training = search.question.training;
  if (!training.token_budget && !search.question.sample_budget) {
    training.token_budget = tokens_per_parameter * asked.plan.model.trained_parameters;
    result.note = "No budget of tokens was given: " + count_text(*training.token_budget) +
                  ", 20 for each parameter that is trained (arXiv:2203.15556).";
  }
  result.request.devices = counts_around(asked.plan.machine.devices, asked.plan.machine.devices_per_node);
  result.request.limits = limits;
  result.request.scalings = {Scaling::strong, Scaling::weak};
  return result;
}

PreparedSize prepare_size(const SizeRequest& request) {
  require_size(request);
  PreparedSize prepared;
  prepared.request = with_one_stack(request);
  prepared.points = size_points(prepared.request);
  const Question& first = prepared.points.front().search.questions.front();
  prepared.terms.price_per_device_hour = sourced_price(first.cluster());
  if (const std::optional<Dollars>& price = request.search.question.price_per_device_hour)
    prepared.terms.price_per_device_hour = {*price, "as asked", SourceKind::published, ""};
  Facility& facility = prepared.terms.facility;
  const auto asked = [](double value) { return Sourced<double>{value, "as asked", SourceKind::published, ""}; };
  if (request.power_usage_effectiveness) facility.power_usage_effectiveness = asked(*request.power_usage_effectiveness);
  if (request.grid_grams_per_kwh) facility.grid_grams_per_kwh = asked(*request.grid_grams_per_kwh);
  if (request.limits.budget && !prepared.terms.price_per_device_hour)
    throw InputError({"--budget", "the machine " + first.cluster().name + " has no price", "--price as well", ""});
  prepared.power = power_figures(first.cluster());
  prepared.warning = prepared.points.front().search.warning;
  return prepared;
}

UseCase size_use_case() {
  struct Asked {
    QuestionFlags question;
    SearchFlags search;
    SizeFlags size;
  };
  const auto asked = std::make_shared<Asked>();
  asked->question.recipes = Recipes::several;
  asked->question.counts = DeviceCounts::several;
  UseCase use_case;
  bind_options(use_case.options, question_options(Recipes::several, DeviceCounts::several), asked->question);
  bind_options(use_case.options, search_options(), asked->search);
  bind_options(use_case.options, size_options(), asked->size);
  use_case.work = [asked](const Inputs& /*inputs*/) {
    SizeRequest request;
    request.search.question = asked->question.question();
    request.search.recipes = asked->question.recipe_choices();
    asked->search.apply(request.search);
    request.devices = asked->question.device_counts();
    asked->size.apply(request);
    return Work{[request](const Task& task) {
                  const PreparedSize prepared = prepare_size(request);
                  Answer answer = shown(size(prepared, task));
                  answer.warning = prepared.warning;
                  return answer;
                },
                asked->search.limit()};
  };
  return use_case;
}

}  // namespace plumbline::session
