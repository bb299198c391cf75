"""The streams: data on stdout and the rest on stderr, colour only where it is wanted, a closed pipe, a full disk, another
locale, and diffs that `patch` and `git apply` take.
"""

import os
import pty
import shutil
import subprocess

import scenario
import toycache


def test_color(s):
    """--color always, and never"""
    toycache.toy(s)
    s.run("diff", "toy-active", "-t", "site", "--color", "always")
    s.run("status", "-t", "site", "--color", "always")
    assert b"\033" not in s.run_raw("diff", "toy-active", "-t", "site", shown=False).stdout, "a pipe is no terminal"


def on_terminal(s, *arguments, environment=None):
    """What a terminal at stdout gets."""
    controller, terminal = pty.openpty()
    command = [str(s.binary), *arguments, *s.folders()]
    clean = {"PATH": "/nowhere", "TERM": "xterm", **(environment or {})}
    done = subprocess.run(command, cwd=s.folder, env=clean, stdout=terminal, stderr=subprocess.PIPE, check=False,
                          timeout=scenario.SECONDS)
    os.close(terminal)
    text = os.read(controller, 1 << 16)
    os.close(controller)
    assert done.returncode == 0, done.stderr
    return text


def test_terminal(s):
    """auto: colour on a terminal, unless NO_COLOR, a dumb terminal or --color never says otherwise"""
    toycache.toy(s)
    status = ("status", "-t", "site")
    assert b"\033[" in on_terminal(s, *status)
    assert b"\033[" not in on_terminal(s, *status, "--color", "never")
    assert b"\033[" not in on_terminal(s, *status, environment={"NO_COLOR": "1"})
    assert b"\033[" not in on_terminal(s, *status, environment={"TERM": "dumb"})
    assert b"\033[" in on_terminal(s, *status, "--color", "always", environment={"NO_COLOR": "1"})


def test_closed_pipe(s):
    """A reader that goes away is no crash"""
    toycache.toy(s, toycache.DECODE)
    reader, writer = os.pipe()
    os.close(reader)
    command = [str(s.binary), "diff", "toy-active", "-t", "site", *s.folders()]
    done = subprocess.run(command, cwd=s.folder, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=scenario.SECONDS)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b""), done


def test_full_disk(s):
    """stdout that cannot be written is an error"""
    toycache.toy(s)
    with open("/dev/full", "wb") as full:
        command = [str(s.binary), "diff", "toy-active", "-t", "site", *s.folders()]
        done = subprocess.run(command, cwd=s.folder, stdout=full, stderr=subprocess.PIPE, check=False,
                              timeout=scenario.SECONDS)
    s.say("suture diff toy-active -t site > /dev/full")
    s.show("stderr", done.stderr)
    s.say(f"exit {done.returncode}")


def test_locale(s):
    """No locale changes a byte"""
    toycache.toy(s)
    plain = s.run_raw("diff", "toy-active", "-t", "site", "--json", shown=False)
    for locale in ("de_DE.UTF-8", "tr_TR.ISO-8859-9", "nonsense"):
        other = s.run_raw("diff", "toy-active", "-t", "site", "--json", shown=False, environment={"LC_ALL": locale})
        assert (other.returncode, other.stdout, other.stderr) == (plain.returncode, plain.stdout, plain.stderr), locale


def endings(newline, last):
    text = toycache.DECODE.replace("\n", newline).encode()
    return text if last else text[: -len(newline)]


def test_patch_and_git_apply(s):
    """patch -p1 and git apply -p1 make of the tree what apply makes of it: LF, CRLF, tabs, no newline at the end, Latin-1"""
    tools = {"patch": ["patch", "-p1", "-s", "--binary"], "git": ["git", "apply", "-p1", "--whitespace=nowarn"]}
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise scenario.Skipped(f"{' and '.join(missing)} not installed")
    latin1 = b"# -*- coding: latin-1 -*-\n# \xe9\xff\n" + toycache.DECODE.encode()
    tabs = toycache.DECODE.replace("    ", "\t").encode()
    for decode in (endings("\n", True), endings("\n", False), endings("\r\n", True), endings("\r\n", False), latin1, tabs):
        shutil.rmtree(s.folder / "site", ignore_errors=True)
        toycache.toy(s, decode)
        diff = s.run_raw("diff", "toy-active", "toy-prefetch", "-t", "site", shown=False).stdout
        results = []
        for tool, command in tools.items():
            folder = s.folder / "copy"
            shutil.copytree(s.folder / "site", folder)
            done = subprocess.run(command, input=diff, cwd=folder, capture_output=True, check=False)
            assert done.returncode == 0, (tool, decode, done.stdout, done.stderr, diff)
            results.append({name: (folder / "toycache" / name).read_bytes() for name in ("decode.py", "active_rows.py")})
            shutil.rmtree(folder)
        done = s.run_raw("apply", "toy-active", "toy-prefetch", "-t", "site", shown=False)
        assert done.returncode == 0, done.stderr
        written = {name: (s.folder / "site/toycache" / name).read_bytes() for name in ("decode.py", "active_rows.py")}
        assert results == [written, written], decode


def test_concurrent_apply(s):
    """Eight processes apply the same patch at once: one writes, the others find it applied, all exit 0"""
    toycache.toy(s)
    command = [str(s.binary), "apply", "toy-active", "-t", "site", *s.folders()]
    running = [subprocess.Popen(command, cwd=s.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
    outcomes = [(*process.communicate(timeout=scenario.SECONDS), process.returncode) for process in running]
    assert all(code == 0 for _, _, code in outcomes), outcomes
    assert sum(b"OK:" in out for out, _, _ in outcomes) == 1, outcomes
    assert sum(b"nothing to do" in err for _, err, _ in outcomes) == 7, outcomes


scenario.main(globals())
