#pragma once
/// \file size_json.h: how many GPUs a run takes ("plumbline.size/1", the contract of `plan size --json`); written only.
///
/// The keys are those of models/schemas/size.schema.json. Checked against: tests/unit/planner/io/size_json_test.cpp,
/// tests/integration/schemas_test.py.

#include "core/io/json.h"
#include "planner/session/size.h"

namespace plumbline::session {

inline constexpr std::string_view size_format = "plumbline.size/1";

[[nodiscard]] Json to_json(const SizeAnswer& answer);

}  // namespace plumbline::session
