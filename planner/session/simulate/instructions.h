#pragma once
/// \file instructions.h: the instructions that each block of a plan is lowered to, as text: what `plan simulate
/// --instructions` writes.
///
/// One entry for each kind of block and choice of recompute, with the places where the network runs it: kernels,
/// collectives, buffers allocated and released, pass by pass. They are what memory and bytes are folded from, what is
/// simulated and what `plan run` executes (core/program/block_program.h). Not shown: what happens once per step.
/// Checked against: tests/unit/planner/session/simulate/instructions_test.cpp.

#include <string>

#include "planner/pricing/simulated.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

[[nodiscard]] std::string instructions_text(const PricedQuestion& asked, const SimulatedPlan& simulated);

}  // namespace plumbline::session
