#include "gui/files/plan_pricer.h"

#include <utility>

namespace plumbline::gui {

PlanPricer::PlanPricer(QObject* parent) : QObject(parent) {
  connect(&job_, &LatestJob::failed, this, &PlanPricer::failed);
}

void PlanPricer::price(const Plan& plan, const QuestionText& question, const session::RunLimits& limits) {
  job_.start([this, plan, question, limits](const LatestJob::Context&) -> LatestJob::Delivery {
    return [this, found = gui::priced(plan, question, limits)] { Q_EMIT priced(found); };
  });
}

void PlanPricer::open(const QString& file) {
  job_.start([this, file](const LatestJob::Context&) -> LatestJob::Delivery {
    return [this, file, content = open_file(file.toStdString())] { Q_EMIT opened(file, content); };
  });
}

}  // namespace plumbline::gui
