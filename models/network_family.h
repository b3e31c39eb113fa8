#pragma once
/// \file network_family.h: networks of the catalogue that belong together: a family is the beginning of their names.
///
/// "llama" holds llama-7b, llama-3-8b, llama-4-scout; "llama-3" only llama-3-8b, llama-3.1-8b and their like; "qwen"
/// holds qwen2-7b and qwen3-8b. A beginning ends where a letter does not go on: "gpt" is no family of "gptj".
/// Checked against: tests/unit/models/network_family_test.cpp.

#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// Catalogue names of a family, in any case, with the most parameters first. Throws InputError with the nearest
/// families where there are none.
[[nodiscard]] std::vector<std::string> family_members(std::string_view family);
/// The first part of a catalogue name or alias: "llama" of llama-3-8b, "gpt3" of gpt3-175b; empty of what the catalogue
/// does not hold.
[[nodiscard]] std::string family_of(std::string_view name);

}  // namespace plumbline
