// pcap to listing. See replay/capture.hpp.
#include "replay/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.hpp"
#include "settings/errors.hpp"

namespace rnic::app {
namespace {

// First word of a file: pcap with times in us, in ns; pcapng.
constexpr uint32_t kUs = 0xa1b2c3d4, kNs = 0xa1b23c4d, kPcapng = 0x0a0d0d0a;
// pcap, in bytes: header of the file, and where it has the link type; header of a frame, and where
// it has the number of captured bytes.
constexpr size_t kFileHeader = 24, kLinkType = 20, kRecordHeader = 16, kIncluded = 8;
constexpr size_t kEthernet = 14, kLeastIp = 20, kLeastTcp = 20;  // bytes of headers
constexpr uint32_t kIsEthernet = 1, kIsIpv4 = 0x0800, kIsTcp = 6;
constexpr uint8_t kFin = 0x01, kSyn = 0x02, kAck = 0x10;  // TCP flags
// Bytes of an MPA start frame before its private data; where it has its flags and the length of the
// private data. Bytes of an FPDU's length field and CRC.
constexpr size_t kStart = 20, kStartFlags = 16, kStartLength = 18, kLength = 2, kCrc = 4;
constexpr uint8_t kMarkers = 0x80;          // in the flags
constexpr uint32_t kMostConnections = 256;  // the limit of a listing

struct Packet {
  uint64_t from = 0, to = 0;  // address and port
  uint32_t seq = 0;
  uint8_t flags = 0;
  std::span<const uint8_t> data;
};

/// Empty if the frame is not TCP over IPv4, or was cut by the capture.
std::optional<Packet> packet_of(std::span<const uint8_t> f) {
  if (f.size() < kEthernet + kLeastIp || base::load_be<uint16_t>(&f[12]) != kIsIpv4)
    return std::nullopt;
  // IPv4: length at byte 2, protocol at 9, addresses at 12 and 16. TCP: ports at 0 and 2, sequence
  // number at 4, header length at 12, flags at 13.
  const auto ip = f.subspan(kEthernet);
  const size_t ip_header = (ip[0] & 15u) * 4, all = base::load_be<uint16_t>(&ip[2]);
  if (ip[9] != kIsTcp || all > ip.size() || all < ip_header + kLeastTcp) return std::nullopt;
  const auto tcp = ip.subspan(ip_header, all - ip_header);
  const size_t tcp_header = (tcp[12] >> 4) * size_t{4};
  if (tcp_header < kLeastTcp || tcp_header > tcp.size()) return std::nullopt;
  const auto end = [&](size_t address, size_t port) {
    return uint64_t{base::load_be<uint32_t>(&ip[address])} << 16 |
           base::load_be<uint16_t>(&tcp[port]);
  };
  return Packet{end(12, 0), end(16, 2), base::load_be<uint32_t>(&tcp[4]), tcp[13],
                tcp.subspan(tcp_header)};
}

/// One direction of a connection.
struct Stream {
  uint64_t from = 0, to = 0;
  // is_known: the SYN was captured, so `next` is valid. has_started: the MPA start frame was cut
  // off, so FPDUs follow.
  bool is_known = false, has_started = false;
  uint32_t next = 0;  // sequence number of the next byte
  Bytes waiting;      // bytes of a unit that is not whole yet
};

struct Conn {
  Stream side[2];                  // of the initiator, of the responder
  std::optional<uint32_t> number;  // in the listing; set by its first unit
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    listing_.path = path;
    listing_.name = std::filesystem::path(path).stem().string();
    listing_.connections = 0;
  }

  void take(const Packet& p) {
    if ((p.flags & (kSyn | kAck)) == kSyn) {
      Conn c;
      c.side[0] = {.from = p.from, .to = p.to, .is_known = true, .next = p.seq + 1, .waiting = {}};
      c.side[1] = {.from = p.to, .to = p.from, .waiting = {}};
      conns_.push_back(std::move(c));
      return;
    }
    // Search from the newest: a port may be reused.
    for (auto c = conns_.rbegin(); c != conns_.rend(); ++c) {
      for (const bool is_initiator : {true, false}) {
        Stream& s = c->side[is_initiator ? 0 : 1];
        if (s.from == p.from && s.to == p.to) return take(*c, s, is_initiator, p);
      }
    }
    if (!p.data.empty()) throw wrong("the capture begins within a connection; its SYN is missing");
  }

  Listing listing() {
    if (listing_.units.empty()) throw wrong("no MPA start frame is in the capture");
    for (const Conn& c : conns_) {
      for (const Stream& s : c.side) {
        if (!s.waiting.empty())
          listing_.warnings.push_back(
              fmt::format("replay: {}: the last {} bytes of a stream are no whole FPDU", path_,
                          s.waiting.size()));
      }
    }
    return std::move(listing_);
  }

