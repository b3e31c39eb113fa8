#pragma once
/// \file catalogue_json.h: the catalogues, and one network in detail, as `plan models`, `machines` and `stacks` print
/// them with --json; written only.
///
/// Checked against: tests/unit/models/io/catalogue_json_test.cpp.

#include "core/io/json.h"
#include "models/description/network.h"

namespace plumbline {

/// [{"name","parameters","active_parameters","source"},...].
[[nodiscard]] Json network_catalogue_json();
/// The same of one network, with its blocks and where its facts come from.
[[nodiscard]] Json network_json(const Network& network);
[[nodiscard]] Json machine_catalogue_json();
[[nodiscard]] Json stack_catalogue_json();

}  // namespace plumbline
