#!/usr/bin/env python3
"""No header of the product declares a function that only tests call, but for a few with a reason."""
import pathlib
import tempfile
import unittest

from unused_exports import Source, unused_exports

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What tests alone need of the product, and cannot have otherwise.
ALLOWED = {
    "core/cost/block_sizes.h: block_sizes": "a block in bytes alone, where the product prices it too: lowering needs no clock",
    "core/cost/stack_sizes.h: textbook_sizes": "a stack that nobody measured, for the same",
    "runtime/cuda/refused_products.h: forget_refused_products": "of the whole process, so each test begins anew",
    "runtime/execution/parameter_init.h: initial_value": "one element, which what threads draw is held against",
    "gui/export/launch_dialog.h: choose_target": "what a click on a row of the list does",
    "gui/pages/run/plan_process.h: set_program": "a script in place of the command",
    "gui/pages/run/run_page.h: compared_words": "what the page says of its comparison",
    "gui/pages/run/run_page.h: throughput": "the second of two plots of one class",
}

EXAMPLE = """
#define EACH(X) X(by_macro)
// int in_comment();
namespace plumbline {
enum class Kind { a, b };
inline constexpr int value = make(3);
[[nodiscard]] std::map<int, std::function<void(int)>> one(int a = default_of(1), char c = '(');
template <class T, class = std::enable_if_t<(sizeof(T) > 1)>>
void two(T&& argument) {
  if (argument) two(three());
}
class Example : public Base<int (*)()> {
 public:
  explicit Example(int a) : a_(of(a)) { run(); }
  ~Example() override;
  [[nodiscard]] int four() const { return a_; }
  bool operator==(const Example&) const = default;
  void five() override;
  virtual void six() = 0;
  static Example seven();

 private:
  int a_ = 0;
};
Example Example::seven() { return Example(eight); }
}  // namespace plumbline
"""


class UnusedExports(unittest.TestCase):
    def test_the_product_calls_what_it_declares(self):
        found = [f"{header}: {name}" for header, name, _ in unused_exports(ROOT)]
        self.assertEqual([one for one in found if one not in ALLOWED], [], "call it, move it to the tests, or drop it")
        self.assertEqual([one for one in ALLOWED if one not in found], [], "no exception any more")
        self.assertLessEqual(len(ALLOWED), 8)

    def test_what_is_declared_and_used(self):
        source = Source(EXAMPLE)
        self.assertEqual(source.declared, {"one", "two", "four", "seven"})
        for used in ("by_macro", "make", "default_of", "three", "of", "run", "eight"):
            self.assertIn(used, source.used)
        for unused in ("one", "two", "four", "seven", "in_comment"):
            self.assertNotIn(unused, source.used)

    def test_a_function_that_only_tests_call_is_found(self):
        files = {"core/a.h": "int product();\nint tested();\nint lost();\nint own();\n",
                 "core/a.cpp": "int own() { return 1; }\nint product() { return own(); }\nint tested() { return 2; }\n"
                               "int lost() { return lost(); }\n",
                 "cli/b.cpp": "int main() { return product(); }\n",
                 "tests/a_test.cpp": "int test() { return tested() + product(); }\n"}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            self.assertEqual(unused_exports(pathlib.Path(folder)),
                             [("core/a.h", "lost", False), ("core/a.h", "tested", True)])


if __name__ == "__main__":
    unittest.main()
