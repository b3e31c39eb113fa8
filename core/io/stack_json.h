#pragma once
/// \file stack_json.h: the axes of software stacks ("plumbline.traits/1") and the stacks ("plumbline.stack/1").
///
/// {"format": "plumbline.stack/1", "name", "aliases": [..], "framework", "releases": {"oldest", "newest"},
/// "description", "like": "other-stack", "traits": {axis: value}, "features": {own choices}, "coefficients": {own
/// numbers}, "device": {a whole
/// plumbline.calibration/1 document}}. Aliases, releases, like, coefficients, residuals (residuals_json.h) and device
/// may be absent; a stack that is like no other decides every axis. With a device, one file holds all that a
/// calibration of one's own machine found.

#include <string>
#include <vector>

#include "core/cost/software_stack.h"
#include "core/io/json.h"

namespace plumbline {

/// Strict; throw InputError: unknown axes, values, coefficients and stacks with the nearest names, a coefficient that
/// no part of the table sets or two do, values of one axis that set different ones.
[[nodiscard]] StackAxisTable stack_axes_from_json(const JsonPlace& root);
/// `stacks`: the names that "like" may hold.
[[nodiscard]] SoftwareStack software_stack_from_json(const JsonPlace& root, const StackAxisTable& axes,
                                                     const std::vector<std::string>& stacks);

[[nodiscard]] Json stack_axes_json(const StackAxisTable& table);
[[nodiscard]] Json software_stack_json(const SoftwareStack& stack);

}  // namespace plumbline
