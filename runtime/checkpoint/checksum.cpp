#include "runtime/checkpoint/checksum.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/base/errors.h"

#define XXH_INLINE_ALL  // an installed Plumbline then asks for no library
#include <xxhash.h>

namespace plumbline {
namespace {

constexpr std::size_t bytes_at_a_time = std::size_t{1} << 20;

std::string text_of(XXH64_hash_t hash) {
  std::string text(checksum_digits, '0');
  for (std::size_t i = checksum_digits; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

}  // namespace

struct Checksum::State {
  XXH64_state_t hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH64_reset(&state_->hash, 0); }
Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> data) {
  if (!data.empty()) XXH64_update(&state_->hash, data.data(), data.size());
}

std::string Checksum::text() const { return text_of(XXH64_digest(&state_->hash)); }

std::string checksum_of(std::span<const std::byte> data) { return text_of(XXH64(data.data(), data.size(), 0)); }
std::string checksum_of(std::string_view text) { return checksum_of(std::as_bytes(std::span(text))); }

std::string checksum_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw EnvironmentError(path.string() + ": cannot be opened");
  Checksum checksum;
  std::vector<char> part(bytes_at_a_time);
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    checksum.add(std::as_bytes(std::span(part).first(static_cast<std::size_t>(file.gcount()))));
  }
  if (file.bad()) throw EnvironmentError(path.string() + ": cannot be read");
  return checksum.text();
}

bool is_checksum(std::string_view text) {
  return text.size() == checksum_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace plumbline
