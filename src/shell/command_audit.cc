// suture audit: every call site of a whole package that rules without an edit find; what is known of each.
#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/text.h"
#include "effects/wrapper_source.h"
#include "engine/check.h"
#include "read/wrapper_table.h"
#include "shell/audit_report.h"
#include "shell/catalog_files.h"
#include "shell/planning.h"

#ifdef __GLIBC__  // which the headers above say
#include <malloc.h>
#endif

namespace suture {
namespace {

constexpr std::uint64_t kMostRuleBytes = 1U << 20U;

// The rules of a run, and the table for what they find.
struct Inventory {
  std::vector<Rule> rules;
  std::optional<WrapperTable> table;
  bool own = false;  // rules of --rules
};

// A rule that edits is looked for by its match.
Audit as_audit(const Rule& rule) {
  Audit audit;
  audit.kind = "rule";
  audit.message = rule.note.empty() ? rule.id : rule.note;
  return audit;
}

Status add_rules(const std::string& name, std::string bytes, Inventory& out) {
  Result<std::vector<Rule>> rules = read_rules(std::make_shared<const Source>(name, std::move(bytes)));
  if (!rules) return rules.error();
  for (Rule& rule : *rules) {
    if (!rule.audit) rule.audit = as_audit(rule);
    out.rules.push_back(std::move(rule));
  }
  return Nothing{};
}

Status add_own(const Session& session, const std::string& path, Inventory& out) {
  out.own = true;
  const Io<std::string> absolute = session.fs().real_path(path);
  const Io<std::string> bytes = absolute ? read_file(session.fs(), kAbsolute, absolute.value, kMostRuleBytes)
                                         : Io<std::string>{absolute.error, {}};
  if (!bytes) return io_error("read", path, bytes.error);
  const std::size_t first = out.rules.size();
  if (Status added = add_rules(path, bytes.value, out); !added) return added;
  for (std::size_t i = first; i < out.rules.size(); ++i) {
    const Rule& rule = out.rules[i];
    if (!rule.base.narrow.match && rule.any_of.empty())
      return rule_error(rule, rule.at, "the rule \"" + rule.id + "\" has no 'match': there is nothing to look for",
                        "suture audit takes rules that match code");
    if (Status checked = check_rule(rule); !checked) return checked;
  }
  return Nothing{};
}

Result<Inventory> read_inventory(const Session& session) {
  Inventory out;
  const std::vector<std::string> own = session.options().values("--rules");
  for (const NamedBytes& file : embedded_files()) {
    if (!is_audit_file(file)) continue;
    if (is_wrapper_table(file)) {
      Result<WrapperTable> table = read_wrapper_table(std::make_shared<const Source>(file.path, file.bytes));
      if (!table) return table.error();
      out.table = std::move(*table);
    } else if (own.empty()) {
      if (Status added = add_rules(file.path, file.bytes, out); !added) return added.error();
    }
  }
  for (const std::string& path : own) {
    if (Status added = add_own(session, path, out); !added) return added.error();
  }
  return out;
}

// Those of --kind.
Status keep_kinds(const Session& session, std::vector<Rule>& rules) {
  const std::vector<std::string> kinds = session.options().values("--kind");
  if (kinds.empty()) return Nothing{};
  std::vector<std::string> known;
  for (const Rule& rule : rules) {
    if (std::find(known.begin(), known.end(), rule.audit->kind) == known.end()) known.push_back(rule.audit->kind);
  }
  for (const std::string& kind : kinds) {
    if (std::find(known.begin(), known.end(), kind) != known.end()) continue;
    return Error{Exit::usage, "--kind is given \"" + kind + "\", which no rule finds", std::nullopt,
                 "the kinds are " + join(known, ", ", " and ")};
  }
  std::erase_if(
      rules, [&](const Rule& rule) { return std::find(kinds.begin(), kinds.end(), rule.audit->kind) == kinds.end(); });
  return Nothing{};
}

// --- what there is to audit ------------------------------------------------------------------------------------------

struct Found {
  PackageGroup group;
  LocatedTree tree;
};

// The folder of --tree itself, where it is none of the packages that there are patches for.
Result<Found> as_it_is(const Session& session, const LocatedTree& tried) {
  const std::string tree = session.options().value("--tree");
  const Io<std::string> path = session.fs().real_path(tree);
  const Io<FileInfo> info = path ? session.fs().info_at(kAbsolute, path.value) : Io<FileInfo>{path.error, {}};
  if (tree.empty() || !info || info.value.kind != FileInfo::Kind::folder)
    return Error{Exit::unfit, "there is no package to audit: " + tried.how, std::nullopt,
                 "name the package's folder with --tree"};
  Found out;
  const std::string name = path.value.substr(path.value.rfind('/') + 1);
  out.group = {normalize_name(name), name, {}};
  out.tree.package_folder = path.value;
  out.tree.metadata_folder = path.value.substr(0, path.value.rfind('/'));
  out.tree.display = tree;
  out.tree.present = true;
  out.tree.how = "the folder of --tree as it is";
  return out;
}

Result<std::vector<Found>> find_packages(const Session& session, const std::vector<PackageGroup>& groups) {
  const std::string tree = session.options().value("--tree");
  std::vector<Found> out;
  std::optional<LocatedTree> absent;
  for (const PackageGroup& group : groups) {
    Result<LocatedTree> located = session.find(tree, group.package, group.folder);
    if (!located) return located.error();
    if (located->present) {
      out.push_back({group, std::move(*located)});
    } else {
      absent = std::move(*located);
    }
  }
  if (!out.empty()) return out;
  Result<Found> found = as_it_is(session, absent ? *absent : LocatedTree{});
  if (!found) return found.error();
  out.push_back(std::move(*found));
  return out;
}

// --- what is known of the sites --------------------------------------------------------------------------------------

bool overlaps(const ReportedSite& site, const Evidence& place) {
  return place.path == site.path && site.site.line <= place.where.line && place.where.line <= site.site.end_line;
}

// Which patches remove a cast, by the sites that their rules would edit.
void add_patches(const std::vector<PatchOutcome>& outcomes, std::vector<ReportedSite>& sites) {
  for (ReportedSite& site : sites) {
    if (site.audit.kind != "cast") continue;
    for (const PatchOutcome& outcome : outcomes) {
      for (const RuleOutcome& rule : outcome.rules) {
        const bool edits = std::any_of(rule.sites.begin(), rule.sites.end(),
                                       [&](const Evidence& place) { return overlaps(site, place); });
        if (!edits) continue;
        site.patches.push_back({outcome.patch, rule.rule, std::string(verdict_name(outcome.verdict))});
        break;
      }
    }
  }
}

void add_misfit(const WrapperSignatures& signatures, ReportedSite& site) {
  if (site.plan->misfit.empty()) return;
  site.remarks.push_back({AuditRemark::Kind::misfit,
                          "this call would raise: " + site.plan->type + "." +
                              site.site.callee.substr(site.site.callee.rfind('.') + 1) + " " + site.plan->misfit +
                              ", by " + signatures.source,
                          {}});
}

// A plan whose KV cache is of the model's dtype, in a file that casts the pool in a function which runs a wrapper.
void add_waste(const WrapperTable& table, std::vector<ReportedSite>& sites) {
  const auto runs = [&table](const ReportedSite& site) {
    return site.audit.kind == "cast" && !site.audit.possible &&
           std::any_of(site.site.calls.begin(), site.site.calls.end(), [&](const std::string& name) {
             return std::find(table.runs.begin(), table.runs.end(), name) != table.runs.end();
           });
  };
  for (ReportedSite& site : sites) {
    if (!site.plan || site.plan->kind != PlanSite::Kind::wrapper || !site.plan->kv_as_model) continue;
    AuditRemark remark;
    std::vector<std::string> scopes;
    for (const ReportedSite& cast : sites) {
      if (cast.path != site.path || !runs(cast)) continue;
      remark.related.emplace_back(cast.path, cast.site.line);
      const std::string where =
          cast.site.scope.substr(cast.site.scope.rfind('.') + 1) + " (line " + std::to_string(cast.site.line) + ")";
      if (std::find(scopes.begin(), scopes.end(), where) == scopes.end()) scopes.push_back(where);
    }
    if (scopes.empty()) continue;
    remark.message = "the KV cache is planned as the dtype of the model (" + site.plan->kv_dtype + "), so " +
                     join(scopes, ", ", " and ") + (scopes.size() == 1 ? " casts" : " cast") +
                     " the whole pool to it before the wrapper runs";
    site.remarks.push_back(std::move(remark));
  }
}

Status add_plans(const Session& session, const LocatedTree& tree, const WrapperTable& table, AuditReport& report) {
  const bool any = std::any_of(report.sites.begin(), report.sites.end(),
                               [](const ReportedSite& site) { return site.site.receiver.has_value(); });
  if (!any) return Nothing{};
  Result<WrapperSignatures> signatures =
      wrapper_signatures(session.fs(), tree, table, session.options().value("--flashinfer"), session.environment());
  if (!signatures) return signatures.error();
  report.signatures = signatures->source;
  for (ReportedSite& site : report.sites) {
    if (!site.site.receiver) continue;
    site.plan = read_plan(site.site, table, *signatures);
    add_misfit(*signatures, site);
  }
  add_waste(table, report.sites);
  return Nothing{};
}

AuditReport report_of(const std::string& folder, const AuditRules& rules, TreeAudit audit) {
  AuditReport out;
  out.folder = folder;
  out.files_read = audit.read;
  out.files_parsed = audit.parsed;
  out.bytes_read = audit.bytes;
  out.bytes_parsed = audit.parsed_bytes;
  std::map<std::string, std::size_t> kinds;
  for (AuditedFile& file : audit.files) {
    if (file.audit.problem) out.problems.push_back(std::move(*file.audit.problem));
    for (AuditSite& site : file.audit.sites) {
      const Rule& rule = *rules.compiled()[site.rule].rule;
      ++kinds[rule.audit->kind];
      out.sites.push_back({file.path, std::move(site), rule.id, *rule.audit, std::nullopt, {}, {}});
    }
  }
  out.by_kind.assign(kinds.begin(), kinds.end());
  return out;
}

// --- the run ---------------------------------------------------------------------------------------------------------

// A parse takes megabytes for a moment. By itself the library's allocator keeps what it once gave out, for each thread.
void give_memory_back() {
#ifdef __GLIBC__
  static_cast<void>(mallopt(M_TRIM_THRESHOLD, 128 << 10));  // the default, but from now on fixed
#endif
}

struct Run {
  const Session& session;
  const Inventory& inventory;
  const AuditRules& rules;
  const Catalog& catalog;
};

bool looks_for_casts(const AuditRules& rules) {
  return std::any_of(rules.compiled().begin(), rules.compiled().end(),
                     [](const CompiledRule& rule) { return rule.rule->audit->kind == "cast"; });
}

// What the patches for a package say of it.
Result<TreeReport> judged(const Run& run, const Found& found) {
  Result<Target> target = load_target(run.session, run.catalog, found.group, run.session.options().value("--tree"));
  if (!target) return target.error();
  TreeReport tree = report_on(*target);
  tree.patches = verdicts_of(target->state, found.group.patches, run.catalog.patches);
  return tree;
}

// Patches are judged beside the walk, not behind it, where there are threads for both: they are a third of the work, and nearly every
// package that there are patches for casts somewhere.
Status audit_package(const Run& run, const Found& found, Report& report) {
  const Session& session = run.session;
  const std::chrono::milliseconds begun = session.fs().now();
  const Result<TreeFolder> folder = TreeFolder::open(session.fs(), found.tree.package_folder);
  if (!folder) return folder.error();
  // What is in a wheel, the tree or one of --with, is read by one thread at a time.
  AuditWalk walk;
  walk.threads = found.tree.read_only ? 1 : std::max(1U, std::thread::hardware_concurrency());
  const bool judges = looks_for_casts(run.rules) && !found.group.patches.empty();
  std::optional<Result<TreeReport>> verdicts;
  const auto judge_all = [&] { verdicts = judged(run, found); };
  if (judges && walk.threads > 1 && session.options().values("--with").empty()) walk.beside = judge_all;
  auto audit =
      std::make_shared<AuditReport>(report_of(found.group.folder, run.rules, audit_tree(*folder, run.rules, walk)));
  TreeReport tree;
  tree.tree = found.tree.display;
  tree.package = found.group.package;
  const bool casts = std::any_of(audit->sites.begin(), audit->sites.end(),
                                 [](const ReportedSite& site) { return site.audit.kind == "cast"; });
  if (casts && judges) {
    if (!verdicts) judge_all();
    if (!*verdicts) return verdicts->error();
    tree = std::move(**verdicts);
    add_patches(tree.patches, audit->sites);
  }
  if (run.inventory.table) {
    if (Status added = add_plans(session, found.tree, *run.inventory.table, *audit); !added) return added.error();
  }
  audit->time = session.fs().now() - begun;
  note_where(session, found.tree, report);
  for (const Error& problem : audit->problems) {
    report.worsen(problem.exit);
    report.err += to_text(problem);
  }
  tree.audit = audit;
  report.trees.push_back(std::move(tree));
  return Nothing{};
}

void print(const Session& session, Report& report) {
  const bool sarif = session.options().value("--format") == "sarif";
  for (const TreeReport& tree : report.trees) {
    report.out += sarif ? audit_sarif(*tree.audit) : audit_text(*tree.audit, session.out());
    note(session, report, audit_totals(*tree.audit));
  }
}

Report run(const Session& session) {
  give_memory_back();
  Report report;
  Result<Inventory> inventory = read_inventory(session);
  if (!inventory) return report.fail(inventory.error()), report;
  if (Status kept = keep_kinds(session, inventory->rules); !kept) return report.fail(kept.error()), report;
  std::vector<const Rule*> pointers;
  for (const Rule& rule : inventory->rules) pointers.push_back(&rule);
  const Result<AuditRules> rules = AuditRules::compile(pointers);
  if (!rules) return report.fail(rules.error()), report;
  const Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  const Result<std::vector<Found>> packages = find_packages(session, group_by_package(all_patches(*catalog)));
  if (!packages) return report.fail(packages.error()), report;
  for (const Found& found : *packages) {
    const Run one{session, *inventory, *rules, *catalog};
    if (Status done = audit_package(one, found, report); !done) return report.fail(done.error()), report;
  }
  print(session, report);
  return report;
}

}  // namespace

Command audit_command() {
  return {
      .name = "audit",
      .summary = "list call sites over the whole package: who plans, what casts a whole KV buffer; writes nothing",
      .details =
          "Lists every call of plan() and begin_forward() with its arguments by parameter name where the receiver's "
          "class\n"
          "can be told, and every place where a whole KV buffer is cast or dequantised, with the patch that removes "
          "it.\n"
          "A file that cannot be read or parsed is named; the exit code is 4 or 6 then.",
      .positionals = {},
      .trees = Command::Trees::one,
      .options = {{"--kind", "KIND", "sites of this kind alone: plan, cast, or a kind of --rules", true},
                  {"--rules", "FILE", "look for these rules instead, of any file of rules", true},
                  {"--format", "FORMAT", "text (the default), json (as --json) or sarif (SARIF 2.1.0)", false},
                  {"--flashinfer", "PATH", "where FlashInfer is, if not beside the package: for parameter names",
                   false},
                  with_option()},
      .run = run,
  };
}

}  // namespace suture
