// The programs that rnic-sim runs, with perftest's names and meaning; each has a client and a
// server side. The two sides exchange all information over the RDMA connection itself. Every
// arriving byte is checked.
//
//   Session host(settings, params.threads);                  // one per host
//   Report report;                                           // one per thread
//   find("write_lat")->client({.dev = dev, .session = host, .params = params, .thread = 0,
//                              .report = report});
//
// The caller runs client and server on two hosts, in params.threads simulated threads each: thread
// k of the client connects to thread k of the server. Errors are values in the report.
#pragma once

#include <span>
#include <string_view>

#include "session.hpp"

namespace rnic::programs {

struct SettingRow {
  std::string_view name, default_value, unit, sentence;
};

struct Program {
  std::string_view name, sentence;
  bool half_round_trip;  // Report::latency holds half the round trip
  std::span<const SettingRow> settings;
  void (*client)(const Run&);
  void (*server)(const Run&);
  uint32_t bytes = 0;  // of a message, for a program without the setting `size`; else 0
};

std::span<const Program> all();
const Program* find(std::string_view name);
/// Checks the settings whose value is a word (op, method): kInvalidArgument for a word that only
/// other programs support lists the supported ones. Also checks the SRQ's size of srq_pingpong.
[[nodiscard]] Result<void> check(const Program& program, const Params& params);
/// Sets a row by name: "size" "4096". kNotFound: no such setting; kInvalidArgument: bad value.
[[nodiscard]] Result<void> set(Params& params, std::string_view name, std::string_view value);

}  // namespace rnic::programs
