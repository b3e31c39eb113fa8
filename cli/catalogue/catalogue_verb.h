#pragma once
/// \file catalogue_verb.h: what the verbs that show a catalogue share: all entries as a table, or one in detail.

#include <optional>
#include <string>

#include "cli/verb.h"

namespace plumbline {

class CatalogueVerb : public Verb {
 public:
  void declare(CLI::App& app) override;
  ExitCode run(Terminal& terminal) override;

 protected:
  explicit CatalogueVerb(std::string_view type_name) : type_name_(type_name) {}

  /// As text, or as JSON with `json()`.
  [[nodiscard]] virtual std::string one(const std::string& name) const = 0;
  [[nodiscard]] virtual std::string all() const = 0;
  /// What to say about a name that could also be a file (models/name_or_path.h); or empty.
  [[nodiscard]] virtual std::string warning(const std::string& name) const = 0;
  /// In the order of the table.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] const std::optional<std::string>& name() const { return name_; }
  [[nodiscard]] bool json() const { return json_; }
  /// Writes files that flags of the verb ask for, before anything is printed.
  virtual void write_files(const std::string& /*name*/, Terminal& /*terminal*/) const {}

 private:
  const CLI::App* app_ = nullptr;
  std::string type_name_;
  std::optional<std::string> name_;
  bool names_ = false;
  bool json_ = false;
};

}  // namespace plumbline
