#pragma once
/// \file text.h: texts of this program, which are UTF-8, as Qt's.

#include <QString>
#include <string_view>

namespace plumbline::gui {

[[nodiscard]] inline QString qt(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace plumbline::gui
