#include "runtime/rendezvous/tcp_rendezvous.h"

#include <netdb.h>

#include <cerrno>
#include <memory>

#include "runtime/communication/wire.h"
#include "runtime/rendezvous/socket_bytes.h"

namespace plumbline {
namespace {

constexpr char publishes = 'P';
constexpr char finds = 'F';
constexpr char done = 'd';
constexpr char refused = 'r';
constexpr char absent = 'a';
constexpr std::chrono::milliseconds between_attempts(20);
constexpr int poll_ms = 50;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const HostPort& at, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const char* const host = (flags & AI_PASSIVE) != 0 ? nullptr : at.host.c_str();
  const int error = ::getaddrinfo(host, std::to_string(at.port).c_str(), &hints, &found);
  if (error != 0) throw EnvironmentError("rendezvous at " + to_text(at) + ": " + ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::string to_text(const HostPort& address) { return address.host + ":" + std::to_string(address.port); }

TcpRendezvous::TcpRendezvous(HostPort address, Role role, std::chrono::milliseconds patience)
    : address_(std::move(address)), patience_(patience) {
  if (role == Role::asks) return;
  listen();
  thread_ = std::thread([this] { serve(); });
}

TcpRendezvous::~TcpRendezvous() {
  is_over_ = true;
  if (thread_.joinable()) thread_.join();
  if (listener_ >= 0) ::close(listener_);
}

/// On every interface: the address is the one under which others reach this computer.
void TcpRendezvous::listen() {
  const Addresses all = addresses_of(address_, AI_PASSIVE);
  std::string problem = "no address";
  for (const addrinfo* at = all.get(); at != nullptr && listener_ < 0; at = at->ai_next) {
    const int made = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    const int yes = 1;
    if (made >= 0) ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (made >= 0 && ::bind(made, at->ai_addr, at->ai_addrlen) == 0 && ::listen(made, SOMAXCONN) == 0) {
      listener_ = made;
      return;
    }
    problem = std::strerror(errno);
    if (made >= 0) ::close(made);
  }
  throw EnvironmentError("rendezvous: rank 0 cannot listen at port " + std::to_string(address_.port) + ": " + problem);
}

void TcpRendezvous::serve() {
  while (!is_over_) {
    pollfd ready{listener_, POLLIN, 0};
    if (::poll(&ready, 1, poll_ms) <= 0) continue;
    const Socket connection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.is_open()) answer(connection.get());
  }
}

void TcpRendezvous::answer(int connection) {
  std::byte letter{};
  if (!receive_all(connection, {&letter, 1})) return;
  const auto key = receive_block(connection);
  const auto value = key ? receive_block(connection) : std::nullopt;
  if (!value) return;
  const std::string name(reinterpret_cast<const char*>(key->data()), key->size());
  Value reply;
  if (static_cast<char>(letter) == publishes) {
    char outcome = done;
    try {
      values_.publish(name, *value);
    } catch (const EnvironmentError&) {
      outcome = refused;
    }
    reply.push_back(static_cast<std::byte>(outcome));
    append_block(reply, {});
  } else {
    const auto found = values_.find(name);
    reply.push_back(static_cast<std::byte>(found ? done : absent));
    append_block(reply, found ? std::span<const std::byte>(*found) : std::span<const std::byte>());
  }
  (void)send_all(connection, reply);
}

TcpRendezvous::Answer TcpRendezvous::ask(char letter, const std::string& key, const Value& value) const {
  const auto end = Clock::now() + patience_;
  const Addresses all = addresses_of(address_, 0);
  Value question{static_cast<std::byte>(letter)};
  append_block(question, bytes_of(key));
  append_block(question, value);
  for (;;) {
    std::string problem = "no answer";
    for (const addrinfo* at = all.get(); at != nullptr; at = at->ai_next) {
      const Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
      if (!socket.is_open() || ::connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
        problem = std::strerror(errno);
        continue;
      }
      std::byte outcome{};
      if (!send_all(socket.get(), question) || !receive_all(socket.get(), {&outcome, 1})) continue;
      if (auto found = receive_block(socket.get())) return {static_cast<char>(outcome), std::move(*found)};
    }
    if (Clock::now() > end)
      throw EnvironmentError("rendezvous at " + to_text(address_) + ": rank 0 does not answer: " + problem);
    std::this_thread::sleep_for(between_attempts);
  }
}

void TcpRendezvous::publish(const std::string& key, const Value& value) {
  if (thread_.joinable()) return values_.publish(key, value);
  if (ask(publishes, key, value).letter != done)
    throw EnvironmentError("rendezvous at " + to_text(address_) + ": '" + key + "' was published before");
}

std::optional<Value> TcpRendezvous::find(const std::string& key) {
  if (thread_.joinable()) return values_.find(key);
  Answer found = ask(finds, key, {});
  return found.letter == done ? std::optional(std::move(found.value)) : std::nullopt;
}

}  // namespace plumbline
