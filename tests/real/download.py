"""Downloads the wheels that releases.tsv names and the cache lacks, four at a time."""

import concurrent.futures
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver
import table


def fetch(release):
    command = [driver.SOURCE / "scripts" / "fetch_wheel.sh", driver.CACHE, release]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    releases = table.releases()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(fetch, releases))
    missing = [release for release, result in zip(releases, results) if result.returncode != 0]
    for result in results:
        print(result.stderr, end="")
    if missing:
        driver.skip(f"no wheel of SGLang {', '.join(missing)}")
    print(f"{len(releases)} wheels are there")


if __name__ == "__main__":
    main()
