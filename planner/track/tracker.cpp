#include "planner/track/tracker.h"

#include <array>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::array known_trackers{Tracker{"tensorboard", "tensorboard --logdir", tensorboard_files},
                                    Tracker{"mlflow", "mlflow ui --backend-store-uri", mlflow_files},
                                    Tracker{"wandb", "wandb sync", wandb_files}};

}  // namespace

const Tracker& tracker(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const Tracker& one : known_trackers) {
    if (one.name == name) return one;
    names.emplace_back(one.name);
  }
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  throw InputError({std::string(where), "\"" + std::string(name.substr(0, 40)) + "\" is no tracker", "one of " + list,
                    nearest_text(name, names)});
}

}  // namespace plumbline
