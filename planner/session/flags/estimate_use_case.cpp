// One strategy, priced.
#include "planner/session/flags/asked_plan.h"

namespace plumbline::session {

UseCase estimate_use_case() {
  const auto asked = std::make_shared<AskedPlan>();
  UseCase use_case;
  asked->bind(use_case.options);
  use_case.work = [asked](const Inputs& inputs) {
    return Work{[request = asked->request(inputs.source, NoStrategy::best)](const Task& task) {
                  Answer answer;
                  answer.plans = {priced(request)};
                  answer.warning = answer.plans.front()->asked->warning;
                  answer.found = !task.is_stopped();
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
