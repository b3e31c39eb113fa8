#pragma once
/// \file changes.h: what one step along an axis would do.
///
/// A step changes one choice by the least amount: twice or half a degree (data parallelism takes what is left), twice
/// or half the micro-batch, one ZeRO stage, a detail of it one step away (StrategyAxis::neighbours), sequence
/// parallelism on or off, the next recompute mode. Every step is checked by the legality rules and priced in full
/// (evaluate.h), so what is promised is what `fit` would say. Pure: no I/O, no throw, callable from any thread. Work
/// that is stopped answers with the changes priced so far. Not tried: precision, optimizer, GPU count, offload: they
/// change the question.

#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "planner/question/question.h"
#include "planner/question/task.h"

namespace plumbline {

struct Change {
  std::vector<std::string> steps;  ///< "tp 2 -> 4", in the order taken
  Strategy strategy;
  Plan plan;
};

/// "tp 2 -> 4, recompute none -> full".
[[nodiscard]] std::string to_text(const std::vector<std::string>& steps);

/// Whether the longer one takes all steps of the shorter and more.
[[nodiscard]] bool takes_part_of(const Change& shorter, const Change& longer);

/// Every legal single step from a legal strategy, axis by axis.
[[nodiscard]] std::vector<Change> single_steps(const Question& question, const Strategy& strategy,
                                               const Task& task = {});

}  // namespace plumbline
