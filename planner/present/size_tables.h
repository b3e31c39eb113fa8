#pragma once
/// \file size_tables.h: how many GPUs a run takes, as tables and sentences.
///
/// Checked against: tests/unit/planner/present/size_tables_test.cpp.

#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/session/size.h"

namespace plumbline::present {

/// What is asked, without the number of GPUs: "llama-3-8b (8.03 B parameters) on H100-SXM-80GB (dgx-h100), ...".
[[nodiscard]] std::string size_question_words(const session::SizeAnswer& answer);
/// The rows of one scaling on which something fits: step, throughput, efficiency, and what the run takes.
[[nodiscard]] Table size_table(const session::SizeAnswer& answer, session::Scaling scaling);
/// The plan of each of these rows, or why there is none.
[[nodiscard]] Table size_plan_table(const session::SizeAnswer& answer, session::Scaling scaling);
/// "strong scaling, global batch 512" and the like.
[[nodiscard]] std::string scaling_words(const session::SizeAnswer& answer, session::Scaling scaling);
/// The least number of GPUs within the limits, or that there is none and the nearest; empty without limits.
[[nodiscard]] std::string size_answer_words(const session::SizeAnswer& answer);
/// Each number that dollars, energy and emissions rest on, with its source.
[[nodiscard]] std::vector<std::string> size_assumptions(const session::SizeAnswer& answer);

}  // namespace plumbline::present
