#include "planner/session/search/around_json.h"

#include "core/io/plan_json.h"
#include "planner/session/search/changes_json.h"

namespace plumbline::session {

Json to_json(const AroundAnswer& answer) {
  return Json::Object{{"format", around_format},
                      {"start", to_json(answer.start)},
                      {"changes_at_most", answer.changes},
                      {"framework", to_text(answer.framework.framework)},
                      {"nearby", changes_json(answer.nearby, answer.start)},
                      {"whole_space", answer.whole ? change_json(*answer.whole, answer.start) : Json()},
                      {"complete", answer.complete}};
}

}  // namespace plumbline::session
