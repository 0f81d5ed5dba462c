// Runs gnuplot, and takes its drawing from its standard output. See gnuplot.hpp.
#include "output/gnuplot.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "settings/errors.hpp"

namespace rnic::app {
namespace {

constexpr const char* kAbsent = "gnuplot is missing (apt-get install gnuplot-nox)";

bool is_installed() { return std::system("command -v gnuplot >/dev/null") == 0; }

struct Close {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

}  // namespace

void check_gnuplot(const std::string& plot) {
  if (!is_installed()) throw Missing(fmt::format("--plot {}: {}", plot, kAbsent));
}

std::string gnuplot_svg(const std::string& script) {
  if (!is_installed()) throw Missing(kAbsent);
  // The script is a file, not a pipe: gnuplot may write before it has read all of it.
  const std::unique_ptr<std::FILE, Close> file(std::tmpfile());
  if (!file || std::fputs(script.c_str(), file.get()) < 0 || std::fflush(file.get()) != 0)
    throw Missing("gnuplot: its script cannot be written (is the disk full?)");
  // -d: without the settings of a ~/.gnuplot, so that the same script gives the same bytes.
  std::FILE* out = popen(fmt::format("gnuplot -d /dev/fd/{}", fileno(file.get())).c_str(), "r");
  if (out == nullptr) throw Missing("gnuplot does not start");
  std::string svg;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, out)) != 0;) svg.append(buffer, n);
  if (pclose(out) != 0) throw Missing("gnuplot failed (its messages are above)");
  if (!svg.ends_with("</svg>\n") && !svg.ends_with("</svg>\n\n"))
    throw Missing("gnuplot failed: its drawing has no end");
  return svg;
}

std::string gnuplot_string(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    out += c == '\'' ? std::string("''") : std::string(1, is_control ? ' ' : c);
  }
  return out + "'";
}

}  // namespace rnic::app
