#include "core/io/rank_map_json.h"

#include "core/plan/rank_map.h"

namespace plumbline {

Json ranks_json(const Plan& plan) {
  const std::vector<GroupLayout> axes = numbering_axes(plan.layout);
  Json::Array ranks;
  for (const RankPlace& place : rank_map(plan.layout, plan.machine)) {
    Json::Object coordinates;
    for (std::size_t i = 0; i < axes.size(); ++i) coordinates.emplace_back(axes[i].axis, place.coordinates[i]);
    Json::Object of_rank{{"rank", place.rank}, {"host", place.host}, {"device", place.device}};
    if (!place.device_name.empty()) of_rank.emplace_back("device_name", place.device_name);
    of_rank.emplace_back("coordinates", std::move(coordinates));
    ranks.emplace_back(std::move(of_rank));
  }
  return ranks;
}

Json plan_with_ranks_json(const Plan& plan) {
  Json::Object object = *to_json(plan).if_object();
  object.emplace_back("ranks", ranks_json(plan));
  return object;
}

}  // namespace plumbline
