#pragma once
/// \file embedded.h: the data files that were compiled into this binary (cmake/PlumblineEmbed.cmake writes them).

#include <span>
#include <string_view>

namespace plumbline::embedded {

struct EmbeddedFile {
  std::string_view name;  ///< the file's path in its directory, without its extension
  std::string_view text;
};

/// models/networks, machines, calibrations, measurements and run_rules, each sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> networks();
[[nodiscard]] std::span<const EmbeddedFile> machines();
[[nodiscard]] std::span<const EmbeddedFile> calibrations();
[[nodiscard]] std::span<const EmbeddedFile> measurements();
[[nodiscard]] std::span<const EmbeddedFile> run_rules();

}  // namespace plumbline::embedded
