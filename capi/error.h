#pragma once
/// \file error.h: what was thrown, as a value of the C interface.

#include <string>

#include "capi/plumbline.h"
#include "core/base/errors.h"

struct plumbline_error {
  int code = PLUMBLINE_INTERNAL_ERROR;
  std::string message;
  plumbline::InputProblem problem = {};
};

namespace plumbline::capi {

/// Of the exception that is being handled: its code, and the error where somebody asks for it.
[[nodiscard]] int report_current(plumbline_error** error) noexcept;

/// Runs `work`. What it throws becomes the code.
template <class Body>
[[nodiscard]] int guarded(plumbline_error** error, const Body& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    body();
    return PLUMBLINE_OK;
  } catch (...) {
    return report_current(error);
  }
}

}  // namespace plumbline::capi
