#include "gui/pages/run/run_request.h"

namespace plumbline::gui {

std::vector<std::pair<std::string, std::string>> training_texts(const RunRequest& request) {
  return {{"--steps", std::to_string(request.steps)}, {"--generate", "0"}};
}

}  // namespace plumbline::gui
