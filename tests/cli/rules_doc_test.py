"""Every example of docs/rules.md is run.

    yaml rule      one or more rules (or a rule file): it loads, every rule has examples, and they hold
    yaml patch     a patch, or some keys of one: it loads, and its examples hold
    LANGUAGE PATH  a file of the reader's folder, from here on
    console        commands in that folder: what they print is what stands below them
    | pattern | matches | does not match |   every code of such a table

    python3 tests/cli/rules_doc_test.py [--update]     --update: writes what the commands print into the page
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

PAGE = driver.SOURCE / "docs" / "rules.md"
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.M | re.S)
RULES = "mine/rules.yaml"


class Page:
    def __init__(self, text):
        self.text = text
        self.failures = []
        self.counts = dict.fromkeys(["rule", "patch", "file", "command", "pattern"], 0)

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def fail(self, offset, words):
        self.failures.append(f"docs/rules.md:{self.line(offset)}: {words}")

    def tell(self, offset, report):
        """What `suture test --json` has against a block."""
        problems = ["\n".join([error["message"], error.get("text", ""), error.get("hint", "")])
                    for error in report["errors"]]
        for tested in report["tests"]:
            for example in tested["examples"]:
                if example["verdict"] != "passed":
                    name = tested.get("rule", tested.get("patch"))
                    problems.append(f"example {example['example']} of {name} is {example['verdict']}: "
                                    f"{example['message']}\n{example.get('diff', '')}")
        for problem in problems:
            self.fail(offset, problem)


def run_test(folder):
    done = subprocess.run([driver.SUTURE, "test", "--json", folder], capture_output=True, check=False, timeout=60)
    return json.loads(done.stdout)


def indented(text, blanks):
    return "".join(" " * blanks + line if line.strip() else line for line in text.splitlines(keepends=True))


def check_rule(page, offset, body):
    whole = body if re.search(r"^rules:", body, re.M) else "file: shop.py\nrules:\n" + indented(body, 2)
    with tempfile.TemporaryDirectory(prefix="suture-page-") as folder:
        pathlib.Path(folder, "rules.yaml").write_text(whole)
        report = run_test(folder)
    page.counts["rule"] += 1
    page.tell(offset, report)
    for tested in report["tests"]:
        if not tested["examples"]:
            page.fail(offset, f"{tested['rule']} has no example")


def check_patch(page, offset, body, rules):
    base = {"patch": "patch: page", "package": "package: toyshop", "rules": "rules: [total-adds-exactly]"}
    lines = [line for key, line in base.items() if not re.search(rf"^{key}:", body, re.M)]
    with tempfile.TemporaryDirectory(prefix="suture-page-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "rules.yaml").write_text(rules)
        (folder / "patch.yaml").write_text("\n".join([*lines, body]))
        for name in re.findall(r"from: ([\w.]+)", body):
            (folder / name).write_text("def exact():\n    pass\n")
        report = run_test(scratch)
    page.counts["patch"] += 1
    page.tell(offset, report)


def check_patterns(page):
    """The table: each code of the second column is found by the pattern of the first, none of the third is."""
    table = re.search(r"^\| pattern \| matches \| does not match \|\n\|.*\n((?:\|.*\n)+)", page.text, re.M)
    for row in re.finditer(r"^.*\n", table[1], re.M):
        offset = table.start(1) + row.start()
        cells = [re.findall(r"`([^`]+)`", cell) for cell in row[0].strip().strip("|").split(" | ")]
        (pattern,), found, left = cells[0], cells[1], cells[2] if len(cells) > 2 else []
        rule = {"id": "row", "match": pattern, "replace": "table_row", "expect": 1,
                "examples": [{"before": code, "after": "pass"} for code in found] + [{"same": code} for code in left]}
        with tempfile.TemporaryDirectory(prefix="suture-page-") as folder:
            pathlib.Path(folder, "rules.yaml").write_text(json.dumps({"file": "shop.py", "rules": [rule]}))
            report = run_test(folder)
        verdicts = [example["verdict"] for tested in report["tests"] for example in tested["examples"]]
        if len(verdicts) != len(found) + len(left):
            page.fail(offset, f"`{pattern}`: {report['errors']}")
        for code, verdict in zip(found, verdicts):
            page.counts["pattern"] += 1
            if verdict != "wrong":  # found, and not what `after` says
                page.fail(offset, f"`{pattern}` does not match `{code}` ({verdict})")
        for code, verdict in zip(left, verdicts[len(found):]):
            page.counts["pattern"] += 1
            if verdict != "passed":
                page.fail(offset, f"`{pattern}` should not match `{code}` ({verdict})")


def install(folder, path, text):
    """A package of the reader's folder has the metadata that pip leaves."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    if path.startswith("site/"):
        package = path.split("/")[1]
        info = folder / "site" / f"{package}-1.4.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.4.0\n")
        (folder / "site" / package / "__init__.py").touch()


