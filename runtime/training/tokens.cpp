#include "runtime/training/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {

class Tokens::Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  [[nodiscard]] virtual std::vector<std::int32_t> read(std::int64_t first, std::int64_t count) const = 0;
};

namespace {

constexpr std::int64_t numbers_at_once = 1'000'000;  // of a pass over all: 4 MB, whatever the file's size
static_assert(std::endian::native == std::endian::little, "token files are little-endian, and are read as they lie");

class TokensInMemory : public Tokens::Store {
 public:
  explicit TokensInMemory(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {}
  [[nodiscard]] std::int64_t size() const override { return std::ssize(numbers_); }
  [[nodiscard]] std::vector<std::int32_t> read(std::int64_t first, std::int64_t count) const override {
    const auto begin = numbers_.begin() + first;
    return {begin, begin + count};
  }

 private:
  std::vector<std::int32_t> numbers_;
};

std::int64_t bytes_of(TokenFileFormat format) {
  switch (format) {
    case TokenFileFormat::text: return 1;
    case TokenFileFormat::u16: return 2;
    case TokenFileFormat::u32: return 4;
  }
  return 1;
}

class TokensInFile : public Tokens::Store {
 public:
  TokensInFile(std::filesystem::path path, TokenFileFormat format, std::int32_t vocabulary)
      : path_(std::move(path)), width_(bytes_of(format)), vocabulary_(vocabulary), descriptor_(opened()) {
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) bytes_ = status.st_size;
  }
  TokensInFile(const TokensInFile&) = delete;
  TokensInFile& operator=(const TokensInFile&) = delete;
  ~TokensInFile() override { ::close(descriptor_); }

  [[nodiscard]] std::int64_t size() const override { return bytes_ / width_; }
  [[nodiscard]] std::vector<std::int32_t> read(std::int64_t first, std::int64_t count) const override {
    std::vector<std::int32_t> numbers = numbers_at(first, count);
    if (const std::int64_t stray = stray_in(numbers); stray < count)
      throw EnvironmentError(path_.string() + ": changed while it was read: token " + std::to_string(first + stray) +
                             " is " + text_of(numbers[static_cast<std::size_t>(stray)]));
    return numbers;
  }
  /// Every token, a million at a time.
  void check_all(const TokenReading& reading) const {
    if (bytes_ % width_ != 0)
      throw InputError(
          {path_.string(), "has " + std::to_string(bytes_) + " bytes", "a multiple of " + std::to_string(width_), ""});
    if (size() > reading.most_tokens)
      throw InputError({path_.string(), "has " + std::to_string(size()) + " tokens",
                        "at most " + std::to_string(reading.most_tokens), ""});
    if (width_ < 4 && (std::int64_t{1} << (8 * width_)) <= vocabulary_) return;  // no number can be too large
    for (std::int64_t first = 0; first < size(); first += numbers_at_once) {
      if (reading.stop && reading.stop()) throw ReadingStopped();
      const std::vector<std::int32_t> numbers = numbers_at(first, std::min(numbers_at_once, size() - first));
      const std::int64_t stray = stray_in(numbers);
      if (stray < std::ssize(numbers))
        throw InputError(
            {path_.string(),
             "token " + std::to_string(first + stray) + " is " + text_of(numbers[static_cast<std::size_t>(stray)]),
             "below the vocabulary of " + std::to_string(vocabulary_), ""});
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, int code) const {
    throw EnvironmentError(path_.string() + ": " + what + ": " + std::generic_category().message(code));
  }
  [[nodiscard]] int opened() const {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path_, error))
      throw InputError({path_.string(), "is no file that can be read", "a text or a file of tokens", ""});
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail("cannot be read", errno);
    return descriptor;
  }
  /// The numbers of 32 bits beyond the 31 of ours become negative, which no vocabulary has either.
  [[nodiscard]] std::int64_t stray_in(const std::vector<std::int32_t>& numbers) const {
    return std::find_if(numbers.begin(), numbers.end(), [&](auto n) { return n < 0 || n >= vocabulary_; }) -
           numbers.begin();
  }
  static std::string text_of(std::int32_t number) { return std::to_string(static_cast<std::uint32_t>(number)); }
  [[nodiscard]] std::vector<std::int32_t> numbers_at(std::int64_t first, std::int64_t count) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * width_));
    read_exactly(bytes, first * width_);
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)  // little-endian: the low bytes of a zero
      std::memcpy(&numbers[i], bytes.data() + i * static_cast<std::size_t>(width_), static_cast<std::size_t>(width_));
    return numbers;
  }
  void read_exactly(std::vector<std::byte>& bytes, std::int64_t from) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(from) + static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot be read", errno);
      if (got == 0)
        throw EnvironmentError(path_.string() + ": was shortened while it was read: it had " + std::to_string(bytes_) +
                               " bytes");
      done += static_cast<std::size_t>(got);
    }
  }

  std::filesystem::path path_;
  std::int64_t width_;  ///< of a number, in bytes
  std::int32_t vocabulary_;
  int descriptor_;
  std::int64_t bytes_ = 0;
};

}  // namespace

Tokens::Tokens(std::vector<std::int32_t> numbers) : store_(std::make_shared<TokensInMemory>(std::move(numbers))) {}

Tokens Tokens::of_file(const std::filesystem::path& path, TokenFileFormat format, std::int32_t vocabulary,
                       const TokenReading& reading) {
  auto file = std::make_shared<TokensInFile>(path, format, vocabulary);
  file->check_all(reading);
  return Tokens(std::move(file));
}

std::int64_t Tokens::size() const { return store_ ? store_->size() : 0; }

std::vector<std::int32_t> Tokens::read(std::int64_t first, std::int64_t count) const {
  check(first >= 0 && count >= 0 && first + count <= size(), "tokens are read where there are some");
  return store_ ? store_->read(first, count) : std::vector<std::int32_t>();
}

void Tokens::read_in_parts(std::int64_t first, std::int64_t count, const Part& part) const {
  for (std::int64_t done = 0; done < count; done += numbers_at_once)
    part(read(first + done, std::min(numbers_at_once, count - done)));
}

}  // namespace plumbline
