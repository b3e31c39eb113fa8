#include "runtime/communication/wire.h"

#include "core/quantity/text.h"

namespace plumbline {

std::string to_text(const CallSite& site) {
  const std::string number = site.kind == Collective::send_receive ? "" : " " + std::to_string(site.sequence);
  return std::string(to_text(site.kind)) + number + " of group " + site.group;
}

std::uint64_t group_key(const RankSet& set, std::int32_t instance) {
  // FNV-1a (Fowler, Noll, Vo; RFC 9923): the offset basis and prime of its 64-bit form.
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
  for (const char c : set.name) add(static_cast<unsigned char>(c));
  add(0);
  for (const std::int32_t rank : set.ranks) add(static_cast<std::uint64_t>(rank));
  add(static_cast<std::uint64_t>(instance));
  return hash;
}

std::string duration_text(std::chrono::milliseconds duration) {
  return to_text(Seconds(std::chrono::duration<double>(duration).count()));
}

Message take_or_explain(Mailbox& mailbox, const MessageKey& key, const CallSite& site, std::int32_t rank,
                        std::chrono::milliseconds deadline, const std::function<std::string()>& elsewhere) {
  const std::string here = "rank " + std::to_string(rank);
  std::optional<Message> message;
  try {
    message = mailbox.take(key, Clock::now() + deadline);
  } catch (const EnvironmentError& error) {
    throw CommunicationError(here + " stopped in " + to_text(site) + ": " + error.what());
  }
  if (message) return std::move(*message);
  throw CommunicationError(here + " waited " + duration_text(deadline) + " in " + to_text(site) + " for rank " +
                           std::to_string(key.from) + (elsewhere ? "; " + elsewhere() : ""));
}

}  // namespace plumbline
