#pragma once
/// \file plans.h: plans that pages are tested with.

#include <string>

#include "gui/page.h"

namespace plumbline::gui {

struct AskedPlan {
  std::string model = "gpt2";
  std::int64_t devices = 8;
  std::int64_t global_batch = 32;
  std::int64_t sequence_length = 1024;
  Strategy strategy = {};
};

/// On nodes of eight H100. Of the strategy, what is open is filled in as the command line does.
[[nodiscard]] inline SharedPlan priced(const AskedPlan& asked) {
  session::StrategyRequest request;
  request.question.model = asked.model;
  request.question.machine = "dgx-h100";
  request.question.devices = asked.devices;
  request.question.training.sequence_length = asked.sequence_length;
  request.question.training.global_batch = asked.global_batch;
  request.strategy.strategy = asked.strategy;
  request.strategy.schedule_given = asked.strategy.schedule != Schedule::none;
  return std::make_shared<PricedPlan>(PricedPlan{request, session::estimate(request)});
}

/// Four stages of 16 micro-batches: every kind of page has something to show.
[[nodiscard]] inline AskedPlan pipelined() {
  AskedPlan asked;
  asked.strategy.pipeline_stages = 4;
  asked.strategy.schedule = Schedule::one_f_one_b;
  return asked;
}

}  // namespace plumbline::gui
