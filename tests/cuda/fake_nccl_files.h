#pragma once
/// \file fake_nccl_files.h: parts of collectives whose ranks are processes, through files of one folder. Not for tests.
///
/// Model: PLUMBLINE_FAKE_NCCL names the folder. A rank writes what it brings once its call is next in its stream, and
/// goes on when it has what all others wrote; so a call fits together, or fails, in each process alike. Of two ranks
/// the one that reads removes what the other wrote. Not modelled: that ranks share a device; waiting at first calls.
/// Checked against: tests/cuda/nccl_processes_test.py.

#include <filesystem>

#include "tests/cuda/fake_nccl_parts.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline::nccl {

/// Whether ranks are processes.
[[nodiscard]] bool ranks_are_processes();
/// An id that no other process makes.
[[nodiscard]] std::string id_of_process(std::int64_t number);
/// A rank has made its communicator.
void join(const std::string& id, int rank);
[[nodiscard]] bool have_joined(const std::string& id, int ranks);

class FileParts : public cuda_on_cpu::RemoteParts {
 public:
  /// `index`: of the own part. `key`: of the call, the same for all.
  FileParts(Operation own, const std::string& key, std::size_t parts, std::size_t index);
  [[nodiscard]] bool are_here() override;
  /// All parts; those of others have no memory that is written to.
  [[nodiscard]] std::vector<Operation> read();

 private:
  [[nodiscard]] std::filesystem::path file_of(std::size_t part) const;
  void write_own() const;

  Operation own_;
  std::string key_;
  std::size_t parts_;
  std::size_t index_;
  bool is_written_ = false;
  std::vector<std::vector<std::byte>> received_;
};

}  // namespace plumbline::nccl
