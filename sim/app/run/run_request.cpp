// Checks the request for a run, and writes the command that repeats it. See run_request.hpp.
#include "run/run_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "durable_log.hpp"
#include "run/devices.hpp"
#include "run/timeline.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

/// Checks what one program needs or refuses.
void check_program(const RunRequest& r, const programs::Params& p) {
  if (const auto known = programs::check(program_of(r.program), p); !known)
    throw Usage(known.error().what);
  if (r.program == "file_copy" && r.file.empty())
    throw Usage("file_copy: the file is empty or none was given (--file FILE)");
  if (r.program == "durable_log" && r.config.params().method == "all")
    throw Usage(
        fmt::format("method=all: crash alone takes it; one of {}", programs::log_method_names()));
  if (r.program != "file_copy" && !r.file_name.empty())
    throw Usage(fmt::format("{}: takes no --file (file_copy does)", r.program));
  // Programs that wait for bytes of a message in memory: an empty message would bring none.
  constexpr std::array kAwaited = {"write_lat", "write_bw", "write_flush_bw", "flush_lat",
                                   "file_copy"};
  if (p.size == 0 && std::ranges::find(kAwaited, r.program) != kAwaited.end())
    throw Usage(fmt::format("{}: size 0 is nothing to wait for", r.program));
  // Their size is that of the memory that a key gives access to. A window of length 0 is closed.
  constexpr std::array kLent = {"send_inv", "frwr", "mw_bind"};
  if (p.size == 0 && std::ranges::find(kLent, r.program) != kLent.end())
    throw Usage(fmt::format("{}: size 0 is no memory to give access to; 1 or more", r.program));
}

/// Checks that both devices have the QPs, and the IRD and ORD slots, that the program opens.
void check_qps(const RunRequest& r, const programs::Params& p) {
  const auto used = settings_of(program_of(r.program));
  const auto is_used = [&](std::string_view setting) {
    return std::ranges::find(used, setting) != used.end();
  };
  const uint64_t qps = uint64_t{p.threads} * (is_used("qps") ? p.qps : 1);
  const uint64_t srqs = is_used("srq_limit") ? p.threads : 0;  // an SRQ uses up a QP number
  for (const Side side : {kClient, kServer}) {
    const uint32_t most = r.config.sizes(side).num_qps;
    if (qps > most)
      throw Usage(
          fmt::format("{}: {} QPs are asked for (threads times qps), the {}'s device has {}",
                      r.program, qps, kSideNames[side], most));
    if (qps + srqs > most)
      throw Usage(
          fmt::format("{}: {} QPs (threads times qps) and {} shared receive queues are asked for, "
                      "the {}'s device has {} numbers for both",
                      r.program, qps, srqs, kSideNames[side], most));
    const spec::Sizes sizes = r.config.sizes(side);
    const uint32_t of_a_qp = std::min(sizes.max_ird, sizes.max_ord);
    if (is_used("rd_atomic") && p.rd_atomic > of_a_qp)
      throw Usage(fmt::format("{}: rd_atomic={} is too much for a QP of the {}'s device: {} is {}",
                              r.program, p.rd_atomic, kSideNames[side],
                              sizes.max_ird <= sizes.max_ord ? "max_ird" : "max_ord", of_a_qp));
    // The driver grants a QP fewer slots if fewer are free, but at least one. So after all other
    // QPs, one slot must be left for the last.
    const uint32_t slots = std::min(sizes.ird_slots, sizes.ord_slots);
    if (qps > 1 && (qps - 1) * p.rd_atomic >= slots)
      throw Usage(fmt::format(
          "{}: rd_atomic={} of {} QPs (threads times qps) is too much for the {}'s device, which "
          "has {} "
          "{} slots in all; at most {}",
          r.program, p.rd_atomic, qps, kSideNames[side], slots,
          sizes.ird_slots <= sizes.ord_slots ? "IRD" : "ORD",
          slots > qps - 1 ? fmt::format("rd_atomic={}, or {} QPs", (slots - 1) / (qps - 1),
                                        (slots - 1) / p.rd_atomic + 1)
                          : fmt::format("{} QPs", (slots - 1) / p.rd_atomic + 1)));
  }
}

/// Checks that --explain finds one message at a time.
void check_explain(const RunRequest& r, const programs::Params& p) {
  if (!r.explain) return;
  if (!is_latency(r))
    throw Usage(
        fmt::format("--explain: {} has several messages outstanding; a _lat program or "
                    "pingpong has one",
                    r.program));
  if (p.threads > 1)
    throw Usage(fmt::format("--explain: threads={}: each has a message outstanding; use threads=1",
                            p.threads));
}

/// Checks the images of persistent memory: an existing one must fit, and each must be writable.
void check_images(const RunRequest& r, Files& files) {
  for (const Side side : {kClient, kServer}) {
    const sim::HostConfig host = r.config.platform(side).host;
    const std::string name = fmt::format("{}.pmem_image", kSideNames[side]);
    if (host.pmem_image.empty()) {
      if (host.pmem_recover != 0)
        throw Usage(
            fmt::format("{}.pmem_recover=1: no file is named ({}=FILE)", kSideNames[side], name));
      continue;
    }
    const auto image = sim::read_image(host.pmem_image, host.pmem_bytes);
    const bool is_fresh = !image && image.error().code == base::Errc::kNotFound;
    if (!image && (!is_fresh || host.pmem_recover != 0))
      throw Usage(fmt::format("{}: {}", name, image.error().what));
    check_writable(name, host.pmem_image);
    files.written.push_back({name, host.pmem_image});
  }
}

}  // namespace

void check(const RunRequest& r) {
  check_kinds(r.kind, r.config);
  const programs::Params p = r.config.params(&program_of(r.program));
  check_program(r, p);
  check_explain(r, p);
  check_qps(r, p);
  Files files = r.files;
  if (!r.file_name.empty()) files.read.push_back({"--file", r.file_name});
  if (!r.timeline.empty()) {
    const std::string file = timeline_window(r.timeline).file;
    check_writable("--timeline", file);
    files.written.push_back({"--timeline", file});
  }
  check_images(r, files);
  check_files(std::move(files), r.pcap, r.tlp, r.wave, r.kind);
}

bool is_latency(const RunRequest& r) {
  return r.program.ends_with("_lat") || r.program == "pingpong";
}

std::string reproduce(const RunRequest& r) {
  std::string s =
      fmt::format("rnic-sim run {} --client {} --server {} --seed {}{}", r.program, r.kind[0],
                  r.kind[1], r.seed, r.config.as_options(programs::find(r.program)));
  if (!r.file_name.empty()) s += " --file " + quoted(r.file_name);
  return s;
}

nlohmann::ordered_json settings_json(const Config& config) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const auto& s : config.all()) {
    if (s.value != s.default_value) j[s.name] = s.value;
  }
  for (const auto& s : config.overrides()) j[s.name] = s.value;
  return j;
}

}  // namespace rnic::app
