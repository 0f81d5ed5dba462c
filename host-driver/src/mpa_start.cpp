// MPA start-up frames: see mpa_start.hpp. C-nn: facts in docs/ambiguities.md.
#include "mpa_start.hpp"

#include <algorithm>
#include <string_view>

#include "base/bytes.hpp"

namespace rnic::verbs {

namespace {

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
static_assert(kRequestKey.size() == 16 && kReplyKey.size() == 16);

std::string_view key_of(StartKind kind) {
  return kind == StartKind::kRequest ? kRequestKey : kReplyKey;
}
std::string_view name_of(StartKind kind) {
  return kind == StartKind::kRequest ? "Request" : "Reply";
}

Result<void> check_private_data(size_t bytes, bool enhanced, bool extended = false) {
  const size_t most = spec::kMpaPrivateDataMax - (enhanced ? spec::MpaIrdOrd::kBytes : 0) -
                      (extended ? kExtensionBytes : 0);
  if (bytes <= most) return {};
  return fail(Errc::kInvalidArgument, "RFC 5044 7.1: {} bytes of private data, at most {}", bytes,
              most);
}

// Moves the agreement block from private_data to extension: 8 bytes in front of the private data
// (mpa_extension.hpp).
void take_block(StartFrame& f) {
  f.extension = read_extension(f.private_data, f.kind);
  if (!f.extension) return;
  f.private_data.erase(f.private_data.begin(), f.private_data.begin() + kExtensionBytes);
}

// RFC 6581: 14 bits, of which 0x3fff means "not negotiated" (C-42).
uint16_t clamp14(unsigned value) {
  return static_cast<uint16_t>(std::min(value, unsigned{kNoNegotiation} - 1));
}

// The depth that this side may use, given the depth that the peer offers.
unsigned limited(unsigned own, uint16_t peer) {
  return peer == kNoNegotiation ? own : std::min<unsigned>(own, peer);
}

}  // namespace

std::vector<uint8_t> encode(const StartFrame& f) {
  const size_t ours = f.enhanced ? spec::MpaIrdOrd::kBytes : 0;
  const size_t extra = ours + (f.extension ? kExtensionBytes : 0);
  std::vector<uint8_t> out(kStartBytes + extra + f.private_data.size());
  const auto key = base::as_bytes(key_of(f.kind));
  std::copy(key.begin(), key.end(), out.begin());
  const spec::MpaStart head{.markers = f.markers,
                            .crc = f.crc,
                            .reject = f.reject,
                            .enhanced = f.enhanced,
                            .reserved = 0,
                            .revision = f.revision,
                            .pd_length = static_cast<uint16_t>(extra + f.private_data.size())};
  head.pack(std::span(out).subspan(16));
  if (f.enhanced) f.ird_ord.pack(std::span(out).subspan(kStartBytes));
  if (f.extension)
    write_extension(std::span(out).subspan(kStartBytes + ours), f.kind, *f.extension);
  std::copy(f.private_data.begin(), f.private_data.end(),
            out.begin() + static_cast<std::ptrdiff_t>(kStartBytes + extra));
  return out;
}

Result<size_t> parse_header(std::span<const uint8_t> first20, StartKind expected) {
  const auto name = name_of(expected);
  if (first20.size() < kStartBytes)
    return fail(Errc::kProtocol, "RFC 5044 7.1: {} of {} bytes", name, first20.size());
  const auto key = base::as_bytes(key_of(expected));
  if (!std::equal(key.begin(), key.end(), first20.begin()))
    return fail(Errc::kProtocol, "RFC 5044 7.1: no {} key", name);
  const auto head = spec::MpaStart::unpack(first20.subspan(16));
  if (head.revision != 1 && head.revision != 2)
    return fail(Errc::kProtocol, "RFC 5044 7.1: {} of revision {}", name, head.revision);
  if (head.pd_length > spec::kMpaPrivateDataMax)
    return fail(Errc::kProtocol, "RFC 5044 7.1: {} with {} bytes of private data, at most {}", name,
                head.pd_length, spec::kMpaPrivateDataMax);
  if (expected == StartKind::kRequest && head.reject != 0)
    return fail(Errc::kProtocol, "RFC 5044 7.1: a Request with the reject flag");
  if (head.revision == 2 && head.enhanced != 0 && head.pd_length < spec::MpaIrdOrd::kBytes)
    return fail(Errc::kProtocol, "RFC 6581 4: {} with the S flag and {} bytes", name,
                head.pd_length);
  return size_t{head.pd_length};
}

Result<StartFrame> parse(std::span<const uint8_t> whole, StartKind expected) {
  const auto length = parse_header(whole, expected);
  if (!length) return error_of(length);
  if (whole.size() != kStartBytes + *length)
    return fail(Errc::kProtocol, "RFC 5044 7.1: {} says {} bytes of private data, {} came",
                name_of(expected), *length, whole.size() - kStartBytes);
  const auto head = spec::MpaStart::unpack(whole.subspan(16));
  StartFrame f;
  f.kind = expected;
  f.markers = head.markers != 0;
  f.crc = head.crc != 0;
  f.reject = head.reject != 0;
  f.revision = head.revision;
  f.enhanced = head.revision == 2 && head.enhanced != 0;  // a reserved bit in revision 1
  auto rest = whole.subspan(kStartBytes);
  if (f.enhanced) {
    f.ird_ord = spec::MpaIrdOrd::unpack(rest);
    rest = rest.subspan(spec::MpaIrdOrd::kBytes);
  }
  f.private_data.assign(rest.begin(), rest.end());
  // take_extension() takes the block of a Reply: only a side that asked for the extensions may take
  // these bytes from the ULP.
  if (expected == StartKind::kRequest) take_block(f);
  return f;
}

void take_extension(StartFrame& reply, const StartOffer& own) {
  if (own.flush && !reply.reject) take_block(reply);
}

Result<StartFrame> make_request(const StartOffer& own) {
  if (own.revision != 1 && own.revision != 2)
    return fail(Errc::kInvalidArgument, "MPA revision {}", own.revision);
  const bool enhanced = own.revision == 2;
  if (auto r = check_private_data(own.private_data.size(), enhanced, own.flush); !r)
    return error_of(r);
  StartFrame f;
  f.markers = own.markers;
  f.crc = own.crc;
  f.revision = own.revision;
  f.enhanced = enhanced;
  f.ird_ord.ird = clamp14(own.ird);
  f.ird_ord.ord = clamp14(own.ord);
  if (own.flush) f.extension = MpaExtension{.flush = true};
  f.private_data.assign(own.private_data.begin(), own.private_data.end());
  return f;
}

Result<StartAnswer> answer_request(const StartFrame& request, const StartOffer& own) {
  // A side that does not want the extensions replies without a block.
  const bool extended = request.extension && own.flush;
  if (auto r = check_private_data(own.private_data.size(), request.enhanced, extended); !r)
    return error_of(r);
  StartAnswer a;
  a.agreed.flush = extended && request.extension->flush;
  a.agreed.use_crc = own.crc || request.crc;
  a.agreed.rx_markers = own.markers;
  a.agreed.tx_markers = request.markers;
  a.agreed.ird = own.ird;
  a.agreed.ord = own.ord;
  StartFrame& f = a.reply;
  f.kind = StartKind::kReply;
  f.markers = own.markers;
  f.crc = a.agreed.use_crc;
  f.revision = request.revision;
  f.enhanced = request.enhanced;
  if (extended) f.extension = MpaExtension{.flush = a.agreed.flush};
  f.private_data.assign(own.private_data.begin(), own.private_data.end());
  if (!request.enhanced) return a;

  const spec::MpaIrdOrd& peer = request.ird_ord;
  a.agreed.ird = limited(own.ird, peer.ord);  // serve no more than the peer will ask for
  a.agreed.ord = limited(own.ord, peer.ird);  // ask no more than the peer serves
  f.ird_ord.ird = clamp14(a.agreed.ird);
  f.ird_ord.ord = clamp14(a.agreed.ord);
  // RFC 6581: the initiator first sends a ready-to-receive message (C-41).
  if (peer.peer_to_peer != 0) {
    f.ird_ord.peer_to_peer = 1;
    if (peer.rtr_write != 0) {
      f.ird_ord.rtr_write = 1;
    } else if (peer.rtr_read != 0 && own.ird != 0) {
      f.ird_ord.rtr_read = 1;  // the peer's empty Read occupies one of our IRD slots
      a.agreed.ird = std::max(a.agreed.ird, 1u);
      f.ird_ord.ird = clamp14(a.agreed.ird);
    } else {
      return fail(Errc::kRefused,
                  "RFC 6581 C-43: no ready-to-receive message that both sides know");
    }
  }
  return a;
}

Result<StartFrame> make_reject(const StartFrame& request, std::span<const uint8_t> private_data) {
  if (auto r = check_private_data(private_data.size(), request.enhanced); !r) return error_of(r);
  StartFrame f;
  f.kind = StartKind::kReply;
  f.crc = request.crc;
  f.reject = true;
  f.revision = request.revision;
  f.enhanced = request.enhanced;
  f.private_data.assign(private_data.begin(), private_data.end());
  return f;
}

Result<Agreed> conclude(const StartFrame& reply, const StartOffer& own) {
  if (reply.reject) return fail(Errc::kRefused, "the peer rejects the connection");
  if (reply.revision != own.revision)
    return fail(Errc::kProtocol, "RFC 5044 7.1: Reply of revision {} to a Request of revision {}",
                reply.revision, own.revision);
  Agreed a;
  a.use_crc = own.crc || reply.crc;
  a.rx_markers = own.markers;
  a.tx_markers = reply.markers;
  a.ird = own.ird;
  a.ord = own.ord;
  a.flush = own.flush && reply.extension && reply.extension->flush;
  if (!reply.enhanced) return a;
  if (reply.ird_ord.peer_to_peer != 0)
    return fail(Errc::kProtocol,
                "RFC 6581 4: the Reply chooses a ready-to-receive message that was not offered");
  a.ord = limited(own.ord, reply.ird_ord.ird);
  if (reply.ird_ord.ord != kNoNegotiation && reply.ird_ord.ord > own.ird)
    return fail(Errc::kProtocol, "RFC 6581 C-43: insufficient IRD: the peer wants {}, there are {}",
                reply.ird_ord.ord, own.ird);
  return a;
}

}  // namespace rnic::verbs
