// How many GPUs a run takes: rows, limits, scaling, and what is refused.

#include "planner/session/size/size.h"

#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

SizeRequest small_size(std::vector<std::int64_t> devices = {8, 16, 32}) {
  SizeRequest request;
  request.search.question = small_request().question;
  request.search.question.training.global_batch = 512;  // so much that 32 GPUs are not launching more than computing
  request.search.question.training.token_budget = 10'000'000'000;
  request.search.threads = 1;
  request.search.fixes = "pp=1,cp=1,tp=1";
  request.devices = std::move(devices);
  return request;
}

SizeAnswer answered(const SizeRequest& request) { return size(prepare_size(request)); }

TEST_CASE("each number of GPUs has its best plan, billed for the whole run") {
  const SizeAnswer answer = answered(small_size());
  CHECK(answer.complete);
  REQUIRE(answer.rows.size() == 3);
  for (const SizeRow& row : answer.rows) {
    REQUIRE(row.plan);
    CHECK(row.plan->machine.devices == row.devices);
    CHECK(row.nodes == row.devices / 8);
    CHECK(row.global_batch == 512);
    CHECK(row.bill.gpu_hours == Approx(24 * row.bill.days.expected * static_cast<double>(row.devices)));
    CHECK(row.tokens_per_second == Approx(512 * 1024 / row.step_s.expected));
    CHECK(row.bill.co2_kg > 0);
  }
  CHECK(answer.rows[0].efficiency == Approx(1));
  CHECK(answer.rows[2].efficiency == Approx(answer.rows[2].tokens_per_second / (4 * answer.rows[0].tokens_per_second)));
  CHECK(answer.rows[2].efficiency < 1);
  CHECK(!answer.least);
  CHECK(!answer.nearest);
}

TEST_CASE("efficiency is a part of the table's best, whichever row that is") {
  SizeRequest request =
      small_size({1, 8});  // one GPU has no room but for what is recomputed or divided into small steps
  request.search.question.model = "llama-3.2-3b";
  request.search.question.training.sequence_length = 8192;
  request.search.question.training.global_batch = 64;
  const SizeAnswer answer = answered(request);
  double most = 0;
  for (const SizeRow& row : answer.rows) {
    REQUIRE(row.plan);
    CHECK(row.efficiency <= 1);
    most = std::max(most, row.efficiency);
  }
  CHECK(most == 1);
  CHECK(answer.rows[0].efficiency < 1);  // over the fewest GPUs eight would have more than 100 %
}

TEST_CASE("a row holds the plan that a search of that many GPUs finds") {
  const SizeAnswer answer = answered(small_size({16}));
  SearchRequest search_alone = small_size().search;
  search_alone.question.devices = 16;
  REQUIRE(answer.rows.front().plan);
  CHECK(answer.rows.front().plan->strategy == search(search_alone).plans.front().strategy);
}

TEST_CASE("under weak scaling the batch grows with the GPUs") {
  SizeRequest request = small_size();
  request.scalings = {Scaling::strong, Scaling::weak};
  const SizeAnswer answer = answered(request);
  REQUIRE(answer.rows.size() == 6);
  for (const SizeRow& row : answer.rows)
    CHECK(row.global_batch == (row.scaling == Scaling::weak ? 64 * row.devices : 512));
  CHECK(answer.rows[5].efficiency > answer.rows[4].efficiency);  // of 32 GPUs, weak against strong
}

TEST_CASE("the least number of GPUs within the limits is the answer") {
  SizeRequest request = small_size();
  const SizeAnswer free = answered(request);
  request.limits.days = 1.01 * free.rows[1].bill.days.expected;
  const SizeAnswer by_days = answered(request);
  REQUIRE(by_days.least);
  CHECK(*by_days.least == 1);
  CHECK(by_days.rows[0].meets == Meets::no);
  CHECK(by_days.rows[1].meets == Meets::expected);  // its interval reaches beyond
  request.limits.days.reset();
  request.limits.budget = *free.rows[0].bill.dollars * 2;
  const SizeAnswer by_budget = answered(request);
  REQUIRE(by_budget.least);
  CHECK(*by_budget.least == 0);
  CHECK(by_budget.rows[0].meets == Meets::surely);
}

TEST_CASE("where no number of GPUs is within the limits, the nearest is said") {
  SizeRequest request = small_size();
  request.limits.days = least_days;
  const SizeAnswer answer = answered(request);
  CHECK(!answer.least);
  REQUIRE(answer.nearest);
  CHECK(answer.rows[*answer.nearest].devices == 32);
}

