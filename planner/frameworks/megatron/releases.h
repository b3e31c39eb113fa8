#pragma once
/// \file releases.h: which releases of Megatron-LM have a flag, and how older ones spell it.
///
/// A release is a tag of Megatron-LM with Megatron-Core inside ("core_v0.12.0"), or "main", the revision of the record.
/// Source: the dataclasses of megatron-core 0.10.0 to 0.16.1 as released on the Python package index, whose fields the
/// flags are named after, and the tags core_v0.17.0 to core_v0.19.0; a flag of arguments.py alone is taken for main's
/// where no release shows it.
/// Not modelled: defaults that changed between releases.
/// Checked against: tests/unit/planner/frameworks/megatron/releases_test.cpp.

#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline::megatron {

/// Oldest first, "main" last.
[[nodiscard]] const std::vector<std::string_view>& releases();
/// Arguments of main as those of another release. Throws InputError (--release) for a flag or value that it lacks, with
/// the first release that has it, and for a value that it refuses, with the last that took it.
[[nodiscard]] Json::Object arguments_for(std::string_view release, Json::Object arguments);

}  // namespace plumbline::megatron
