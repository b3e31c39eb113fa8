#include "tests/cuda/fake_nccl_files.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace plumbline::nccl {
namespace {

const std::filesystem::path& folder() {
  static const std::filesystem::path named = [] {
    const char* const text = std::getenv("PLUMBLINE_FAKE_NCCL");
    return std::filesystem::path(text == nullptr ? "" : text);
  }();
  return named;
}

/// Seen by others as a whole, or not at all.
void write_file(const std::filesystem::path& file, const std::string& head, const void* data, std::size_t bytes) {
  std::filesystem::path partial = file;
  partial += ".partial";
  {
    std::ofstream out(partial, std::ios::binary);
    out << head << '\n';
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  }
  std::filesystem::rename(partial, file);
}

std::filesystem::path joined_file(const std::string& id, int rank) {
  return folder() / (id + ".joined." + std::to_string(rank));
}

}  // namespace

bool ranks_are_processes() { return !folder().empty(); }

std::string id_of_process(std::int64_t number) {
  return "id " + std::to_string(::getpid()) + "." + std::to_string(number);
}

void join(const std::string& id, int rank) { write_file(joined_file(id, rank), "", nullptr, 0); }

bool have_joined(const std::string& id, int ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    if (!std::filesystem::exists(joined_file(id, rank))) return false;
  return true;
}

FileParts::FileParts(Operation own, const std::string& key, std::size_t parts, std::size_t index)
    : own_(std::move(own)), key_(key), parts_(parts), index_(index) {}

std::filesystem::path FileParts::file_of(std::size_t part) const {
  return folder() / (key_ + "." + std::to_string(part));
}

void FileParts::write_own() const {
  const bool is_read =
      own_.name != "ncclRecv" && (own_.name != "ncclBroadcast" || own_.root == static_cast<int>(index_));
  const std::size_t bytes = is_read ? bytes_of(own_) * (own_.name == "ncclReduceScatter" ? parts_ : 1) : 0;
  const std::string head = own_.name + " " + std::to_string(own_.count) + " " +
                           std::to_string(static_cast<int>(own_.type)) + " " +
                           std::to_string(static_cast<int>(own_.op)) + " " + std::to_string(own_.root);
  write_file(file_of(index_), head, own_.from, bytes);
}

bool FileParts::are_here() {
  if (!is_written_) write_own();
  is_written_ = true;
  for (std::size_t part = 0; part < parts_; ++part)
    if (part != index_ && !std::filesystem::exists(file_of(part))) return false;
  return true;
}

std::vector<Operation> FileParts::read() {
  received_.resize(parts_);
  std::vector<Operation> all(parts_, own_);
  for (std::size_t part = 0; part < parts_; ++part) {
    if (part == index_) continue;
    std::ifstream in(file_of(part), std::ios::binary);
    Operation& o = all[part];
    int type = 0;
    int op = 0;
    in >> o.name >> o.count >> type >> op >> o.root;
    in.ignore();
    const std::string data{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto* const begin = reinterpret_cast<const std::byte*>(data.data());
    received_[part].assign(begin, begin + data.size());
    o.type = static_cast<DataType>(type);
    o.op = static_cast<RedOp>(op);
    o.from = received_[part].data();
    o.to = nullptr;
    if (parts_ == 2) std::filesystem::remove(file_of(part));
  }
  return all;
}

}  // namespace plumbline::nccl
