#include "core/io/rank_map_json.h"

#include "core/plan/rank_map.h"

namespace plumbline {

Json ranks_json(const Plan& plan) {
  const std::vector<GroupLayout> axes = numbering_axes(plan.layout);
  Json::Array ranks;
  for (const RankPlace& place : rank_map(plan.layout, plan.machine)) {
    Json::Object coordinates;
    for (std::size_t i = 0; i < axes.size(); ++i) coordinates.emplace_back(axes[i].axis, place.coordinates[i]);
    ranks.emplace_back(Json::Object{
        {"rank", place.rank}, {"host", place.host}, {"device", place.device}, {"coordinates", std::move(coordinates)}});
  }
  return ranks;
}

Json plan_with_ranks_json(const Plan& plan) {
  Json::Object object = *to_json(plan).if_object();
  object.emplace_back("ranks", ranks_json(plan));
  return object;
}

}  // namespace plumbline
