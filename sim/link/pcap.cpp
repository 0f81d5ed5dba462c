// Writes a pcap file: a header of 24 bytes, then a record of 16 bytes and the frame for each frame.
// The headers of the frame are built here from struct Frame; the simulated link has none.
#include "link/pcap.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/bytes.hpp"

namespace rnic::sim {
namespace {

// Bytes of the headers and of the options of a SYN. A window is shown in units of 2^kWindowShift
// bytes, as the SYN's window scale option says.
constexpr uint32_t kEthernet = 14, kIp = 20, kTcp = 20, kSynOption = 8, kWindowShift = 7;
constexpr uint8_t kFlagFin = 0x01, kFlagSyn = 0x02, kFlagRst = 0x04, kFlagPush = 0x08,
                  kFlagAck = 0x10;

uint8_t flags_of(const Frame& f) {
  switch (f.kind) {
    case FrameKind::kData:
      return kFlagAck | kFlagPush;
    case FrameKind::kSyn:
      return kFlagSyn;
    case FrameKind::kSynAck:
      return kFlagSyn | kFlagAck;
    case FrameKind::kAck:
    case FrameKind::kFinAck:
      return kFlagAck;
    case FrameKind::kFin:
      return kFlagFin | kFlagAck;
    case FrameKind::kRst:
      return kFlagRst | kFlagAck;
  }
  return 0;
}

/// The Internet checksum (RFC 1071) without its final complement, continued from `start`.
uint32_t sum(std::span<const uint8_t> bytes, uint32_t start) {
  uint64_t s = start;
  size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2) s += base::load_be<uint16_t>(&bytes[i]);
  if (i < bytes.size()) s += static_cast<uint64_t>(bytes[i]) << 8;
  while (s >> 16 != 0) s = (s & 0xffff) + (s >> 16);
  return static_cast<uint32_t>(s);
}
uint16_t checksum(uint32_t s) { return static_cast<uint16_t>(~s); }

}  // namespace

Pcap::Pcap(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
  std::array<uint8_t, 24> header{};
  base::store_le<uint32_t>(&header[0], 0xa1b23c4d);  // magic of a file with times in ns
  base::store_le<uint16_t>(&header[4], 2);           // version 2.4
  base::store_le<uint16_t>(&header[6], 4);
  base::store_le<uint32_t>(&header[16], 262144);  // longest frame
  base::store_le<uint32_t>(&header[20], 1);       // Ethernet
  std::fwrite(header.data(), 1, header.size(), file_);
}

Pcap::~Pcap() { std::fclose(file_); }

void Pcap::frame(Time at, const Frame& f) {
  const bool is_syn = f.kind == FrameKind::kSyn || f.kind == FrameKind::kSynAck;
  const uint32_t tcp_bytes = kTcp + (is_syn ? kSynOption : 0);
  const uint32_t data = f.data.size();
  const uint32_t length = kEthernet + kIp + tcp_bytes + data;
  buffer_.assign(16 + std::max(length, 60u), 0);  // short frames are padded, as Ethernet does
  uint8_t* record = buffer_.data();
  base::store_le<uint32_t>(record, static_cast<uint32_t>(at / (1000 * kMs)));
  base::store_le<uint32_t>(record + 4, static_cast<uint32_t>(at % (1000 * kMs) / kNs));
  base::store_le<uint32_t>(record + 8, static_cast<uint32_t>(buffer_.size()) - 16);
  base::store_le<uint32_t>(record + 12, static_cast<uint32_t>(buffer_.size()) - 16);

  uint8_t* eth = record + 16;
  eth[0] = eth[6] = 0x02;  // locally administered
  eth[5] = static_cast<uint8_t>(f.to + 1);
  eth[11] = static_cast<uint8_t>(f.from + 1);
  base::store_be<uint16_t>(eth + 12, 0x0800);  // IPv4

  uint8_t* ip = eth + kEthernet;
  ip[0] = 0x45;  // version 4, header of 5 words
  base::store_be<uint16_t>(ip + 2, static_cast<uint16_t>(kIp + tcp_bytes + data));
  base::store_be<uint16_t>(ip + 4, ip_id_[f.from]++);
  base::store_be<uint16_t>(ip + 6, 0x4000);  // do not fragment
  ip[8] = 64;                                // time to live
  ip[9] = 6;                                 // TCP
  base::store_be<uint32_t>(ip + 12, host_address(f.from));
  base::store_be<uint32_t>(ip + 16, host_address(f.to));
  base::store_be<uint16_t>(ip + 10, checksum(sum({ip, kIp}, 0)));

  uint8_t* tcp = ip + kIp;
  base::store_be<uint16_t>(tcp, f.from_port);
  base::store_be<uint16_t>(tcp + 2, f.to_port);
  base::store_be<uint32_t>(tcp + 4, f.seq);
  const uint8_t flags = flags_of(f);
  base::store_be<uint32_t>(tcp + 8, (flags & kFlagAck) != 0 ? f.ack : 0u);
  tcp[12] = static_cast<uint8_t>(tcp_bytes / 4 << 4);
  tcp[13] = flags;
  base::store_be<uint16_t>(tcp + 14, static_cast<uint16_t>(std::min(
                                         is_syn ? f.window : f.window >> kWindowShift, 65535u)));
  if (is_syn) {  // options: maximum segment size, no operation, window scale
    const uint8_t options[kSynOption] = {
        2, 4,           static_cast<uint8_t>(f.mss >> 8), static_cast<uint8_t>(f.mss & 0xff), 1, 3,
        3, kWindowShift};
    std::copy_n(options, kSynOption, tcp + kTcp);
  }
  if (data > 0) std::copy_n(f.data.bytes().data(), data, tcp + tcp_bytes);
  // TCP's checksum also covers both addresses, the protocol (6) and the length.
  const uint32_t pseudo = sum({ip + 12, 8}, 6 + tcp_bytes + data);
  base::store_be<uint16_t>(tcp + 16, checksum(sum({tcp, tcp_bytes + data}, pseudo)));
  std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
}

}  // namespace rnic::sim
