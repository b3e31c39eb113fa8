#pragma once
/// \file file_rendezvous.h: a rendezvous in a folder that all ranks see.
///
/// Model: a file for each key, written beside and renamed. The folder is made, and holds nothing of an earlier run.
/// Checked against: tests/runtime/rendezvous/rendezvous_threads_test.cpp.

#include <filesystem>

#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {

class FileRendezvous : public Rendezvous {
 public:
  explicit FileRendezvous(std::filesystem::path folder);
  void publish(const std::string& key, const Value& value) override;
  [[nodiscard]] std::optional<Value> find(const std::string& key) override;

 private:
  std::filesystem::path folder_;
};

}  // namespace plumbline
