// Reads a waveform (format FST) of one instant with GTKWave's library. Reader walks the hierarchy
// of scopes and signals in file order, then pairs the ports <name>_valid and <name>_ready.
#include "backend/rtl_snapshot.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "gtkwave/fstapi.h"

namespace rnic::sim {
namespace {

/// Names of the values of an enumerated type, by their bits: "001" -> "StPos".
using Names = std::map<std::string, std::string>;

/// Parses "ddp_tx_segment.st_e 6 StRead StPos ... 000 001 ...": type, count, names, values.
Names names_of(const std::string& table) {
  std::istringstream in(table);
  std::string type;
  size_t many = 0;
  in >> type >> many;
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  Names n;
  if (words.size() != 2 * many) return n;
  for (size_t i = 0; i < many; ++i) n[words[many + i]] = words[i];
  return n;
}

/// The path of an instance without the names of the top.
std::string shown(const std::string& path) {
  constexpr std::string_view kTop = "TOP.rnic.u_";
  if (path.starts_with(kTop)) return path.substr(kTop.size());
  return path.starts_with("TOP.") ? path.substr(4) : path;
}

/// True for st_q, state_q, rx_state_q: the register of a state machine, not of a kind or a status.
bool is_state(const std::string& signal) {
  return signal.ends_with("state_q") || signal == "st_q" || signal.ends_with("_st_q");
}

/// True if a stream stalls; the port holds several streams, one bit each.
bool any_held(const std::string& valid, const std::string& ready) {
  for (size_t b = 0; b < valid.size() && b < ready.size(); ++b)
    if (valid[b] == '1' && ready[b] == '0') return true;
  return false;
}

/// The value of each net as a text of bits. `take`: called by the library for each.
struct Values {
  std::unordered_map<uint32_t, std::string> of;
  static void take(void* self, uint64_t, fstHandle net, const unsigned char* bits) {
    static_cast<Values*>(self)->of[net] = reinterpret_cast<const char*>(bits);
  }
};

class Reader {
 public:
  explicit Reader(void* fst) : fst_(fst) {
    fstReaderSetFacProcessMaskAll(fst_);
    fstReaderIterBlocks(fst_, Values::take, &values_, nullptr);
  }

  RtlSnapshot all() {
    while (const fstHier* h = fstReaderIterateHier(fst_)) {
      if (h->htyp == FST_HT_SCOPE) enter(h->u.scope.typ == FST_ST_VCD_MODULE, h->u.scope.name);
      if (h->htyp == FST_HT_UPSCOPE && !scopes_.empty()) scopes_.pop_back();
      if (h->htyp == FST_HT_ATTRBEGIN && h->u.attr.subtype == FST_MT_ENUMTABLE) table(h->u.attr);
      if (h->htyp == FST_HT_VAR) signal(h->u.var.name, h->u.var.handle);
    }
    for (size_t i = 0; i < s_.instances.size(); ++i) finish(i);
    return std::move(s_);
  }

 private:
  struct Scope {
    std::string path;    // path in the waveform
    int instance = -1;   // instance that owns these signals
    std::string prefix;  // prefix of their names: the struct's
  };

  /// Enters a scope. A struct, a generate block or an unnamed block belongs to the instance around
  /// it.
  void enter(bool is_module, const std::string& name) {
    Scope next = scopes_.empty() ? Scope{} : scopes_.back();
    next.path += (next.path.empty() ? "" : ".") + name;
    if (!is_module || name.starts_with("gen_") || name.starts_with("unnamedblk")) {
      next.prefix += name + ".";
    } else {
      RtlSnapshot::Instance& i = s_.instances.emplace_back();
      i.path = shown(next.path);
      i.parent = next.instance;
      nets_.emplace_back();
      next.instance = static_cast<int>(s_.instances.size()) - 1;
      next.prefix.clear();
    }
    scopes_.push_back(next);
  }