TEST_CASE("a price, a PUE and a grid that are asked for replace the usual ones") {
  SizeRequest request = small_size({8});
  const SizeRow usual = answered(request).rows.front();
  request.search.question.price_per_device_hour = Dollars(1);
  request.power_usage_effectiveness = 1;
  request.grid_grams_per_kwh = 0;
  const SizeRow own = answered(request).rows.front();
  CHECK(own.bill.dollars->value() == Approx(own.bill.gpu_hours));
  CHECK(own.bill.energy_kwh == Approx(usual.bill.energy_kwh / mean_facility().power_usage_effectiveness.value));
  CHECK(own.bill.co2_kg == 0);
}

TEST_CASE("without numbers of GPUs nodes are doubled until the limits are met or more stop to help") {
  SizeRequest request = small_size({});
  const SizeAnswer open = answered(request);
  REQUIRE(open.rows.size() > 2);
  for (std::size_t i = 0; i < open.rows.size(); ++i) CHECK(open.rows[i].devices == std::int64_t{8} << i);
  request.limits.days = 1.01 * open.rows[1].bill.days.expected;
  const SizeAnswer limited = answered(request);
  CHECK(limited.rows.size() == 2);
  CHECK(limited.least == std::optional<std::size_t>(1));
}

TEST_CASE("between doubled numbers of GPUs a smaller answer is looked for") {
  SizeRequest request = small_size({});
  request.search.question.training.global_batch = 3072;  // of 48 ranks, not of 40
  const SizeAnswer open = answered(request);
  REQUIRE(open.rows.size() > 3);  // 8, 16, 32, 64
  request.limits.days = (open.rows[2].bill.days.expected + open.rows[3].bill.days.expected) / 2;
  request.scalings = {Scaling::strong, Scaling::weak};
  const SizeAnswer limited = answered(request);
  REQUIRE(limited.least);
  const SizeRow& least = limited.rows[*limited.least];
  std::vector<std::int64_t> seen;
  for (std::size_t i = 0; i < limited.rows.size(); ++i) {
    const SizeRow& row = limited.rows[i];
    if (i > 0) CHECK(limited.rows[i - 1].devices <= row.devices);
    if (row.scaling == Scaling::strong) seen.push_back(row.devices);
    if (row.scaling == Scaling::strong && row.devices < least.devices) CHECK(row.meets == Meets::no);
    if (row.scaling == Scaling::weak) CHECK(row.global_batch == 384 * row.devices);
  }
  CHECK(least.devices == 48);
  CHECK(seen == std::vector<std::int64_t>{8, 16, 32, 40, 48, 64});
}

TEST_CASE("a number of GPUs on which nothing fits is a row that says why") {
  SizeRequest request = small_size({8});
  request.search.question.model = "llama-3-70b";
  const SizeAnswer answer = answered(request);
  REQUIRE(answer.rows.size() == 1);
  CHECK(!answer.rows.front().plan);
  CHECK(answer.rows.front().reason.find("too much") != std::string::npos);
  CHECK(!answer.nearest);
}

TEST_CASE("a size that is stopped answers with the rows so far") {
  std::stop_source source;
  Task task;
  task.stop = source.get_token();
  std::vector<std::string> ended;
  task.end_of_phase = [&](std::string_view phase) {
    ended.emplace_back(phase);
    source.request_stop();
  };
  const SizeAnswer answer = size(prepare_size(small_size()), task);
  CHECK(!answer.complete);
  CHECK(answer.rows.size() == 1);
  CHECK(ended == std::vector<std::string>{"8 GPUs"});
}

TEST_CASE("what is wrong with a size is known before it begins") {
  SizeRequest request = small_size();
  request.search.question.training.token_budget.reset();
  CHECK(refusal([&] { return prepare_size(request); }) ==
        "--tokens: is missing; expected tokens of the whole run, such as 15T, or --samples");
  request = small_size({12});
  CHECK(refusal([&] { return prepare_size(request); }).find("gpus: 12 ") == 0);
  request = small_size();
  request.limits.days = -3;
  CHECK(refusal([&] { return prepare_size(request); }) == "--days: -3.000 is out of range; expected 0.001 to 36525");
  request = small_size();
  request.power_usage_effectiveness = 0.5;
  CHECK(refusal([&] { return prepare_size(request); }).find("--pue: 0.500 is out of range") == 0);
  request = small_size({16, 24});
  request.scalings = {Scaling::weak};
  request.search.question.training.global_batch = 31;
  CHECK(refusal([&] { return prepare_size(request); }).find("--scaling weak: a global batch of 31 on 16 GPUs") == 0);
}

}  // namespace
}  // namespace plumbline::session