def run_console(page, folder, body):
    """The block with what the commands print now, stdout and stderr as a terminal has them."""
    out = ""
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue
        command = shlex.split(line[2:])
        assert command[0] == "suture", line
        environment = {"PATH": "/nowhere", "HOME": str(folder), "LC_ALL": "C"}
        done = subprocess.run([driver.SUTURE, *command[1:]], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
        page.counts["command"] += 1
        out += line + "\n" + done.stdout
    return out


def check_page(page, update):
    files = {}
    shown = page.text
    with tempfile.TemporaryDirectory(prefix="suture-page-") as scratch:
        folder = pathlib.Path(scratch).resolve()
        for block in BLOCK.finditer(page.text):
            language, what, body = block[1], block[2] or "", block[3]
            if language == "console":
                now = run_console(page, folder, body)
                if now != body and not update:
                    page.fail(block.start(), f"the commands print another text now:\n{now}")
                shown = shown.replace(block[0], f"```console\n{now}```")
            elif (language, what) == ("yaml", "rule"):
                check_rule(page, block.start(), body)
            elif (language, what) == ("yaml", "patch"):
                check_patch(page, block.start(), body, files[RULES])
            elif "/" in what:
                files[what] = body
                install(folder, what, body)
                page.counts["file"] += 1
            else:
                page.fail(block.start(), f"a block that no test runs: {language} {what}".rstrip())
    return shown


def anchors(text):
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(page):
    """Links lead to files that are there, and to headings of them or of the page itself."""
    for link in re.finditer(r"\]\(([^)]+)\)", page.text):
        path, _, heading = link[1].partition("#")
        target = PAGE.parent / path if path else PAGE
        if not target.exists() or heading and heading not in anchors(target.read_text()):
            page.fail(link.start(), f"this link leads nowhere: {link[1]}")


def check_keys(page):
    """Every key of the schemas stands on the page."""
    schemas = [json.loads((PAGE.parent / "json-schema" / f"{name}.schema.json").read_text()) for name in ("rules", "patch")]
    for name, schema in zip(("rules", "patch"), schemas):
        for key in set(re.findall(r'"(\w+)": \{', json.dumps([each["properties"] for each in (
                schema, *schema["definitions"].values()) if isinstance(each, dict) and "properties" in each]))):
            if key not in ("type", "items", "allOf", "anyOf", "properties", "dependencies") and not re.search(
                    rf"\b{key}\b", page.text):
                page.failures.append(f"docs/rules.md says nothing of the key {key!r} of {name}.schema.json")


def main():
    update = "--update" in sys.argv
    if update and os.environ.get("CI") == "true":
        sys.exit("--update is refused under CI")
    page = Page(PAGE.read_text())
    shown = check_page(page, update)
    check_patterns(page)
    check_links(page)
    check_keys(page)
    if update and shown != page.text:
        PAGE.write_text(shown)
    print(", ".join(f"{count} {what}{'es' if what.endswith('ch') else 's'}" for what, count in page.counts.items()))
    assert all(page.counts.values()), page.counts
    for failure in page.failures:
        print(f"FAILED  {failure}")
    print(f"{len(page.failures)} failed")
    sys.exit(1 if page.failures else 0)


main()
