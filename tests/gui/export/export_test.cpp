#include "gui/export/picture_file.h"
#include "gui/export/plan_export.h"

#include <QFile>
#include <QImage>
#include <QSvgRenderer>
#include <QTemporaryDir>

#include "core/base/errors.h"
#include "gui/files/open_file.h"
#include "gui/scatter/scatter_plot.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {

TEST_CASE("a picture is written as SVG with its words, and as PNG of twice its size") {
  const QTemporaryDir folder;
  ScatterPlot plot;
  plot.resize(400, 200);
  ScatterPicture picture;
  picture.points = {{40, 10, 9, 11, true, "a"}, {50, 9, 8, 10, false, "b"}};
  plot.set_picture(picture);
  write_picture(plot, folder.filePath("plot.svg"));
  write_picture(plot, folder.filePath("plot.png"));
  CHECK(QSvgRenderer(folder.filePath("plot.svg")).isValid());
  QFile svg(folder.filePath("plot.svg"));
  REQUIRE(svg.open(QIODevice::ReadOnly));
  CHECK(svg.readAll().contains("GiB"));
  CHECK(QImage(folder.filePath("plot.png")).size() == QSize(800, 400));
  CHECK_THROWS_AS(write_picture(plot, folder.filePath("no/such/folder.png")), EnvironmentError);
  CHECK_THROWS_AS(write_picture(plot, folder.filePath("no/such/folder.svg")), EnvironmentError);
}

TEST_CASE("an exported plan is the file that the command line writes and reads") {
  const QTemporaryDir folder;
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  const SharedPlan plan = priced(answer.plans.front(), answer.request.question);
  QFile file(folder.filePath("plan.json"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(plan_text(*plan)));
  file.close();
  const OpenedFile opened = open_file(file.fileName().toStdString());
  REQUIRE(std::holds_alternative<SharedPlan>(opened));
  const SharedPlan again = std::get<SharedPlan>(opened);
  CHECK(again->answer.strategy == plan->answer.strategy);
  CHECK(plan_text(*again) == plan_text(*plan));
}

}  // namespace plumbline::gui
