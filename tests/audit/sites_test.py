"""`suture audit` on whole SGLang releases, held to Python's own `ast`.

  The calls of plan and begin_forward, and the direct casts `X.get_*_buffer(...).to(...)`, are those of ast_oracle.py: file,
  line, byte column, end line. The whole-buffer casts are those of casts.tsv, found by hand, and nothing else; what is marked
  `possible` there may be missing. Receivers are those of receivers.tsv.

    python3 tests/audit/sites_test.py RELEASE...
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ast_oracle

HERE = pathlib.Path(__file__).resolve().parent


def wheel(release):
    script = driver.SOURCE / "scripts" / "fetch_wheel.sh"
    run = subprocess.run([script, driver.CACHE, release], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        driver.skip(f"no wheel of SGLang {release}: {run.stderr}")
    return pathlib.Path(run.stdout.strip())


def unpacked(release, folder):
    """The Python files and the metadata of the wheel, as pip would lay them out."""
    with zipfile.ZipFile(wheel(release)) as archive:
        for member in archive.namelist():
            if member.endswith(".py") or ".dist-info/" in member:
                archive.extract(member, folder)
    return pathlib.Path(folder) / "sglang"


def audited(tree, *options):
    return json.loads(driver.suture("audit", "--json", "-t", tree, *options)[0])["trees"][0]["audit"]


def oracle(tree, *options):
    """{(path, line, byte column, end line)} of ast_oracle.py."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert ast_oracle.main([*options, str(tree)]) == 0
    sites = set()
    for line in out.getvalue().splitlines():
        place, end = line.split("\t")[:2]
        path, row, column = place.rsplit(":", 2)
        sites.add((path, int(row), int(column), int(end)))
    return sites


def place(site):
    return site["path"], site["line"], site["byte_column"], site["end_line"]


def rows(name, release):
    """The rows of a table for one release; None: the table does not speak of it."""
    lines = [line.split("\t") for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]
    return [row[1:] for row in lines if row[0] == release] or None


def same(what, found, wanted):
    missing, extra = sorted(wanted - found), sorted(found - wanted)
    assert not missing and not extra, f"{what}: missing {missing}; not to be there {extra}"


def check_casts(release, sites):
    table = rows("casts.tsv", release)
    if table is None:
        return "casts not listed by hand"
    found = {(site["path"], str(site["line"])) for site in sites if not site["possible"]}
    same("whole-buffer casts", found, {(path, line) for path, line, sure in table if sure == "sure"})
    possible = {(site["path"], str(site["line"])) for site in sites if site["possible"]}
    allowed = {(path, line) for path, line, sure in table if sure == "possible"}
    assert possible <= allowed, f"not even possible: {sorted(possible - allowed)}"
    return f"{len(found)} casts and {len(possible)} of {len(allowed)} possible ones, as listed by hand"


def check_receivers(release, plans):
    table = rows("receivers.tsv", release)
    if table is None:
        return "receivers not listed by hand"
    wrappers = {(path, line): name for path, line, name, _ in table}
    positions = {(path, line): names.split(",") for path, line, _, names in table}
    named = 0
    for site in plans:
        key = (site["path"], str(site["line"]))
        if site["plan"]["kind"] != "wrapper":
            continue
        assert key in wrappers, f"{key} is called a wrapper: {site['plan']}"
        assert site["plan"]["class"] == wrappers[key], f"{key}: {site['plan']}, not {wrappers[key]}"
        given = [argument["parameter"] for argument in site["arguments"] if not argument["keyword"]]
        given = [name for name in given if name]
        if not any(argument["parameter"] for argument in site["arguments"]):
            continue
        assert given == [name for name in positions[key] if name != "-"], f"{key}: {given}"
        named += 1
    assert named >= len(wrappers) - 2, f"only {named} of {len(wrappers)} wrapper plans carry parameter names"
    return f"{named} of {len(wrappers)} wrapper plans named"


def check(release):
    with tempfile.TemporaryDirectory(prefix="suture-audit-") as scratch:
        tree = unpacked(release, scratch)
        report = audited(tree)
        plans = [site for site in report["sites"] if site["kind"] == "plan"]
        casts = [site for site in report["sites"] if site["kind"] == "cast"]
        same("plan and begin_forward", {place(site) for site in plans}, oracle(tree))
        direct = {place(site) for site in casts if site["rule"] == "kv-buffer-cast"}
        same("direct casts", direct, oracle(tree, "--casts"))
        files = sum(1 for _ in tree.rglob("*.py"))
        assert report["files_read"] == files and not report["problems"], report["problems"]
        print(f"{release}: {len(plans)} plans and {len(direct)} direct casts as ast has them in {files} files; "
              f"{check_casts(release, casts)}; {check_receivers(release, plans)}")


def main():
    for release in sys.argv[1:]:
        check(release)


if __name__ == "__main__":
    main()
