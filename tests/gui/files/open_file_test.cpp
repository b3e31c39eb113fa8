#include "gui/files/open_file.h"

#include <QFile>
#include <QTemporaryDir>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {
namespace {

std::string written(const QTemporaryDir& folder, const char* name, const QByteArray& text) {
  QFile file(folder.filePath(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text);
  return file.fileName().toStdString();
}

std::string refusal_of(const std::string& path) {
  try {
    (void)open_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file is what its first keys say") {
  const QTemporaryDir folder;
  CHECK(std::holds_alternative<ModelFile>(open_file(written(folder, "config.json", R"({"model_type":"llama"})"))));
  CHECK(std::holds_alternative<ModelFile>(open_file(folder.path().toStdString())));
  CHECK(std::holds_alternative<MachineFile>(
      open_file(written(folder, "machine.json", R"({"format":"plumbline.machine/1"})"))));
  CHECK(std::holds_alternative<RecordFile>(
      open_file(written(folder, "measured.json", R"({"format":"plumbline.measurement/2"})"))));
  const OpenedFile session = open_file(written(
      folder, "s.plumbline", QByteArray::fromStdString(to_json_text(to_json(WindowState{small_form(), "plans"})))));
  REQUIRE(std::holds_alternative<WindowState>(session));
  CHECK(std::get<WindowState>(session).form == small_form());
}

TEST_CASE("broken files are refused in a line that names them") {
  const QTemporaryDir folder;
  for (const QByteArray& text : {QByteArray(""), QByteArray("{"), QByteArray("[1]"), QByteArray("{\"a\":1}"),
                                 QByteArray("\x89PNG\r\n\x1a\n", 8), QByteArray("{\"format\":\"plumbline.plan/1\"}"),
                                 QByteArray("{\"format\":\"another/1\"}"), QByteArray(100000, '[')}) {
    const std::string path = written(folder, "broken.json", text);
    const std::string words = refusal_of(path);
    CHECK(words.starts_with(path));
    CHECK(words.find('\n') == std::string::npos);
  }
  CHECK_FALSE(refusal_of(folder.filePath("nowhere.json").toStdString()).empty());
}

TEST_CASE("a huge file is refused before it is read") {
  const QTemporaryDir folder;
  QFile file(folder.filePath("huge.json"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  REQUIRE(file.resize(qint64(1) << 36));  // 64 GiB of which none is on the disk
  CHECK(refusal_of(file.fileName().toStdString()).find("MiB") != std::string::npos);
}

}  // namespace plumbline::gui
