#include "gui/dock/cluster_words.h"

#include <QObject>

#include "core/base/errors.h"
#include "core/machine/cluster.h"
#include "gui/text.h"
#include "models/machine_catalog.h"

namespace plumbline::gui {

QString cluster_words(const QuestionForm& form) {
  if (form[Field::machine].empty()) return {};
  try {
    Cluster cluster = find_machine(form[Field::machine]);
    if (const qlonglong gpus = qt(form[Field::gpus]).toLongLong(); gpus > 0) cluster = with_device_count(cluster, gpus);
    if (cluster.groups.size() > 1)
      return QObject::tr("%1 nodes of %2 kinds").arg(node_count(cluster)).arg(cluster.groups.size());
    const std::int64_t nodes = node_count(cluster);
    const auto devices = cluster.groups.front().node.devices;
    return (nodes == 1 ? QObject::tr("%1 node of ") : QObject::tr("%1 nodes of ")).arg(nodes) +
           (devices == 1 ? QObject::tr("%1 GPU") : QObject::tr("%1 GPUs")).arg(devices);
  } catch (const InputError&) {
    return {};  // said where it stands by whoever asks
  }
}

}  // namespace plumbline::gui
