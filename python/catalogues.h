#pragma once
/// \file catalogues.h: the models, machines and software stacks that this program knows.

#include <optional>
#include <string>

#include "python/use_cases.h"

namespace plumbline::python {

/// `catalogue`: "models", "machines" or "stacks"; `name`: one of its entries or a file, else all of them. Throws
/// InputError for a name that is none.
[[nodiscard]] Answer catalogue(const std::string& catalogue, const std::optional<std::string>& name);

}  // namespace plumbline::python
