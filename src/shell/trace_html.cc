#include "shell/trace_report.h"
namespace suture {
std::string trace_page(const std::vector<TraceReport>&, const TraceReport*, const TraceChange*) { return ""; }
}
