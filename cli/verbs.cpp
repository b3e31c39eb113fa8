#include "cli/verb.h"

namespace plumbline {

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(make_search_verb());
  verbs.push_back(make_fit_verb());
  verbs.push_back(make_estimate_verb());
  verbs.push_back(make_simulate_verb());
  verbs.push_back(make_explain_verb());
  verbs.push_back(make_run_verb());
  verbs.push_back(make_compare_verb());
  verbs.push_back(make_validate_verb());
  verbs.push_back(make_calibrate_verb());
  verbs.push_back(make_models_verb());
  verbs.push_back(make_machines_verb());
  verbs.push_back(make_stacks_verb());
  verbs.push_back(make_completion_verb());
  verbs.push_back(make_man_verb());
  return verbs;
}

}  // namespace plumbline
