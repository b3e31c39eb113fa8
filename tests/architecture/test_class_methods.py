#!/usr/bin/env python3
"""No class has more than 25 methods: where one has, a noun is missing."""
import pathlib
import unittest

from class_methods import counts_of, methods

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 25

EXAMPLE = """
// class Comment { void f(); };
enum class Kind : std::uint8_t { a, b };
class Example final : public Base<int (*)()> {
 public:
  explicit Example(int a) : a_{a}, b_(a) { run(); }
  Example(const Example&) = delete;
  ~Example() override;
  [[nodiscard]] const std::map<int, std::function<void()>>& one(int a = 3, char c = '(') const { return map_; }
  [[nodiscard]] bool operator==(const Example&) const = default;
  bool operator()(int) const;
  Example& operator+=(int b) { return *this; }
  template <class T, class = std::enable_if_t<(sizeof(T) > 1)>>
  void two(T&& value) {
    if (value) call();
  }
  virtual void three() = 0;
  friend void swap(Example&, Example&);
  using Visit = std::function<void(int)>;
  struct Inner {
    void four();
    int data = f(1);
  };

 private:
  static constexpr int five(std::string text = "}{;(") noexcept;
  void (*pointer_)(int) = nullptr;
  std::function<void(int)> call_ = {};
  std::array<int, 3> values_{1, 2, 3};
  int a_ = make(3);
};
void free_function() { struct Local { void six(); }; }
"""


class ClassMethods(unittest.TestCase):
    def test_no_class_has_more_than_25_methods(self):
        counts = counts_of(ROOT)
        self.assertGreater(len(counts), 500)
        large = [entry for entry in counts if entry[0] > MOST]
        self.assertEqual(large, [], "which noun is missing?")

    def test_what_counts(self):
        self.assertEqual(methods(EXAMPLE), [
            ("Example", ["one", "operator_symbol", "operator_symbol", "two", "three", "five"]),
            ("Inner", ["four"]),
            ("Local", ["six"])])


if __name__ == "__main__":
    unittest.main()
