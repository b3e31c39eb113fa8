#pragma once
/// \file import_json.h: what launch files ask for ("plumbline.import/1", what `plan import --json` prints); written
/// only.
///
/// The keys are those of models/schemas/import.schema.json. Checked against:
/// tests/unit/planner/session/import/import_test.cpp, tests/integration/schemas_test.py.

#include "core/io/json.h"
#include "planner/session/import/import.h"

namespace plumbline::session {

inline constexpr std::string_view import_format = "plumbline.import/1";

/// `flags`: those of estimate_flags.
[[nodiscard]] Json to_json(const ImportAnswer& answer, const std::vector<std::string>& flags);

}  // namespace plumbline::session
