// A table of kernels reads back as it was written, and is refused where it is wrong.

#include "core/io/kernel_table_json.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

KernelTable sample_table() {
  KernelTable table{"cpu-core", "a computer", "oneDNN", 2, {}, {}, {}, {}, {}};
  table.products = {{1, 512, 256, 128, NumberFormat::fp32, "forward", 1e-3}};
  table.attention = {{2, 128, 8, 4, 32, NumberFormat::bf16, 1e-3, 3e-3}};
  table.memory_bound = {{"add", NumberFormat::fp16, Bytes(4096), 2.5e-6}};
  table.collectives = {{"all-reduce", 4, Bytes(1024), 1e-5}};
  table.crowds = {{4, 2.25}};
  return table;
}

KernelTable read_back(const std::string& text) {
  const Json json = parse_json(text, "k.json");
  return kernel_table_from_json(JsonPlace(json, "k.json"));
}

}  // namespace

TEST_CASE("a table of kernels reads back equal") {
  const std::string text = to_json_text(to_json(sample_table()));
  CHECK(read_back(text) == sample_table());
  CHECK(to_json_text(to_json(read_back(text))) == text);
  KernelTable busy = sample_table();
  busy.core_share = 0.25;
  CHECK(read_back(to_json_text(to_json(busy))) == busy);
}

TEST_CASE("a kernel that took no time, and a format that there is not, are refused") {
  const auto refusal = [](const std::string& found, const std::string& replacement) -> std::string {
    std::string text = to_json_text(to_json(sample_table()));
    text.replace(text.find(found), found.size(), replacement);
    try {
      (void)read_back(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refusal("\"median_s\": 0.001", "\"median_s\": 0.0").find("k.json:/gemm/0/median_s") == 0);
  CHECK(refusal("\"bf16\"", "\"bf61\"").find("nearest: bf16") != std::string::npos);
  CHECK(refusal("\"seq\": 128", "\"sequence\": 128").find("k.json:/attention/0") == 0);
}

}  // namespace plumbline
