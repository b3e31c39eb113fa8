#pragma once
/// \file loss_view.h: losses over steps, as a curve on the terminal and as a picture.

#include <string>
#include <vector>

namespace plumbline {

/// A dozen rows of the terminal; a column is the mean of some steps. Empty for fewer than two finite losses.
[[nodiscard]] std::string loss_curve_text(const std::vector<double>& losses);

struct LossCurve {
  std::string name;
  std::vector<double> losses;
};
/// An SVG document with one line for each run, all on one scale. Deterministic.
[[nodiscard]] std::string loss_picture(const std::string& title, const std::vector<LossCurve>& curves);

}  // namespace plumbline
