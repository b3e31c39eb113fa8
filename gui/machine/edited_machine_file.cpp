#include "gui/machine/edited_machine_file.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "gui/text.h"
#include "planner/question/fingerprint.h"

namespace plumbline::gui {

std::string edited_machine_file(std::string_view machine, const std::vector<MachineEdit>& edits) {
  const Json document = edited_machine(machine_document(machine), edits, machine);
  const std::string text = to_json_text(document);
  const QDir folder(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/machines");
  if (!folder.mkpath(".")) throw EnvironmentError(folder.path().toStdString() + ": cannot be made");
  const std::string name = *document.find("cluster")->find("name")->if_string() + "-" + fingerprint(text) + ".json";
  const QString file = folder.filePath(qt(name));
  if (!QFile::exists(file)) write_output_file(file.toStdString(), text);
  return file.toStdString();
}

}  // namespace plumbline::gui
