#pragma once
/// \file errors.h: the three kinds of error: the user's input, the environment, and our own bug.
///
/// "Does not fit" and "no plan found" are results (see core/plan/verdict.h), never errors.
/// A message reads `where: what; expected; nearest`.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// The parts of a message about wrong input. Empty parts are left out of the text.
struct InputProblem {
  std::string where;     ///< file and JSON pointer, flag, or name of the question's part
  std::string what;      ///< what is wrong, with the offending value
  std::string expected;  ///< what would have been right
  std::string nearest;   ///< the nearest valid spelling or value
};

/// The user's input is wrong (exit code 2).
class InputError : public std::runtime_error {
 public:
  explicit InputError(InputProblem problem);
  [[nodiscard]] const InputProblem& problem() const { return problem_; }

 private:
  InputProblem problem_;
};

/// A file, device or process failed us (exit code 3).
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A condition that must hold does not: our bug (exit code 70).
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The one-line text of a problem: `where: what; expected ...; nearest: ...`.
[[nodiscard]] std::string to_text(const InputProblem& problem);

/// Throws InternalError with the condition's reason when `holds` is false.
inline void check(bool holds, std::string_view why_it_must_hold) {
  if (!holds) throw InternalError(std::string("internal check failed: ").append(why_it_must_hold));
}

/// The up to `most` candidates that a reader is likely to have meant by `name` (edit distance, ties by order given).
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates,
                                                     std::size_t most = 3);

/// `nearest_names` as the text of InputProblem::nearest ("a, b, c"), empty when nothing is near.
[[nodiscard]] std::string nearest_text(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace plumbline
