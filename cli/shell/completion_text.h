#pragma once
/// \file completion_text.h: shell completions, made of the flags that the verbs have.

#include <string>

namespace plumbline {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace plumbline
