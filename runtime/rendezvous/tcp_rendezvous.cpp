#include "runtime/rendezvous/tcp_rendezvous.h"

#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "runtime/communication/wire.h"

namespace plumbline {
namespace {

constexpr char publishes = 'P';
constexpr char finds = 'F';
constexpr char joins = 'J';
constexpr std::byte leaves{'L'};
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

enum class Heard : std::uint8_t { nothing, leaving, end };

/// Without waiting.
Heard heard_from(int connection) {
  std::byte letter{};
  const ssize_t received = ::recv(connection, &letter, 1, MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Heard::nothing;
  return received == 1 && letter == leaves ? Heard::leaving : Heard::end;
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
    hear_members();
    pollfd ready{listener_, POLLIN, 0};
    if (::poll(&ready, 1, poll_ms) <= 0) continue;
    Socket connection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.is_open()) answer(connection);
  }
}

void TcpRendezvous::hear_members() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(members_, [&](const auto& member) {
    const auto& [rank, socket] = member;
    const Heard heard = heard_from(socket->get());
    if (heard == Heard::end && lost_ < 0) lost_ = rank;
    return heard != Heard::nothing;
  });
}

void TcpRendezvous::answer(Socket& connection) {
  std::byte letter{};
  if (!receive_all(connection.get(), {&letter, 1})) return;
  const auto key = receive_block(connection.get());
  const auto value = key ? receive_block(connection.get()) : std::nullopt;
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
  } else if (static_cast<char>(letter) == joins) {
    reply.push_back(static_cast<std::byte>(done));
    append_block(reply, {});
    (void)send_all(connection.get(), reply);
    const std::scoped_lock lock(mutex_);
    members_[std::atoi(name.c_str())] = std::make_unique<Socket>(connection.release());
    return;
  } else {
    const auto found = values_.find(name);
    reply.push_back(static_cast<std::byte>(found ? done : absent));
    append_block(reply, found ? std::span<const std::byte>(*found) : std::span<const std::byte>());
  }
  (void)send_all(connection.get(), reply);
}

TcpRendezvous::Answer TcpRendezvous::ask(char letter, const std::string& key, const Value& value, Socket* kept) {
  const auto end = Clock::now() + patience_;
  const Addresses all = addresses_of(address_, 0);
  Value question{static_cast<std::byte>(letter)};
  append_block(question, bytes_of(key));
  append_block(question, value);
  for (;;) {
    std::string problem = "no answer";
    for (const addrinfo* at = all.get(); at != nullptr; at = at->ai_next) {
      Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
      if (!socket.is_open() || ::connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
        problem = std::strerror(errno);
        continue;
      }
      std::byte outcome{};
      if (!send_all(socket.get(), question) || !receive_all(socket.get(), {&outcome, 1})) continue;
      auto found = receive_block(socket.get());
      if (!found) continue;
      if (kept != nullptr) kept->hold(socket.release());
      return {static_cast<char>(outcome), std::move(*found)};
    }
    if (Clock::now() > end || has_keeper_ended())
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

void TcpRendezvous::join(std::int32_t rank, std::int32_t) {
  if (!thread_.joinable()) (void)ask(joins, std::to_string(rank), {}, &joined_);
}

void TcpRendezvous::leave() {
  if (joined_.is_open()) (void)send_all(joined_.get(), {&leaves, 1});
  const std::scoped_lock lock(mutex_);
  for (const auto& [rank, socket] : members_) (void)send_all(socket->get(), {&leaves, 1});
}

bool TcpRendezvous::has_keeper_ended() {
  if (!joined_.is_open() || keeper_left_) return keeper_left_;
  const Heard heard = heard_from(joined_.get());
  if (heard == Heard::leaving) keeper_left_ = true;
  if (heard == Heard::end) lost_ = 0;
  return heard != Heard::nothing;
}

std::optional<std::int32_t> TcpRendezvous::lost() {
  if (lost_ < 0) (void)has_keeper_ended();
  return lost_ < 0 ? std::nullopt : std::optional<std::int32_t>(lost_);
}

void TcpRendezvous::see_off(std::chrono::milliseconds most) {
  const auto end = Clock::now() + most;
  const auto are_there = [&] {
    const std::scoped_lock lock(mutex_);
    return !members_.empty();
  };
  while (are_there() && Clock::now() < end) std::this_thread::sleep_for(between_attempts);
}

}  // namespace plumbline
