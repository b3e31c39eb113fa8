#include "jobs/training_job.h"

#include "runtime/run/predicted_memory.h"

namespace plumbline::jobs {

TrainingJob training_job(const session::PreparedRun& prepared, const TrainingFlags& flags, const Recipe& recipe) {
  const Question& question = prepared.asked.question;
  TrainingJob job{.graph = question.graph(),
                  .strategy = prepared.asked.strategy,
                  .training = question.training(),
                  .program = prepared.simulated.program,
                  .constants = question.network().constants,
                  .plan_fingerprint = prepared.training_fingerprint,
                  .network = {question.network().model_type, prepared.network_config, prepared.network_fingerprint}};
  flags.complete(job, recipe);
  return job;
}

RunOptions run_options(const session::PreparedRun& prepared, const TrainingFlags& flags, const StopReading& stop) {
  const Question& question = prepared.asked.question;
  RunOptions options = flags.options(question.graph(), question.training().sequence_length, stop);
  options.device.predicted_memory = predicted_memory_texts(prepared.asked.plan.prediction);
  return options;
}

RunSpeed run_speed_of(const session::PricedQuestion& asked) {
  return run_speed(asked.plan.prediction.model_flops_per_step, asked.question.calibration().device,
                   asked.strategy.devices());
}

ReportedRun reported_run(const session::PreparedRun& prepared, const TrainingFlags& flags, const RunOptions& options,
                         const RunSpeed& speed, const StopReading& stop) {
  const Training& training = prepared.asked.question.training();
  return {options.steps, training.global_batch * training.sequence_length, unigram_entropy(options.data, stop), speed,
          flags.is_text() ? TokenMeaning::bytes : TokenMeaning::numbers};
}

}  // namespace plumbline::jobs
