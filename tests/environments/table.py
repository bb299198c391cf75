"""The drivers of this folder: each test_* function is one line of a table of docs/environments.md.

    python3 tests/environments/layouts_test.py [--only WORD] [--update]

A test builds its environment in a scratch folder, holds suture to what it must do there, and returns the cells that stand
behind its title (its docstring). The table of the page, whole, must be the one that the run gives; --update writes it there
(refused where CI=true). A line that this machine cannot show is left as it is, and said to be skipped; under CI=true that fails.
"""

import argparse
import inspect
import os
import pathlib
import sys
import tempfile
import traceback

import driver

PAGE = driver.SOURCE / "docs" / "environments.md"


def one_line(cells):
    assert not any("|" in cell or "\n" in cell for cell in cells), cells
    return f"| {' | '.join(cells)} |"


class Table:
    """One table of the page: what stands between the comment that names it and the next blank line."""

    def __init__(self, name, columns):
        self.mark = f"<!-- {name}: tests/environments/{name}_test.py --update writes this table -->"
        self.head = [one_line(columns), one_line(["---"] * len(columns))]
        self.width = len(columns)

    def committed(self):
        """{title: line} of the page."""
        return {line.split(" | ")[0].removeprefix("| "): line for line in self.lines()[2:]}

    def lines(self):
        text = PAGE.read_text()
        assert text.count(self.mark) == 1, f"{PAGE} has no table, or two, below {self.mark}"
        return text.split(self.mark + "\n")[1].split("\n\n")[0].strip("\n").splitlines()

    def write(self, lines):
        before, rest = PAGE.read_text().split(self.mark + "\n")
        behind = rest.split("\n\n", 1)[1] if "\n\n" in rest else ""
        PAGE.write_text(before + self.mark + "\n" + "\n".join([*self.head, *lines]) + "\n" + (f"\n{behind}" if behind else ""))


def title_of(test):
    return " ".join(inspect.getdoc(test).split())


def run_one(test):
    """The cells of a test."""
    with tempfile.TemporaryDirectory(prefix="suture-environments-") as scratch:
        folder = pathlib.Path(scratch).resolve()
        folder.chmod(0o755)  # other users look into it
        return test(folder)


def run_all(tests, table, partial):
    """The lines, and how many tests failed."""
    lines, failed = [], 0
    for name, test in tests.items():
        title = title_of(test)
        try:
            cells = run_one(test)
            assert len(cells) == table.width - 1, cells
            lines.append(one_line([title, *cells]))
            print(f"ok      {name}")
        except driver.Skipped as reason:
            in_ci = os.environ.get("CI") == "true"
            failed += in_ci
            print(f"{'FAILED' if in_ci else 'skipped'} {name}: {reason}")
            if title in partial:
                lines.append(partial[title])
        except Exception:  # noqa: BLE001 - the next test runs all the same
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}")
    return lines, failed


def main(namespace, columns):
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    os.umask(0o022)
    if options.update and (os.environ.get("CI") == "true" or options.only):
        sys.exit("--update is for a whole run, and not under CI: the page is reviewed there, not made")
    table = Table(pathlib.Path(namespace["__file__"]).stem.removesuffix("_test"), columns)
    tests = {key: value for key, value in namespace.items() if key.startswith("test_") and options.only in key}
    lines, failed = run_all(tests, table, table.committed())
    print("\n".join(lines))
    if options.update and not failed:
        table.write(lines)
    different = sorted(set(lines) ^ set(table.lines()[2:])) if not options.only else []
    if table.lines()[:2] != table.head:
        different.append(one_line(columns))
    if different and not failed:
        failed += 1
        print(f"FAILED  {PAGE.name} says something else (--update writes it):\n" + "\n".join(different))
    print(f"{len(tests)} environments, {failed} failed")
    sys.exit(1 if failed or not tests else 0)
