#include "core/io/svg.h"

#include <algorithm>
#include <cmath>

#include "core/base/escape.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}
std::string attribute(std::string_view name, double value) { return attribute(name, svg_number(value)); }

std::string_view anchor_text(TextAnchor anchor) {
  return anchor == TextAnchor::start ? "start" : anchor == TextAnchor::middle ? "middle" : "end";
}

}  // namespace

double mark_distance(double length) {
  double distance = std::pow(10, std::floor(std::log10(length / 12)));
  for (const double factor : {2., 2.5, 2.}) {
    if (length / distance <= 12) break;
    distance *= factor;
  }
  return distance;
}

int mark_digits(double distance) { return std::max(0, static_cast<int>(-std::floor(std::log10(distance)))); }

std::string svg_number(double value) {
  std::string text = fixed(value, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string box_path(const Box& box) {
  return "M" + svg_number(box.x) + " " + svg_number(box.y) + "h" + svg_number(box.width) + "v" +
         svg_number(box.height) + "h" + svg_number(-box.width) + "z";
}

Svg::Svg(double width, double height) {
  const std::string size = svg_number(width) + " " + svg_number(height);
  text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) + attribute("height", height) +
          attribute("viewBox", "0 0 " + size) + attribute("font-family", "Helvetica, Arial, sans-serif") + ">\n";
  box({0, 0, width, height}, "#ffffff");
}

void Svg::box(const Box& box, std::string_view fill) {
  text_ += "<rect" + attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
           attribute("height", box.height) + attribute("fill", fill) + "/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view dashes) {
  text_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) +
           attribute("stroke", colour);
  if (!dashes.empty()) text_ += attribute("stroke-dasharray", dashes);
  text_ += "/>\n";
}

void Svg::text(double x, double y, std::string_view words, const TextStyle& style) {
  text_ += "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", style.size) +
           attribute("fill", style.colour);
  if (style.anchor != TextAnchor::start) text_ += attribute("text-anchor", anchor_text(style.anchor));
  if (style.weight != "normal") text_ += attribute("font-weight", style.weight);
  text_ += ">" + xml_text(words) + "</text>\n";
}

void Svg::path(std::string_view subpaths, std::string_view fill) {
  text_ += "<path" + attribute("fill", fill) + attribute("d", subpaths) + "/>\n";
}

void Svg::outline(std::string_view subpaths, std::string_view colour) {
  text_ += "<path fill=\"none\"" + attribute("stroke", colour) + attribute("d", subpaths) + "/>\n";
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour, double width) {
  std::string all;
  for (const auto& [x, y] : points) all += (all.empty() ? "" : " ") + svg_number(x) + "," + svg_number(y);
  text_ += "<polyline fill=\"none\"" + attribute("stroke", colour) + attribute("stroke-width", width) +
           attribute("points", all) + "/>\n";
}

void Svg::dot(double x, double y, double radius, std::string_view fill) {
  text_ +=
      "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) + attribute("fill", fill) + "/>\n";
}

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

}  // namespace plumbline
