#include "planner/session/size/size.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/session/named_task.h"

namespace plumbline::session {
namespace {

std::string label_of(const PreparedSize::Point& point) {
  return std::to_string(point.search.questions.front().devices()) + " GPUs";
}

Meets meets(const RunLimits& limits, const RunBill& bill) {
  if (!limits.any()) return Meets::no;
  const double above = bill.days.expected > 0 ? bill.days.high / bill.days.expected : 1;
  const double dollars = bill.dollars.value_or(Dollars(0)).value();
  const auto holds = [&](double factor) {
    return (!limits.days || factor * bill.days.expected <= *limits.days) &&
           (!limits.budget || factor * dollars <= limits.budget->value());
  };
  return holds(above) ? Meets::surely : holds(1) ? Meets::expected : Meets::no;
}

/// How many times over the limit that is exceeded most.
double excess(const RunLimits& limits, const RunBill& bill) {
  double most = 0;
  if (limits.days) most = std::max(most, bill.days.expected / *limits.days);
  if (limits.budget) most = std::max(most, bill.dollars.value_or(Dollars(0)).value() / limits.budget->value());
  return most;
}

void fill(SizeRow& row, const SearchAnswer& found, const PreparedSize& prepared) {
  row.is_complete = found.result.complete;
  if (found.plans.empty()) {
    row.reason = why_no_plan(found);
    return;
  }
  const Plan& plan = row.plan.emplace(found.plans.front());
  row.step_s = ranking_step(plan);
  const double slower = row.step_s.expected / plan.prediction.step_time_s.expected;
  row.tokens_per_second = plan.prediction.tokens_per_second_per_gpu * static_cast<double>(row.devices) / slower;
  row.mfu = plan.prediction.mfu / slower;
  row.bill = run_bill(plan, prepared.terms);
  row.meets = meets(prepared.request.limits, row.bill);
}

SizeRow row_of(const PreparedSize::Point& point, const PreparedSize& prepared, const Task& task) {
  const Question& question = point.search.questions.front();
  SizeRow row;
  row.scaling = point.scaling;
  row.devices = question.devices();
  row.nodes = node_count(question.cluster());
  row.global_batch = question.training().global_batch;
  try {
    fill(row, search(point.search, named_task(label_of(point), task)), prepared);
  } catch (const InputError& error) {  // a space without a plan, a step of more than a day: of this row alone
    row.reason = error.what();
  }
  return row;
}

void compare_efficiency(std::vector<SizeRow>& rows) {
  for (const Scaling scaling : all_scalings) {
    double most = 0;
    const auto each = [](const SizeRow& row) { return row.tokens_per_second / static_cast<double>(row.devices); };
    const auto counts = [&](const SizeRow& row) { return row.scaling == scaling && row.plan; };
    for (const SizeRow& row : rows)
      if (counts(row)) most = std::max(most, each(row));
    for (SizeRow& row : rows)
      if (counts(row)) row.efficiency = each(row) / most;
  }
}

/// Whether twice the GPUs of the last row would help: the limits are not met, and the time still falls.
bool helps_to_go_on(const std::vector<SizeRow>& rows, const SizeRequest& request) {
  const SizeRow* last = nullptr;
  const SizeRow* before = nullptr;
  for (const SizeRow& row : rows) {
    if (row.scaling != request.scalings.front()) continue;
    before = last;
    last = &row;
  }
  if (last == nullptr || before == nullptr || !before->plan) return last == nullptr || last->meets == Meets::no;
  if (!last->plan || last->meets != Meets::no || last->bill.days.expected >= before->bill.days.expected) return false;
  const auto& budget = request.limits.budget;
  return !budget || !last->bill.dollars || *last->bill.dollars <= *budget ||
         *last->bill.dollars < before->bill.dollars.value_or(Dollars(0));
}

void choose(SizeAnswer& answer) {
  const RunLimits& limits = answer.request.limits;
  answer.least.reset();
  answer.nearest.reset();
  if (!limits.any()) return;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const SizeRow& row = answer.rows[i];
    if (row.scaling != answer.request.scalings.front() || !row.plan) continue;
    if (row.meets != Meets::no && !answer.least) answer.least = i;
    if (!answer.nearest || excess(limits, row.bill) < excess(limits, answer.rows[*answer.nearest].bill))
      answer.nearest = i;
  }
  if (answer.least) answer.nearest.reset();
}

/// False where it was stopped before the row.
bool add_row(SizeAnswer& answer, const PreparedSize::Point& point, const PreparedSize& prepared, const Task& task) {
  if (task.is_stopped()) {
    answer.complete = false;
    return false;
  }
  SizeRow row = row_of(point, prepared, task);
  if (!row.is_complete) answer.complete = false;
  const auto place =
      std::upper_bound(answer.rows.begin(), answer.rows.end(), row.devices,
                       [](std::int64_t devices, const SizeRow& other) { return devices < other.devices; });
  answer.rows.insert(place, std::move(row));
  task.end(label_of(point));
  return true;
}

/// Halfway between the least GPUs within the limits and the next fewer, in multiples of the smallest; 0: nothing is.
std::int64_t between(const SizeAnswer& answer) {
  if (!answer.least) return 0;
  const std::int64_t high = answer.rows[*answer.least].devices;
  std::int64_t low = 0;
  for (const SizeRow& row : answer.rows)
    if (row.devices < high) low = std::max(low, row.devices);
  const std::int64_t unit = answer.rows.front().devices;
  const std::int64_t middle = (low + high) / 2 / unit * unit;
  return low > 0 && middle > low ? middle : 0;
}

/// Numbers that were doubled are far apart: looks at two more next to the answer.
void refine(SizeAnswer& answer, const PreparedSize& prepared, const Task& task) {
  constexpr int more = 2;
  for (int i = 0; i < more && answer.complete; ++i) {
    const std::int64_t devices = between(answer);
    if (devices == 0) return;
    SizeRequest request = prepared.request;
    request.devices = {answer.rows.front().devices, devices};
    for (const PreparedSize::Point& point : size_points(request))
      if (point.search.questions.front().devices() == devices && !add_row(answer, point, prepared, task)) break;
    choose(answer);
  }
}

}  // namespace

SizeAnswer size(const PreparedSize& prepared, const Task& task) {
  SizeAnswer answer;
  answer.request = prepared.request;
  answer.framework = prepared.points.front().search.framework;
  answer.terms = prepared.terms;
  answer.power = prepared.power;
  const bool is_open = prepared.request.devices.empty();
  for (const PreparedSize::Point& point : prepared.points) {
    const std::int64_t devices = point.search.questions.front().devices();
    const bool is_next = answer.rows.empty() || devices != answer.rows.back().devices;
    if (is_open && is_next && !helps_to_go_on(answer.rows, prepared.request)) break;
    if (!add_row(answer, point, prepared, task)) break;
  }
  choose(answer);
  if (is_open) refine(answer, prepared, task);
  compare_efficiency(answer.rows);
  return answer;
}

}  // namespace plumbline::session
