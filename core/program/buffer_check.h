#pragma once
/// \file buffer_check.h: whether every buffer of a program is there when it is used, and gone at the end.
///
/// Answers: the first fault as a sentence: read before written, used after release, allocated twice, never released.
/// Model: a rank's actions in order of issue. Source: the lifetimes of program.h.
/// Not modelled: what an asynchronous copy still reads after its action was issued.
/// Checked against: tests/unit/core/program/lower_test.cpp (faults planted one by one).

#include <optional>
#include <string>

#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] std::optional<std::string> buffer_fault(const Program& program);

}  // namespace plumbline
