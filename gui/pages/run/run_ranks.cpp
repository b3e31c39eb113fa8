#include "gui/pages/run/run_ranks.h"

#include <QObject>

namespace plumbline::gui {

QString words_of(RunRanks ranks) {
  switch (ranks) {
    case RunRanks::cpu_threads: return QObject::tr("CPU: ranks are threads");
    case RunRanks::one_gpu: return QObject::tr("CUDA: ranks share one GPU");
    case RunRanks::gpu_each: return QObject::tr("CUDA: a GPU for each rank");
  }
  return {};
}

QStringList flags_of(RunRanks ranks) {
  switch (ranks) {
    case RunRanks::cpu_threads: return {};
    case RunRanks::one_gpu: return {"--backend", "cuda"};
    case RunRanks::gpu_each: return {"--backend", "cuda", "--ranks", "nccl"};
  }
  return {};
}

}  // namespace plumbline::gui
