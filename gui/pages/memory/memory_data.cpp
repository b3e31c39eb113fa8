#include "gui/pages/memory/memory_data.h"

#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"

namespace plumbline::gui {

SharedMemory memory_data(const SharedPlan& plan, const MemoryKnobs& knobs) {
  const session::PricedQuestion& asked = plan->answer;
  auto data = std::make_shared<MemoryData>();
  data->of = plan;
  data->plan = plan_at(asked, knobs);
  data->is_changed = knobs != knobs_of(asked.strategy);
  const std::vector<std::int32_t> sites = asked.question.stage_sites(data->plan.strategy).of_rank;
  for (std::size_t stage = 0; stage < data->stages(); ++stage) {
    const std::int32_t site = stage < sites.size() ? sites[stage] : 0;
    data->device_memory.push_back(asked.question.device_memory(site));
    data->capacity.push_back(asked.question.capacity(site));
  }
  return data;
}

std::string memory_words(const MemoryData& data) {
  const Prediction& now = data.plan.prediction;
  const Prediction& before = data.of->answer.plan.prediction;
  std::string text = "step " + to_text(Seconds(now.step_time_s.expected));
  if (data.is_changed)
    text += " (" + present::difference_text(now.step_time_s.expected, before.step_time_s.expected) + ")";
  text += ", peak " + present::gib_text(now.peak_memory) + " GiB on stage " + std::to_string(now.heaviest_stage) + ": ";
  return text + std::string(present::fit_words(present::fit_of(data.plan.verdict)));
}

std::vector<std::vector<MemoryBranch>> memory_trees(const MemoryData& data) {
  const Question& question = data.of->answer.question;
  SimulationOptions options;
  options.granularity = Granularity::block;
  options.extent = Extent::informative;
  const SimulatedPlan plan = simulated(question, data.plan.strategy, options);
  std::vector<std::vector<MemoryBranch>> trees;
  for (std::size_t stage = 0; stage < data.stages(); ++stage)
    trees.push_back(memory_tree(plan, question, data.plan.strategy, stage));
  return trees;
}

}  // namespace plumbline::gui
