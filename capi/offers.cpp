#include "capi/offers.h"

#include <utility>

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline::capi {

using session::Answer;
using session::SharedPlan;

session::UseCase changes_use_case() {
  session::UseCase use_case;
  use_case.options.push_back(session::input("--plan"));
  use_case.work = [](const session::Inputs& inputs) {
    const SharedPlan plan = inputs.source.plan;
    if (!plan || !plan->changes) throw InputError({"--plan", "is no plan of an answer", "a plan of fit", ""});
    return session::Work{[plan](const Task& task) { return plan->changes(*plan, task); }, {}};
  };
  return use_case;
}

session::Work with_offers(session::Work fit) {
  return {[fit = std::move(fit.run)](const Task& task) {
            Answer answer = fit(task);
            const SharedPlan plan = answer.plans.front();
            const Answer changes = plan->changes(*plan, task);
            Json::Object whole = *parse_json(plan->json(), "plan").if_object();
            whole.emplace_back("offers", parse_json(changes.json, "offers"));
            answer.json = to_json_text(std::move(whole));
            answer.complete = changes.complete;
            answer.found = changes.found;
            return answer;
          },
          fit.time_limit};
}

}  // namespace plumbline::capi