  /// The waveform describes a table once, as a text. Before each signal of its type it repeats the
  /// number of the table.
  template <class Attribute>
  void table(const Attribute& a) {
    const std::string text = a.name == nullptr ? "" : a.name;
    if (text.empty()) {
      type_ = a.arg;
    } else {
      tables_[a.arg] = names_of(text);
    }
  }

  void signal(std::string name, uint32_t net) {
    const uint64_t type = std::exchange(type_, 0);
    if (scopes_.empty() || scopes_.back().instance < 0) return;
    name = scopes_.back().prefix + name.substr(0, name.find(' '));  // without its range
    const auto at = static_cast<size_t>(scopes_.back().instance);
    RtlSnapshot::Instance& i = s_.instances[at];
    const std::string& bits = values_.of[net];
    nets_[at][name] = net;
    i.values[name] = bits;
    if (type == 0 || !is_state(name)) return;
    const auto value = tables_[type].find(bits);
    i.states.push_back({name, value == tables_[type].end() ? bits : value->second});
  }

  /// Finds the streams by the names of the ports.
  void finish(size_t at) {
    RtlSnapshot::Instance& i = s_.instances[at];
    const auto pair = [&](bool is_input, const char* valid, const char* ready) {
      for (const auto& [name, net] : nets_[at]) {
        if (!name.ends_with(valid)) continue;
        const std::string stem = name.substr(0, name.size() - std::string_view(valid).size());
        const auto other = nets_[at].find(stem + ready);
        if (!(stem.empty() || stem.ends_with("_")) || other == nets_[at].end()) continue;
        const std::string &v = i.values[name], &r = i.values[other->first];
        RtlSnapshot::Stream s{.name = stem.substr(0, stem.empty() ? 0 : stem.size() - 1),
                              .is_input = is_input,
                              .valid = net,
                              .ready = other->second,
                              .is_valid = v.find('1') != std::string::npos,
                              .is_ready = r == "1"};
        // Several streams in one port: held if one of them is held.
        if (v.size() > 1) s.is_ready = !any_held(v, r);
        i.streams.push_back(std::move(s));
      }
    };
    pair(true, "valid_i", "ready_o");
    pair(false, "valid_o", "ready_i");
    i.is_cell = i.streams.size() == 2 && i.stream(true, "") && i.stream(false, "");
  }

  void* fst_;
  Values values_;
  RtlSnapshot s_;
  std::vector<std::map<std::string, uint32_t>> nets_;  // same index as `instances`
  std::vector<Scope> scopes_;
  std::map<uint64_t, Names> tables_;  // by their number
  uint64_t type_ = 0;                 // table of the next signal; 0: none
};

}  // namespace

std::optional<uint64_t> RtlSnapshot::Instance::number(const std::string& signal) const {
  const auto found = values.find(signal);
  if (found == values.end() || found->second.empty() || found->second.size() > 64) return {};
  uint64_t n = 0;
  for (const char bit : found->second) n = n << 1 | uint64_t{bit == '1'};
  return n;
}

const RtlSnapshot::Stream* RtlSnapshot::Instance::stream(bool is_input,
                                                         const std::string& name) const {
  const auto found = std::ranges::find_if(
      streams, [&](const Stream& s) { return s.is_input == is_input && s.name == name; });
  return found == streams.end() ? nullptr : &*found;
}

const RtlSnapshot::Instance* RtlSnapshot::find(const std::string& path) const {
  const auto found = std::ranges::find(instances, path, &Instance::path);
  return found == instances.end() ? nullptr : &*found;
}

std::optional<RtlSnapshot> RtlSnapshot::read(const std::string& file) {
  const std::unique_ptr<void, void (*)(void*)> fst(fstReaderOpen(file.c_str()), fstReaderClose);
  if (!fst) return {};
  RtlSnapshot s = Reader(fst.get()).all();
  if (s.instances.empty()) return {};
  return s;
}

}  // namespace rnic::sim
