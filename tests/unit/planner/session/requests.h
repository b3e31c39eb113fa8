#pragma once
/// \file requests.h: requests that are quick to answer, and what refuses one.

#include <string>

#include "core/base/errors.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

inline StrategyRequest small_request(std::int64_t devices = 8) {
  StrategyRequest request;
  request.question.model = "gpt2";
  request.question.machine = "dgx-h100";
  request.question.devices = devices;
  request.question.training.global_batch = 64;
  return request;
}

/// Eight billion parameters replicated on 80 GB: nothing is sharded.
inline StrategyRequest too_large_request() {
  StrategyRequest request = small_request();
  request.question.model = "llama-3-8b";
  request.question.training.sequence_length = 4096;
  return request;
}

inline PlanRequest written(const PricedQuestion& asked, const std::string& name = "plan.json") {
  PlanRequest request;
  request.plan = asked.plan;
  request.name = name;
  return request;
}

/// Two pipeline stages of nano-llama on the cores of this catalogue's "cpu": what a computer can run.
inline StrategyRequest runnable_request() {
  StrategyRequest request;
  request.question.model = "nano-llama";
  request.question.machine = "cpu";
  request.question.devices = 4;
  request.question.training.global_batch = 8;
  request.strategy.strategy.pipeline_stages = 2;
  request.strategy.strategy.tensor_parallel = 2;
  return request;
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace plumbline::session
