#pragma once
/// \file scatter_picture.h: plans as points, as a scatter plot shows them.

#include <QPointF>
#include <QString>
#include <cstdint>
#include <vector>

namespace plumbline::gui {

struct ScatterPoint {
  double memory_gib = 0;
  double step_s = 0;
  double low_s = 0;  ///< of the step's interval
  double high_s = 0;
  bool is_tied = false;  ///< nothing tells it apart from the best
  QString words;         ///< what is said of it, a line each
  double cost = 0;       ///< dollars; 0: nobody knows a price
  std::int64_t devices = 0;
};

struct ScatterPicture {
  std::vector<ScatterPoint> points;
  std::vector<QPointF> front;  ///< memory in GiB and step in seconds, by memory
  double capacity_gib = 0;     ///< of a device, without what is to be left free
  double limit_s = 0;          ///< longest step with which the run keeps its limits; 0: there is none
  QString limit_words;         ///< "30 days"
  QString cost_of;             ///< what the points' cost is that of: "the run"
};

}  // namespace plumbline::gui
