"""docs/compatibility.md, made from the packages themselves: patch x SGLang release x the FlashInfer that it pins.

    matrix.py [--check] [RELEASE...]     RELEASE: all of releases.txt

Each release's wheel is read by `suture status --json`, with the FlashInfer beside it that its metadata pins; verdicts, lines
and reasons are suture's own words. Without --check the page is written; with it, what suture says of the releases is
compared with what the page says. Downloads what the cache lacks. Environment: as tests/support/driver.py.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import typing
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import driver

PAGE = driver.SOURCE / "docs" / "compatibility.md"
PIN = re.compile(r"^Requires-Dist: flashinfer[_-]python(?:\[[^\]]*\])? ?\(?==([^;)\s]+)", re.MULTILINE)

HEAD = """# Compatibility

    make matrix

reads the wheels of {count} SGLang releases, each with the FlashInfer that its metadata pins, and writes this page: no cell is
written by hand. A release that is not here: one line in tests/matrix/releases.txt. For any tree, `suture status -t TREE` says the
same. The verdicts: [commands.md](commands.md#verdicts). Which patch to take: [choosing.md](choosing.md).

"""


def releases():
    lines = (HERE / "releases.txt").read_text().split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def fetched(script, version):
    command = [str(driver.SOURCE / "scripts" / script), str(driver.CACHE), version]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        driver.skip(f"{script} {version}: {run.stderr.strip()}")
    return pathlib.Path(run.stdout.strip())


def pinned(wheel):
    """The version of FlashInfer that the wheel asks for; None: none that is exact."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if re.fullmatch(r"sglang-[^/]*\.dist-info/METADATA", name)]
        versions = set(PIN.findall(archive.read(name).decode()))
    return versions.pop() if len(versions) == 1 else None


def places(outcome):
    """Where the rules of an applicable patch edit: `:line` of each site, file by file."""
    files = {}
    for rule in outcome["rules"]:
        for site in rule["sites"]:
            if rule["state"] == "to-do":
                files.setdefault(site["path"], set()).add(site["line"])
    return "; ".join(f"{pathlib.PurePosixPath(path).name} {', '.join(map(str, sorted(files[path])))}" for path in sorted(files))


class Found(typing.NamedTuple):
    """What suture says of a patch on a release."""

    verdict: str
    why: str  # what proves it: where to look, and none of other people's code
    otherwise: list  # what the server would come to where a requirement does not hold

    @property
    def row(self):
        return self.verdict, self.why


def find(outcome, names):
    """`names`: (a path of this machine, what it is called on the page)."""
    if outcome["verdict"] == "applicable":
        return Found("applicable", places(outcome), [])
    reason, _, otherwise = outcome["reason"].partition(". Otherwise: ")
    lines = [reason]
    for place in outcome["evidence"]:
        line = f":{place['line']}" if place.get("line") else ""
        lines.append(f"{place['path']}{line} {place.get('detail', '')}".strip())
    text = "; ".join(line for line in lines if line)
    for path, name in names:
        text = text.replace(str(path), name)
    return Found(outcome["verdict"], re.sub(r"\s+", " ", text).replace("|", "\\|"), [otherwise] if otherwise else [])


def read(release):
    """The FlashInfer that the release pins, and {patch: Found}."""
    wheel = fetched("fetch_wheel.sh", release)
    pin = pinned(wheel)
    options, names = [], [(wheel, wheel.name)]
    if pin:
        beside = fetched("fetch_flashinfer.py", pin)
        options = ["--with", f"flashinfer-python={beside}"]
        names.append((beside, f"flashinfer_python-{pin}"))
    report = json.loads(driver.suture("status", "--json", "-t", wheel, *options)[0])
    (tree,) = report["trees"]
    return pin, {each["patch"]: find(each, names) for each in tree["patches"]}


def overview(found):
    patches = list(next(iter(found.values()))[1])
    lines = [f"| SGLang | FlashInfer | {' | '.join(patches)} |", "|" + "---|" * (len(patches) + 2)]
    for release, (pin, verdicts) in found.items():
        lines.append(f"| {release} | {pin or '-'} | {' | '.join(verdicts[patch].verdict for patch in patches)} |")
    return lines


def details(found, patch):
    """The lines of one patch; neighbours that say the same share one."""
    rows = []
    for release, (_, verdicts) in found.items():
        if rows and rows[-1][2:] == list(verdicts[patch].row):
            rows[-1][1] = release
        else:
            rows.append([release, release, *verdicts[patch].row])
    lines = [f"## {patch}", "", "| SGLang | verdict | where it edits, or why not |", "|---|---|---|"]
    for first, last, verdict, why in rows:
        lines.append(f"| {first if first == last else first + ' to ' + last} | {verdict} | {why} |")
    otherwise = {text: None for _, verdicts in found.values() for text in verdicts[patch].otherwise}
    return lines + [line for text in otherwise for line in ("", f"Otherwise: {text}.")]


def page(found):
    lines = overview(found)
    for patch in next(iter(found.values()))[1]:
        lines += ["", *details(found, patch)]
    return HEAD.format(count=len(found)) + "\n".join(lines) + "\n"


def check(found):
    """The page's line of each release must be what suture says now, and so must the evidence."""
    text = PAGE.read_text()
    order = releases()
    wrong = [line for line in overview(found) if line not in text.split("\n")]
    for patch in next(iter(found.values()))[1]:
        section = text.partition(f"## {patch}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| (\S+)(?: to (\S+))? \| ([a-z-]+) \| (.*) \|$", section, re.MULTILINE)
        for release, (_, verdicts) in found.items():
            at = order.index(release)
            said = [row[2:] for row in rows if row[0] in order and order.index(row[0]) <= at <= order.index(row[1] or row[0])]
            if said != [verdicts[patch].row]:
                wrong.append(f"{patch} on {release}: {verdicts[patch].row}, the page says {said}")
    if wrong:
        sys.exit("docs/compatibility.md is not what suture says (make matrix writes it anew):\n  " + "\n  ".join(wrong))
    print(f"{len(found)} releases are as docs/compatibility.md says")


def main(arguments):
    only_check = "--check" in arguments
    wanted = [each for each in arguments if not each.startswith("-")] or releases()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = dict(zip(wanted, pool.map(read, wanted)))
    if only_check:
        check(found)
    else:
        PAGE.write_text(page(found))
        print(f"{PAGE}: {len(found)} releases")


if __name__ == "__main__":
    main(sys.argv[1:])
