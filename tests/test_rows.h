#pragma once
/// \file test_rows.h: rows of published numbers that a test is held against (tests/data/*.json).

#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/io/json_file.h"
#include "tests/source_folder.h"

namespace plumbline {

/// A file of `"rows"`, each an object; looks values up by key and throws InputError naming file and key.
class TestRows {
 public:
  explicit TestRows(const std::string& file)
      : where_(test_data_folder() + "/" + file), document_(read_json_file(where_)) {
    JsonObject root = open_document(JsonPlace(document_, where_), "plumbline.test-rows/1");
    for (const JsonPlace& row : root.at("rows").elements()) rows_.emplace_back(row);
  }
  [[nodiscard]] std::vector<JsonObject>& rows() { return rows_; }

 private:
  std::string where_;
  Json document_;
  std::vector<JsonObject> rows_;
};

[[nodiscard]] inline std::int64_t count_at(JsonObject& row, std::string_view key) {
  return row.at(key).integer(0, std::int64_t{1} << 62);
}
[[nodiscard]] inline double number_at(JsonObject& row, std::string_view key) { return row.at(key).number(0, 1e30); }
[[nodiscard]] inline std::vector<std::int64_t> counts_at(JsonObject& row, std::string_view key) {
  std::vector<std::int64_t> counts;
  for (const JsonPlace& element : row.at(key).elements()) counts.push_back(element.integer(0, std::int64_t{1} << 62));
  return counts;
}

}  // namespace plumbline
