#pragma once
/// \file file_rendezvous.h: a rendezvous in a folder that all ranks see.
///
/// Model: a file for each key, written beside and renamed. A process that has joined holds a lock on a file of its
/// rank, which the system gives up when the process ends. The folder is made, and holds nothing of an earlier run.
/// Source: flock(2). Not modelled: file systems without locks between computers; a computer that is lost. Checked
/// against: tests/runtime/rendezvous/rendezvous_threads_test.cpp.

#include <filesystem>

#include "runtime/rendezvous/socket_bytes.h"

namespace plumbline {

class FileRendezvous : public Rendezvous {
 public:
  explicit FileRendezvous(std::filesystem::path folder);
  void publish(const std::string& key, const Value& value) override;
  [[nodiscard]] std::optional<Value> find(const std::string& key) override;
  void join(std::int32_t rank, std::int32_t ranks) override;
  void leave() override;
  [[nodiscard]] std::optional<std::int32_t> lost() override;

 private:
  /// Under its final name from the first; a file that is there stays.
  void link(const std::filesystem::path& partial, const std::string& name) const;
  [[nodiscard]] bool is_lost(std::int32_t rank);

  std::filesystem::path folder_;
  Socket own_{-1};
  std::int32_t rank_ = -1;
  std::int32_t ranks_ = 0;
};

}  // namespace plumbline
