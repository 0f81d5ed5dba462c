// Waveforms of failures. See failure_wave.hpp.
#include "run/failure_wave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "output/files.hpp"
#include "output/name_lock.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"

namespace rnic::app {
namespace {

constexpr uint64_t kBeforeNs = 2000, kAfterNs = 500;

/// Returns name, or name-2, name-3, ..., so that the waveforms of an earlier failure and those that
/// another run is writing are not overwritten.
std::string free_name(const std::string& name, const std::array<std::string, 2>& kind) {
  for (unsigned k = 1;; ++k) {
    const std::string own = k == 1 ? name : fmt::format("{}-{}", name, k);
    const bool is_free = std::ranges::none_of(std::array{kClient, kServer}, [&](Side side) {
      const std::string file = wave_file(own, side);
      return has_rtl(kind[side]) && (std::filesystem::is_regular_file(file) || !hold_name(file));
    });
    if (is_free) return own;
  }
}

std::string written_again(const std::string& wanted, const std::array<std::string, 2>& kind,
                          const Outcome& failed, const Again& again) {
  if (!failed.json.contains("failed_at_ns")) return "";
  const std::string name = free_name(wanted, kind);
  std::string files;
  for (const Side side : {kClient, kServer}) {
    if (!has_rtl(kind[side])) continue;
    const std::string file = wave_file(name, side);
    check_writable("waveform", file);
    check_room("waveform", file);
    files += file + " ";
  }
  if (files.empty()) return "";
  uint64_t at = failed.json["failed_at_ns"];
  std::string what = "the failure was noticed";
  if (failed.json.contains("wrong")) {
    const auto& wrong = failed.json["wrong"];
    const Place place{wrong["side"].get<Side>(), wrong["bus"]};
    // First repetition, without a waveform: when was the wrong byte written?
    const Outcome seen = in_child([&] { return again("none", place); });
    if (seen.json.value("written_at_ns", uint64_t{0}) != 0) {
      at = seen.json["written_at_ns"];
      what = "the wrong byte was written";
    }
  }
  const uint64_t from = at - std::min(at, kBeforeNs), to = at + kAfterNs;
  (void)in_child([&] { return again(fmt::format("{}.fst@{}..{}", name, from, to), {}); });
  return fmt::format("waveform: {}from {} to {} ns; at {} ns {}\n", files, from, to, at, what);
}

}  // namespace

std::string failure_wave(const std::string& name, const std::array<std::string, 2>& kind,
                         const Outcome& failed, const Again& again) {
  try {
    return written_again(name, kind, failed, again);
  } catch (const Interrupted&) {  // the caller's next in_children() throws it again
    return "";
  } catch (const std::runtime_error& e) {  // the failure is reported without a waveform
    return fmt::format("{}\n", e.what());
  }
}

std::string failure_wave(const RunRequest& request, const Outcome& failed) {
  if (!request.wave.empty()) return "";
  return failure_wave(fmt::format("{}-seed{}", request.program, request.seed), request.kind, failed,
                      [&](const std::string& wave, const std::optional<Place>& watch) {
                        RunRequest r = request;
                        r.progress = false;
                        r.pcap = r.tlp = "";
                        r.wave = wave;
                        r.watch = watch;
                        return run(r);
                      });
}

}  // namespace rnic::app
