#pragma once
/// \file colour_vision.h: how far apart two colours look, also to people who are colour-blind.
///
/// Source: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
/// 2009, table 1 (severity 1); the distance is CIE 1976 (L*, a*, b*) for D65, of which 2.3 is just noticeable.

#include <QColor>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plumbline::gui {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

inline constexpr std::array<Matrix, 4> visions{{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

inline Triple product(const Matrix& m, const Triple& v) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return result;
}

inline double linear(double share) { return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4); }

inline Triple lab(const Triple& rgb) {
  constexpr Matrix to_xyz{
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
  const Triple xyz = product(to_xyz, rgb);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16. / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

inline Triple seen(const QColor& colour, const Matrix& vision) {
  Triple rgb = product(vision, {linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())});
  for (double& part : rgb) part = std::clamp(part, 0., 1.);
  return lab(rgb);
}

/// The least distance under full colour vision, protanopia, deuteranopia and tritanopia.
inline double least_distance(const QColor& one, const QColor& other) {
  double least = std::numeric_limits<double>::max();
  for (const Matrix& vision : visions) {
    const Triple a = seen(one, vision), b = seen(other, vision);
    least = std::min(least, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
  }
  return least;
}

}  // namespace plumbline::gui
