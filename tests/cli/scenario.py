"""End-to-end scenarios: each builds its own tree in a scratch folder, runs the built binary, and writes down everything
that was printed, with the exit codes. That transcript is compared, whole, with golden/<driver>/<scenario>.txt.

    python3 tests/cli/verdicts_test.py [--suture BINARY] [--only WORD] [--update]

--update writes the golden files instead (refused where CI=true): read the difference before you commit it.
In a transcript the scratch folder is <TMP>, the version of suture <VERSION> and a hash <SHA256>; nothing else is changed.
"""

import argparse
import base64
import contextlib
import hashlib
import inspect
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

MEMORY = 2 << 30  # bytes that one run may map: whatever is fed to it, it stays bounded
SECONDS = 60


Skipped = driver.Skipped


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}"


class Scenario:
    def __init__(self, folder, binary):
        self.folder = folder
        self.binary = binary
        self.lines = []

    # --- building ----------------------------------------------------------------------------------------------------

    def write(self, path, data):
        """A file of the scratch folder, from text or bytes."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def install(self, files, site="site", name="toycache", version="1.0"):
        """A package as pip leaves it: its files, METADATA, and RECORD with every hash."""
        lines = []
        for path, data in files.items():
            data = data if isinstance(data, bytes) else data.encode()
            self.write(f"{site}/{name}/{path}", data)
            lines.append(record_line(f"{name}/{path}", data))
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
        self.write(f"{site}/{info}/METADATA", metadata)
        lines += [record_line(f"{info}/METADATA", metadata), f"{info}/RECORD,,"]
        self.write(f"{site}/{info}/RECORD", "\n".join(lines) + "\n")

    def folders(self, arguments=()):
        """The options that name the scenario's rules and patches, where it has some and `arguments` do not name others."""
        options = []
        for option, folder in (("--rules-dir", "rules"), ("--patches-dir", "patches")):
            if (self.folder / folder).is_dir() and option not in arguments:
                options += [option, folder]
        return options

    # --- running -----------------------------------------------------------------------------------------------------

    def run_raw(self, *arguments, environment=None, shown=True, before=(), **options):
        """Runs suture in the scratch folder, with the scenario's rules and patches; returns the finished process.
        before: words in front of the command, as `unshare -m`."""
        command = [*before, str(self.binary), *self.folders(arguments), *arguments]
        clean = {"PATH": "/nowhere", "HOME": str(self.folder), "LC_ALL": "C"}
        done = subprocess.run(command, cwd=self.folder, env={**clean, **(environment or {})}, capture_output=True,
                              timeout=SECONDS, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)), **options)
        assert done.returncode >= 0, f"{shlex.join(command)}: killed by signal {-done.returncode}"
        if shown:
            words = " ".join(f"{key}={value}" for key, value in (environment or {}).items())
            self.lines.append(f"$ {words}{' ' if words else ''}suture {shlex.join(arguments)}".rstrip())
        return done

    def run(self, *arguments, environment=None, keep=None, before=()):
        """Runs suture and writes down what it printed. keep: a filter for the lines of stdout."""
        done = self.run_raw(*arguments, environment=environment, before=before)
        self.show("stdout", done.stdout, keep)
        self.show("stderr", done.stderr)
        self.lines.append(f"exit {done.returncode}\n")
        return done

    def show(self, stream, data, keep=None):
        text = data.decode("utf-8", errors="backslashreplace").replace(str(self.folder), "<TMP>")
        text = re.sub(r"(suture\"?:? \"?)\d+\.\d+\.\d+", r"\1<VERSION>", text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "<SHA256>", text)
        if not text:
            return
        lines = [line for line in text.splitlines() if keep is None or keep(line)]
        self.lines.append(f"[{stream}]")
        self.lines += [line.replace("\r", "\\r").replace("\033", "\\e") for line in lines]
        if not text.endswith("\n"):
            self.lines.append(f"[no newline at the end of {stream}]")

    def say(self, text):
        self.lines.append(f"# {text}")

    # --- looking -----------------------------------------------------------------------------------------------------

    def entries(self, path="site"):
        return driver.entries(self.folder / path)

    @contextlib.contextmanager
    def unchanged(self, path="site"):
        """Holds what runs inside to writing nothing at all, .suture included."""
        before = self.entries(path)
        yield
        different = driver.differences(before, self.entries(path))
        assert not different, f"written, though nothing should be: {different}"

    def read(self, path):
        return (self.folder / path).read_text()


def golden_path(name, scenario):
    return HERE / "golden" / name / f"{scenario}.txt"


def compare(path, transcript, update):
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(transcript)
        return
    assert path.exists(), f"there is no {path}; --update writes it"
    expected = path.read_text()
    if expected != transcript:
        import difflib
        lines = difflib.unified_diff(expected.splitlines(), transcript.splitlines(), "golden", "now", lineterm="")
        raise AssertionError(f"{path} is another text now:\n" + "\n".join(lines))


def run_one(test, binary, name, update):
    with tempfile.TemporaryDirectory(prefix="suture-cli-") as scratch:
        scenario = Scenario(pathlib.Path(scratch).resolve(), binary)
        test(scenario)
    if scenario.lines:
        title = (inspect.getdoc(test) or test.__name__).replace("\n", "\n# ")
        compare(golden_path(name, test.__name__.removeprefix("test_")), "\n".join([f"# {title}", *scenario.lines]), update)


def main(namespace):
    """Runs every test_* function of a driver's namespace; exits with 1 where one fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--suture", default=driver.SUTURE)
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if options.update and os.environ.get("CI") == "true":
        sys.exit("--update is refused under CI: golden files are reviewed, not made, there")
    binary = pathlib.Path(options.suture).resolve()
    name = pathlib.Path(namespace["__file__"]).stem.removesuffix("_test")
    tests = {key: value for key, value in namespace.items() if key.startswith("test_") and options.only in key}
    failed = 0
    for key, test in tests.items():
        try:
            run_one(test, binary, name, options.update)
            print(f"ok      {key}")
        except Skipped as reason:
            in_ci = os.environ.get("CI") == "true"
            failed += in_ci
            print(f"{'FAILED' if in_ci else 'skipped'} {key}: {reason}")
        except Exception:  # noqa: BLE001 - the next scenario runs all the same
            failed += 1
            print(f"FAILED  {key}\n{traceback.format_exc()}")
    known = {f"{key.removeprefix('test_')}.txt" for key in namespace if key.startswith("test_")}
    stale = sorted(path.name for path in golden_path(name, "x").parent.glob("*.txt") if path.name not in known)
    if stale:
        failed += 1
        print(f"FAILED  golden files of no scenario: {', '.join(stale)}")
    print(f"{len(tests)} scenarios, {failed} failed")
    sys.exit(1 if failed or not tests else 0)