  Usage wrong(const std::string& what) const {
    return Usage(fmt::format("replay: {}: {}", path_, what));
  }

 private:
  void take(Conn& c, Stream& s, bool is_initiator, const Packet& p) {
    if ((p.flags & kSyn) != 0) {
      s.is_known = true;
      s.next = p.seq + 1;
      return;
    }
    if (!p.data.empty()) {
      if (!s.is_known) throw wrong("a stream has data before its SYN");
      const auto ahead = static_cast<int32_t>(p.seq - s.next);
      if (ahead > 0)
        throw wrong(fmt::format("{} bytes of a stream are missing or come later", ahead));
      // old: bytes of this packet that an earlier packet had, too (a retransmission).
      const auto old = std::min(static_cast<size_t>(-int64_t{ahead}), p.data.size());
      s.waiting.insert(s.waiting.end(), p.data.begin() + static_cast<std::ptrdiff_t>(old),
                       p.data.end());
      s.next += static_cast<uint32_t>(p.data.size() - old);
      while (cut(c, s, is_initiator)) {
      }
    }
    if ((p.flags & kFin) != 0 && !listing_.initiator_closes)
      listing_.initiator_closes = is_initiator;
  }

  /// Cuts the next unit (start frame or FPDU) out of the stream. False: it is not whole yet.
  bool cut(Conn& c, Stream& s, bool is_initiator) {
    const Bytes& w = s.waiting;
    size_t whole = 0;
    if (!s.has_started) {
      if (w.size() < kStart) return false;
      whole = kStart + base::load_be<uint16_t>(&w[kStartLength]);
      if ((w[kStartFlags] & kMarkers) != 0)
        throw wrong("a side asks for MPA markers; replay reads captures without them");
    } else {
      if (w.size() < kLength) return false;
      // Length field and ULPDU, padded to a multiple of 4 bytes; then the CRC.
      whole = (kLength + base::load_be<uint16_t>(w.data()) + size_t{3}) / 4 * 4 + kCrc;
    }
    if (w.size() < whole) return false;
    if (!c.number) {
      if (listing_.connections == kMostConnections)
        throw wrong(fmt::format("more than {} connections", kMostConnections));
      c.number = listing_.connections++;
    }
    const auto end = w.begin() + static_cast<std::ptrdiff_t>(whole);
    Unit u;
    u.n = static_cast<uint32_t>(listing_.units.size());
    u.connection = *c.number;
    u.from_initiator = is_initiator;
    u.is_mpa = !s.has_started;
    u.bytes.assign(w.begin(), end);
    u.is_raw = !u.is_mpa && !parse_fpdu(u.bytes);
    listing_.units.push_back(std::move(u));
    s.has_started = true;
    s.waiting.erase(s.waiting.begin(), end);
    return true;
  }

  std::string path_;
  Listing listing_;
  std::vector<Conn> conns_;
};

bool begins_with(std::span<const uint8_t> file, uint32_t magic) {
  return file.size() >= 4 && (base::load_be<uint32_t>(file.data()) == magic ||
                              base::load_le<uint32_t>(file.data()) == magic);
}

}  // namespace

bool is_pcap(std::span<const uint8_t> file) {
  return begins_with(file, kUs) || begins_with(file, kNs);
}

bool is_pcapng(std::span<const uint8_t> file) { return begins_with(file, kPcapng); }

Listing listing_of_pcap(const std::string& path, std::span<const uint8_t> file) {
  Reader reader(path);
  const bool is_big =
      base::load_be<uint32_t>(file.data()) == kUs || base::load_be<uint32_t>(file.data()) == kNs;
  const auto word = [&](size_t at) {
    return is_big ? base::load_be<uint32_t>(&file[at]) : base::load_le<uint32_t>(&file[at]);
  };
  if (file.size() < kFileHeader) throw reader.wrong("a pcap that is cut short");
  if (word(kLinkType) != kIsEthernet)
    throw reader.wrong(fmt::format("a pcap of link type {}; replay reads Ethernet ({})",
                                   word(kLinkType), kIsEthernet));
  for (size_t at = kFileHeader; at < file.size();) {
    if (file.size() - at < kRecordHeader) throw reader.wrong("a pcap that is cut short");
    const size_t bytes = word(at + kIncluded);
    at += kRecordHeader;
    if (file.size() - at < bytes) throw reader.wrong("a pcap that is cut short");
    if (const auto p = packet_of(file.subspan(at, bytes))) reader.take(*p);
    at += bytes;
  }
  return reader.listing();
}

}  // namespace rnic::app
