// Reads of host memory: cut into requests, reassembled by tag, delivered in each client's order. No
// completion is trusted: arrived() checks tag and length; walk() ends requests whose completions do
// not come.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host_if/host_if.hpp"

namespace rnic::model {

namespace {
constexpr uint32_t kBeat = 64, kPage = 4096;
// Walks that an open and a held tag survive. The third walk ends an open tag's request, the fourth
// frees a held tag (host_if_tags.sv, 3 and 4).
constexpr uint8_t kOpenAges = 2, kHeldAges = 3;
constexpr uint32_t beats(uint32_t bytes) { return (bytes + kBeat - 1) / kBeat; }
}  // namespace

HostIf::Rd::Rd(HostIf& h, const spec::Sizes& sizes)
    : h_(h), tags_(sizes.rd_tags), space_(std::max(sizes.rd_buffer, beats(spec::kMaxUlpdu))) {
  // Each client owns a fixed share of the tags.
  const std::array<uint32_t, kReaders> share = read_shares(sizes.rd_tags);
  uint32_t tag = 0;
  for (size_t r = 0; r < kReaders; ++r) {
    for (uint32_t i = 0; i < share[r] && tag < sizes.rd_tags; ++i) {
      tags_[tag].reader = static_cast<Reader>(r);
      free_tags_[r].push(static_cast<uint8_t>(tag++));
    }
  }
}

void HostIf::Rd::ask(Reader r, const MemRead& read) {
  Job j;
  j.purpose = read.purpose;
  j.qpn = read.qpn;
  j.total = read.length;
  j.extents.add({.address = read.address, .length = read.length, .last = 1});
  jobs(r).push(std::move(j));
}

void HostIf::Rd::ask(PayloadFetch f) {
  Job j;
  j.purpose = Purpose::kPayload;
  j.qpn = f.qpn;
  j.total = f.hdr.length;
  j.has_watermark = f.hdr.has_watermark != 0;
  j.watermark = f.hdr.watermark;
  j.extents = std::move(f.extents);
  jobs(Reader::kPayload).push(std::move(j));
}

bool HostIf::Rd::can_ask(Reader r) const {
  const auto c = static_cast<size_t>(r);
  return issue_[c] - head_[c] == jobs(r).size();
}

/// Whether a read with this watermark may be sent: the placements that it must see are done.
bool HostIf::Rd::placed(uint64_t watermark) const { return h_.placed_ >= watermark; }

bool HostIf::Rd::has_next(Reader r) const {
  const size_t c = static_cast<size_t>(r);
  const uint32_t at = issue_[c] - head_[c];
  if (at >= jobs(r).size()) return false;
  const Job& j = jobs(r)[at];
  if (j.has_watermark && !placed(j.watermark)) return false;
  if (!h_.dma_enabled()) return true;
  if (free_tags_[c].empty()) return false;
  return r != Reader::kPayload || j.reserved || beats(j.total) <= space_;
}

/// DMA is disabled (bus master or dev_ctrl.enable): ends the read with an error.
void HostIf::Rd::refuse(Job& j) {
  j.status = spec::RdStatus::kUnsupported;
  j.issued = j.total;
}

ReadTlp HostIf::Rd::next(Reader r) {
  const size_t c = static_cast<size_t>(r);
  Job& j = jobs(r)[issue_[c] - head_[c]];
  if (!h_.dma_enabled()) {
    refuse(j);
    ++issue_[c];
    return {};
  }
  if (r == Reader::kPayload && !j.reserved) {
    space_ -= beats(j.total);
    j.reserved = true;
  }
  const spec::Extent& e = j.extents.all()[j.extent];
  const uint64_t address = e.address + j.extent_offset;
  const uint32_t to_page = kPage - static_cast<uint32_t>(address % kPage);
  const uint32_t length = std::min({e.length - j.extent_offset, h_.mrrs(), to_page});
  const uint8_t tag = free_tags_[c].pop();
  tags_[tag] = {.reader = r, .serial = issue_[c], .offset = j.issued, .left = length, .busy = true};
  given_[c].push(tag);
  tags_[tag].is_given = true;
  set(tag, TagState::kOpen);
  ++j.open;
  j.issued += length;
  tags_[tag].ends = j.issued == j.total;
  j.extent_offset += length;
  if (j.extent_offset == e.length) {
    ++j.extent;
    j.extent_offset = 0;
  }
  if (j.issued == j.total) ++issue_[c];
  return {.tag = tag,
          .read = {.purpose = j.purpose, .qpn = j.qpn, .address = address, .length = length}};
}

/// Changes a tag's state. A free tag may be used again, unless it is still in given_.
void HostIf::Rd::set(uint8_t tag, TagState state) {
  Tag& t = tags_[tag];
  watched_ += (state != TagState::kFree ? 1 : 0) - (t.state != TagState::kFree ? 1 : 0);
  t.state = state;
  t.age = 0;
  if (state == TagState::kFree && !t.is_given) free_tags_[static_cast<size_t>(t.reader)].push(tag);
}

std::optional<ReadPiece> HostIf::Rd::arrived(ReadPiece p) {
  const bool ends = p.is_last || p.status != spec::RdStatus::kOk;
  if (p.tag >= tags_.size() || tags_[p.tag].state != TagState::kOpen) {
    ++unexpected_;
    if (p.is_last && p.tag < tags_.size() && tags_[p.tag].state == TagState::kHeld)
      set(p.tag, TagState::kFree);
    return std::nullopt;
  }
  Tag& t = tags_[p.tag];
  const uint32_t size = p.data.size();
  // Too many bytes, or the last byte without is_last, or is_last without the last byte.
  const bool wrong = size > t.left || (size == t.left) != p.is_last;
  if (p.status == spec::RdStatus::kOk && wrong) {
    ++malformed_;
    set(p.tag, p.is_last ? TagState::kFree : TagState::kHeld);
    return ReadPiece{.tag = p.tag, .status = spec::RdStatus::kAborted, .is_last = true, .data = {}};
  }
  t.left -= std::min(size, t.left);
  if (ends) set(p.tag, p.is_last ? TagState::kFree : TagState::kHeld);
  return p;
}

std::vector<ReadPiece> HostIf::Rd::walk() {
  std::vector<ReadPiece> ended;
  for (size_t i = 0; i < tags_.size(); ++i) {
    Tag& t = tags_[i];
    const auto tag = static_cast<uint8_t>(i);
    if (t.state == TagState::kFree) continue;
    if (t.age < (t.state == TagState::kOpen ? kOpenAges : kHeldAges)) {
      ++t.age;
    } else if (t.state == TagState::kHeld) {
      set(tag, TagState::kFree);
    } else {
      ++timed_out_;
      set(tag, TagState::kHeld);
      ended.push_back(
          {.tag = tag, .status = spec::RdStatus::kAborted, .is_last = true, .data = {}});
    }
  }
  return ended;
}

void HostIf::Rd::piece(const ReadPiece& p) {
  Tag& t = tags_[p.tag];
  const size_t c = static_cast<size_t>(t.reader);
  Job& j = jobs_[c][t.serial - head_[c]];
  if (p.status != spec::RdStatus::kOk) {
    ++errors_;
    if (t.offset < j.bad_at) {  // the read reports the error of its first bytes
      j.status = p.status;
      j.bad_at = t.offset;
    }
    if (j.issued < j.total) {  // request no more of this read
      j.issued = j.total;
      ++issue_[c];
    }
  } else if (p.data.size() == j.total) {
    j.data = p.data;  // the whole read in one piece
  } else {
    if (j.data.empty()) j.data = rnic::Payload::make(j.total);
    std::memcpy(j.data.writable().data() + t.offset, p.data.bytes().data(), p.data.size());
  }
  t.offset += p.data.size();
  if (p.is_last || p.status != spec::RdStatus::kOk) {
    t.busy = false;
    --j.open;
    give_back(c);
  }
}

// Tags leave given_ in the order of use, the last tag of a packet when take() has returned that
// packet (host_if_gather: tail_q, verdict_ready). A held tag enters free_tags_ when it is free.
void HostIf::Rd::give_back(size_t reader) {
  Ring<uint8_t>& given = given_[reader];
  while (!given.empty() && !tags_[given.front()].busy) {
    const Tag& t = tags_[given.front()];
    const bool is_taken = static_cast<int32_t>(t.serial - head_[reader]) < 0;
    if (t.ends && !is_taken) return;
    const uint8_t tag = given.pop();
    tags_[tag].is_given = false;
    if (tags_[tag].state == TagState::kFree) free_tags_[reader].push(tag);
  }
}

bool HostIf::Rd::whole(Reader r) const {
  if (jobs(r).empty()) return false;
  const Job& j = jobs(r).front();
  return j.issued == j.total && j.open == 0;
}

PayloadData HostIf::Rd::take(Reader r) {
  Job j = jobs(r).pop();
  ++head_[static_cast<size_t>(r)];
  give_back(static_cast<size_t>(r));
  if (j.reserved) space_ += beats(j.total);
  if (r == Reader::kPayload) {
    for (const spec::Extent& e : j.extents.all()) h_.out_.retired({e.epoch});
  }
  const bool good = j.status == spec::RdStatus::kOk;
  return {.hdr = {.length = j.total, .status = j.status, .result = spec::TptResult::kOk},
          .data = good ? std::move(j.data) : rnic::Payload{}};
}

std::string HostIf::Rd::waiting_for() const {
  static constexpr std::array<const char*, kReaders> kNames{"SQ fetch", "RQ fetch", "admin",
                                                            "payload",  "atomic",   "registration"};
  std::string s;
  for (size_t r = 0; r < kReaders; ++r) {
    if (jobs_[r].empty()) continue;
    const Job& j = jobs_[r].front();
    s += fmt::format("host_if: {} read of QP {} ({} bytes) waits for {}\n", kNames[r], j.qpn,
                     j.total,
                     j.open != 0 ? fmt::format("{} completions", j.open)
                     : j.has_watermark && !placed(j.watermark) ? "earlier placements"
                     : free_tags_[r].empty()                   ? "a tag"
                                                               : "its turn");
  }
  return s;
}

}  // namespace rnic::model
