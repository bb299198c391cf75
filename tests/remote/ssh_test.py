"""examples/remote/suture-ssh against real sshd: ROWS is the table of what may befall a run, and what must come of it.

    python3 tests/remote/ssh_test.py [--only WORD]

Behind each row: no host has a temporary folder of ours left, and unless the row writes, no byte of any tree has changed.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
import traceback

import hosts
from hosts import driver

SCRIPT = driver.SOURCE / "examples" / "remote" / "suture-ssh"
EXAMPLE = driver.SOURCE / "examples" / "package"
PATCH = "toyserve-lazy-rows"
FOLDERS = ["--rules-dir", EXAMPLE / "rules", "--patches-dir", EXAMPLE / "patches"]
NOT_RUN = 20  # the exit code where some host did not run it to its end
ODD = "it's $HOME \"a\" `b` ; * \\ %s # ~"


class Row:
    def __init__(self, test, writes, namespaces):
        self.test, self.writes, self.namespaces = test, writes, namespaces
        self.name = test.__name__


ROWS = []


def row(writes=False, namespaces=True):
    """A row of the table. writes: trees may change. namespaces: it needs hosts that have a /tmp and a /root of their own."""
    def add(test):
        ROWS.append(Row(test, writes, namespaces))
        return test
    return add


class Bench:
    """The hosts, and the script under test."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.pristine = None

    def command(self, *words, folders=True, binary=driver.SUTURE, shell=()):
        config = [] if self.fleet.namespaces else ["-F", self.fleet.config]
        return [str(word) for word in [*shell, SCRIPT, *config, "--binary", binary, *(FOLDERS if folders else ()), *words]]

    def run(self, *words, exit_code=0, environment=None, **options):
        command = self.command(*words, **options)
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120,
                              env={**os.environ, **(environment or {})})
        assert done.returncode == exit_code, (
            f"{shlex.join(command)}: exit code {done.returncode}, not {exit_code}\n{done.stdout}\n{done.stderr}")
        return done

    def state(self, host, *words, **options):
        """(state, reason) of one host that did not run it."""
        done = self.run("--json", *words, exit_code=NOT_RUN, **options)
        entry = json.loads(done.stdout)["hosts"][host]
        assert entry["exit"] is None and entry["report"] is None, entry
        return entry["state"], entry["reason"]

    def tree(self, host, name="site"):
        """A fresh copy of the package on that host; its path there."""
        target = self.fleet[host].near(name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(EXAMPLE / "site-packages", target, ignore=shutil.ignore_patterns("__pycache__"))
        return self.fleet[host].path(name)

    def verdict(self, host, name="site"):
        return driver.verdicts(self.fleet[host].near(name), *FOLDERS)[PATCH]

    def stub(self, host, lines="", **programs):
        """Programs in front of PATH on that host, and lines that its shell runs first."""
        machine = self.fleet[host]
        folder = machine.near("bin")
        folder.mkdir(exist_ok=True)
        for name, text in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        (machine.folder / "root" / ".bashrc").write_text(f"export PATH=/srv/bin:$PATH\n{lines}\n")

    def unstub(self):
        for machine in self.fleet.hosts.values():
            shutil.rmtree(machine.near("bin"), ignore_errors=True)
            (machine.folder / "root" / ".bashrc").unlink(missing_ok=True)

    def litter(self):
        places = [pathlib.Path("/var/tmp")]
        for machine in self.fleet.hosts.values():
            places += [machine.folder / "tmp", machine.folder / "root", machine.near("tmp")]
        return [str(found) for place in places for found in place.glob("suture-ssh.*")]


# --- what it is for -----------------------------------------------------------------------------------------------------

@row(namespaces=False)
def status_and_diff_say_what_they_say_here(bench):
    tree = bench.tree("a")
    for command in (["status", PATCH, "-t"], ["diff", PATCH, "-t"]):
        here, _ = driver.suture(*command, bench.fleet["a"].near("site"), *FOLDERS)
        there = bench.run("a", "--", *command, tree)
        assert there.stdout == here.decode().replace(str(bench.fleet["a"].near("site")), str(tree)), there.stdout


@row(writes=True, namespaces=False)
def apply_again_and_revert(bench):
    tree = bench.tree("a")
    first = bench.run("a", "--", "apply", PATCH, "-t", tree)
    assert "OK: decode unpacks the rows that it reads\n" in first.stdout and "restart the server" in first.stderr, first
    assert bench.verdict("a") == "applied"
    assert "nothing to do" in bench.run("a", "--", "apply", PATCH, "-t", tree).stderr
    bench.run("a", "--", "revert", "--all", "-t", tree, folders=False)
    assert bench.verdict("a") == "applicable"


@row(writes=True, namespaces=False)
def the_words_survive(bench):
    tree = bench.tree("a", ODD)
    bench.run("a", "--", "apply", PATCH, "-t", tree)
    assert bench.verdict("a", ODD) == "applied"
    words = ["", " ", "two\nlines\n", "-", "'", "''", "\\", "a'b\"c$d`e\\f", "$(exit 9)", "ä\t*", "\\'", "!x", "x\n"]
    # An executable that prints its words, instead of suture: what arrived is compared byte for byte.
    done = bench.run("a", "--", "[%s]\n", *words, binary=shutil.which("printf"), folders=False)
    assert done.stdout == "".join(f"[{word}]\n" for word in words), done.stdout


@row(writes=True, namespaces=False)
def three_hosts_in_one_document(bench):
    trees = {bench.tree(host) for host in "ab"}
    assert len(trees) == (1 if bench.fleet.namespaces else 2)
    for host in "ab":
        tree = bench.fleet[host].path("site")
        done = bench.run("--json", host, "--", "apply", PATCH, "-t", tree)
        document = json.loads(done.stdout)
        (changed,) = document["hosts"][host]["report"]["trees"]
        assert changed["written"] == ["toyserve/engine.py", "toyserve/lazy_rows.py"], document
        assert document["count"] == {"hosts": 1, "ok": 1, "failed": 0}, document
    if not bench.fleet.namespaces:
        return
    names = ["a", "b", "jumped"]
    bench.tree("c")
    document = json.loads(bench.run("--json", *names, "--", "status", PATCH, "-t", tree).stdout)
    found = {name: host["report"]["trees"][0]["patches"][0]["verdict"] for name, host in document["hosts"].items()}
    assert found == {"a": "applied", "b": "applied", "jumped": "applicable"}, document
    assert [host["state"] for host in document["hosts"].values()] == ["ran"] * 3


@row()
def each_hosts_words_and_the_worst_exit_code(bench):
    tree = bench.tree("a")
    bench.tree("b")
    engine = bench.fleet["b"].near("site", "toyserve", "engine.py")
    engine.write_text(engine.read_text().replace("unpack(", "unpack_all("))
    done = bench.run("a", "b", "--jobs", "2", "--", "diff", PATCH, "-t", tree, exit_code=4)
    assert done.stdout.startswith("== a\n--- a/toyserve/engine.py\n") and done.stdout.endswith("\n== b\n"), done.stdout
    assert f"b: error: {PATCH}: foreign-edit" in done.stderr, done.stderr
    assert "suture-ssh: 2 hosts, 1 ok, 1 failed: b exit 4\n" in done.stderr, done.stderr
    bench.tree("b")


@row(namespaces=False)
def hosts_from_a_file(bench):
    tree = bench.tree("a")
    listed = bench.fleet.folder / "hosts"
    listed.write_text("# the fleet\n a  # twice\n\na")
    assert "== " not in bench.run("--hosts", listed, "a", "--", "status", PATCH, "-t", tree).stdout, "one host is named thrice"
    listed.write_bytes(b"# from Windows\r\n\r\na\r\na # twice\r\na")
    assert "== " not in bench.run("--hosts", listed, "a", "--", "status", PATCH, "-t", tree).stdout, "a\\r is no other host"
    listed.write_text("/*\n")
    assert "suture-ssh: /*: unreachable: " in bench.run("--hosts", listed, "--", "status", exit_code=NOT_RUN).stderr
    listed.write_text("a b\n")
    assert "one host a line" in bench.run("--hosts", listed, "--", "status", exit_code=2).stderr
    listed.write_text("-oProxyCommand=false\n")
    assert "not a host" in bench.run("--hosts", listed, "--", "status", exit_code=2).stderr


@row(namespaces=False)
def command_lines_that_are_wrong(bench):
    for words, said in (
        (["a"], "what should suture do there?"), (["a", "--"], "what should suture do there?"),
        (["--", "status"], "no host is named"), (["--jobs", "0", "a", "--", "status"], "--jobs takes a whole number"),
        (["--timeout", "1s", "a", "--", "status"], "--timeout takes a whole number"), (["--hosts"], "--hosts takes a value"),
        (["--hosts", "--", "status"], "--hosts takes a value"), (["--nonsense", "a", "--", "status"], "there is no option"),
        (["--hosts", "/nowhere", "--", "status"], "cannot be read"), (["--patches-dir", "/nowhere", "a", "--", "status"], "no such folder"),
        (["--jobs", "9" * 21, "a", "--", "status"], "--jobs takes a whole number"),
        (["--timeout", "1" + "0" * 20, "a", "--", "status"], "--timeout takes a whole number"),
        (["--hosts", EXAMPLE, "--", "status"], "is a folder"), (["--binary", EXAMPLE, "a", "--", "status"], "is no file"),
        (["--binary", "/nowhere", "a", "--", "status"], "cannot be read"), (["--binary", SCRIPT, "a", "--", "status"], "not an executable"),
    ):
        done = bench.run(*words, exit_code=2)
        assert said in done.stderr and not done.stdout and done.stderr.count("\n") == 1, (words, done.stderr)
    assert "usage: suture-ssh" in bench.run("--help").stdout


@row(namespaces=False)
def folders_that_go_along(bench):
    """A shell that lists what arrived, instead of suture: links as files, and nothing that is hidden or compiled."""
    rules, patches, elsewhere = (bench.fleet.folder / name for name in ("some rules", "no patches", "elsewhere"))
    patches.mkdir()
    for path in ("a.toml", "it's/b c.toml", ".git/config", ".a.toml.swp", "__pycache__/x.txt", "it's/__pycache__/y.pyc", "it's/.x"):
        (rules / path).parent.mkdir(parents=True, exist_ok=True)
        (rules / path).write_text("[x]\n\n")
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "deep" / "c.toml").write_text("linked")
    (rules / "d.toml").symlink_to(elsewhere / "deep" / "c.toml")
    (rules / "folder").symlink_to(elsewhere)
    folders = ["--rules-dir", rules, "--patches-dir", patches]
    # The options stand behind the words, so they are the shell's $1 to $4.
    words = ["a", "--", "-c", 'ls -A "$4" && cd "$2" && find . ! -type d -exec sh -c \'echo "$1 $(($(wc -c < "$1")))"\' sh {} ";"', "sh"]
    done = bench.run(*folders, *words, binary=os.path.realpath("/bin/sh"), folders=False)
    found = sorted(done.stdout.splitlines())
    assert found == ["./a.toml 5", "./d.toml 6", "./folder/deep/c.toml 6", "./it's/b c.toml 5"], found
    (rules / "loop").symlink_to(rules)
    assert "not all of it can be read" in bench.run(*folders, *words, exit_code=2, folders=False).stderr


@row()
def any_shell_here(bench):
    tree = bench.tree("a")
    for shell in (["dash"], ["bash", "--posix"], ["busybox", "sh"]):
        done = bench.run("--json", "--timeout", "60", "a", "b", "--", "status", PATCH, "-t", tree, shell=shell)
        assert json.loads(done.stdout)["count"]["ok"] == 2, (shell, done)


# --- ways to get there --------------------------------------------------------------------------------------------------

ADDRESS_OF_C = hosts.ADDRESSES["c"]


@row()
def through_another_host(bench):
    """c is reached through a alone: by the `ProxyJump` of ~/.ssh/config, and by -J."""
    tree = bench.tree("c")
    assert bench.state("c", "c", "--timeout", "3", "--", "status")[0] in ("unreachable", "timeout")
    for words in (["jumped"], ["-J", "a", ADDRESS_OF_C]):
        done = bench.run(*words, "--", "diff", PATCH, "-t", tree)
        assert done.stdout.startswith("--- a/toyserve/engine.py\n"), done


@row()
def what_the_configuration_forwards_and_runs_is_left_alone(bench):
    config = bench.fleet.config
    before = config.read_text()
    config.write_text("Host a\n  LocalForward 22 localhost:1\n  RemoteCommand false\n  RequestTTY yes\n" + before)
    try:
        done = bench.run("a", "--", "diff", PATCH, "-t", bench.tree("a"))
    finally:
        config.write_text(before)
    assert done.stdout.startswith("--- a/") and "\r" not in done.stdout and not done.stderr, done


@row()
def a_shell_that_talks(bench):
    """.bashrc prints; another stream's noise is no part of the answer."""
    tree = bench.tree("a")
    bench.stub("a", lines="printf 'welcome, {no newline'; echo '[motd]' >&2")
    done = bench.run("--json", "a", "--", "status", PATCH, "-t", tree)
    assert json.loads(done.stdout)["hosts"]["a"]["report"]["exit"] == 0


@row(writes=True)
def nothing_there_but_busybox(bench):
    """PATH has sh, mkdir, chmod, cat, rm, mv and cksum alone: no sha256sum, df, uname, mktemp."""
    tree = bench.tree("a")
    busybox = shutil.which("busybox")
    assert busybox, "busybox is not installed (scripts/install_deps.sh test)"
    bare = bench.fleet["a"].near("bare")
    bare.mkdir()
    for name in ("sh", "mkdir", "chmod", "cat", "rm", "mv", "cksum"):
        (bare / name).symlink_to(busybox)
    bench.stub("a", lines="export PATH=/srv/bare")
    for words in ([], ["--keep"], ["--keep"]):
        bench.run(*words, "a", "--", "apply", PATCH, "-t", tree)
    shutil.rmtree(bare)
    assert bench.verdict("a") == "applied"


@row()
def private_while_it_is_there(bench):
    seen = bench.fleet["a"].near("seen")
    bench.stub("a", sha256sum='{ stat -c "%a %n" /tmp/suture-ssh.*; stat -c "%a %n" /tmp/suture-ssh.*/*; } > /srv/seen; exec /usr/bin/sha256sum')
    bench.run("a", "--", "status", PATCH, "-t", bench.tree("a"))
    modes = [line.split()[0] for line in seen.read_text().splitlines()]
    assert len(modes) >= 3 and set(modes) == {"700"}, seen.read_text()


@row()
def kept_and_copied_once(bench):
    tree = bench.tree("a")
    cache = bench.fleet["a"].folder / "root" / ".cache" / "suture-ssh"
    run = ["--keep", "a", "--", "status", PATCH, "-t", tree]
    bench.run(*run)
    (kept,) = cache.iterdir()
    first = kept.stat()
    assert stat.S_IMODE(cache.stat().st_mode) == stat.S_IMODE(first.st_mode) == 0o700
    bench.run(*run)
    assert kept.stat().st_ino == first.st_ino, "copied again, though it was there"
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    bench.run(*run)
    assert kept.stat().st_ino != first.st_ino, "what was kept is damaged, and was run"
    bench.run("a", "--", "status", PATCH, "-t", tree)
    assert list(cache.iterdir()) == [kept]
    shutil.rmtree(cache)


# --- hosts that fail ----------------------------------------------------------------------------------------------------

@row(namespaces=False)
def host_is_down(bench):
    """Nobody listens; and a name that nobody knows."""
    state, reason = bench.state("127.0.0.1", "-p", "1", "127.0.0.1", "--", "status")
    assert (state, "refused" in reason) == ("unreachable", True), reason
    state, reason = bench.state("no-such-host.invalid", "no-such-host.invalid", "--", "status")
    assert state == "unreachable" and "resolve" in reason, reason


@row(namespaces=False)
def key_is_refused(bench):
    other = bench.fleet.folder / "other_key"
    if not other.exists():
        hosts.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
    words = ["-i", other, "-o", "IdentitiesOnly=yes", "-o", f"IdentityFile={other}", "-F", "/dev/null", "-o",
             "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-p", bench.fleet["b"].port]
    address = bench.fleet["b"].address
    state, reason = bench.state(address, *words, address, "--", "status")
    assert state == "refused" and "Permission denied" in reason, reason


@row(namespaces=False)
def host_is_another_one(bench):
    """The host key is not the one that is known."""
    known = bench.fleet.folder / "known_wrong"
    machine = bench.fleet["b"]
    public = " ".join(bench.fleet.key.with_suffix(".pub").read_text().split()[:2])
    known.write_text(f"[{machine.address}]:{machine.port} {public}\n{machine.address} {public}\n")
    state, reason = bench.state("b", "-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes", "b", "--", "status")
    assert state == "refused" and "Host key verification failed" in reason, reason


@row()
def a_forced_command(bench):
    keys = bench.fleet["a"].near("sshd", "authorized_keys")
    before = keys.read_text()
    keys.write_text(f'command="echo not for you; exit 3" {before}')
    try:
        state, reason = bench.state("a", "a", "--", "status")
    finally:
        keys.write_text(before)
    assert (state, reason) == ("refused", "no sh there: exit code 3: not for you"), reason


@row()
def disk_is_full(bench):
    """No folder has room; then df has it that there is room, and the copy finds that there is none."""
    machine = bench.fleet["a"]
    machine.near("full").mkdir()
    machine.inside("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/srv/full")
    state, reason = bench.state("a", "--tmp", "/srv/full", "a", "--", "status")
    assert state == "not-copied" and "/srv/full (disk full)" in reason, reason
    bench.stub("a", df="exit 1")
    state, reason = bench.state("a", "--tmp", "/srv/full", "a", "--", "status")
    assert state == "not-copied" and "is the disk full?" in reason, reason
    assert machine.inside("ls", "-A", "/srv/full").stdout == ""


@row()
def no_place_for_programs(bench):
    """noexec; a folder that is not there; the next folder is taken where one will not do."""
    machine = bench.fleet["a"]
    machine.near("noexec").mkdir()
    machine.inside("mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", "/srv/noexec")
    state, reason = bench.state("a", "--tmp", "/srv/noexec", "a", "--", "status")
    assert state == "not-copied" and "/srv/noexec (no program may run there)" in reason, reason
    state, reason = bench.state("a", "--tmp", "/srv/nowhere", "a", "--", "status")
    assert state == "not-copied" and "/srv/nowhere (not to be written)" in reason, reason
    bench.stub("a", lines="export TMPDIR=/srv/noexec")
    bench.run("a", "--", "status", PATCH, "-t", bench.tree("a"))


@row()
def another_machine(bench):
    """uname says so; the executable says so; neither does, and it does not start."""
    bench.stub("a", uname="echo aarch64")
    state, reason = bench.state("a", "a", "--", "status")
    assert (state, reason) == ("wrong-machine", "the host is aarch64, the executable x86_64"), reason
    bench.unstub()
    foreign = bench.fleet.folder / "foreign"
    for machine, said in ((183, "the host is x86_64, the executable aarch64"), (0x1234, "the executable does not start on this host")):
        data = bytearray(pathlib.Path(driver.SUTURE).read_bytes()[:1 << 20])
        data[18:20] = machine.to_bytes(2, "little")
        foreign.write_bytes(data)
        state, reason = bench.state("a", "a", "--", "status", binary=foreign)
        assert (state, reason) == ("wrong-machine", said), reason


@row()
def the_copy_is_damaged(bench):
    bench.stub("a", cat="/bin/cat \"$@\" | /usr/bin/tail -c +2")
    state, reason = bench.state("a", "a", "--", "status")
    assert state == "not-copied" and "is not what was sent" in reason, reason


@row()
def site_packages_are_read_only(bench):
    tree = bench.tree("a", "readonly")
    bench.fleet["a"].inside("mount", "--bind", "/srv/readonly", "/srv/readonly")
    bench.fleet["a"].inside("mount", "-o", "remount,bind,ro", "/srv/readonly")
    done = bench.run("--json", "a", "--", "apply", PATCH, "-t", tree, exit_code=6)
    entry = json.loads(done.stdout)["hosts"]["a"]
    assert (entry["state"], entry["exit"]) == ("ran", 6) and "read-only" in json.dumps(entry["report"]["errors"]).lower(), entry
    bench.fleet["a"].inside("umount", "/srv/readonly")


@row()
def it_takes_too_long(bench):
    bench.stub("a", df="sleep 30")
    started = time.monotonic()
    state, reason = bench.state("a", "--timeout", "1", "a", "--", "status")
    assert (state, reason) == ("timeout", "not done within 1 s"), reason
    assert time.monotonic() - started < 25, "the time-out did not end it"
    bench.fleet["a"].kill_sessions()
    sweep(bench, "a")


def sweep(bench, host):
    """A host whose processes were killed, as a crash kills them, keeps the temporary folder."""
    for folder in (bench.fleet[host].folder / "tmp").glob("suture-ssh.*"):
        shutil.rmtree(folder)


@row()
def the_connection_is_lost_in_the_middle(bench):
    """The session dies; then the line does, and nobody says so."""
    machine = bench.fleet["b"]
    for cut in (machine.kill_sessions, lambda: hosts.run("ip", "link", "set", "to-b", "down")):
        bench.stub("b", df="touch /srv/reached; sleep 30")
        reached = machine.near("reached")
        reached.unlink(missing_ok=True)
        words = ["--json", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", "b", "--", "status"]
        process = subprocess.Popen(bench.command(*words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wait_until(reached.exists)
        cut()
        document = json.loads(process.communicate(timeout=60)[0])
        assert process.returncode == NOT_RUN and document["hosts"]["b"]["state"] == "lost", document
        machine.kill_sessions()
        sweep(bench, "b")
    hosts.run("ip", "link", "set", "to-b", "up")
    bench.unstub()
    bench.run("b", "--", "status", PATCH, "-t", bench.tree("b"))


@row(namespaces=False)
def a_script_that_was_cut_short_is_not_run(bench):
    """ssh is a stand-in that hands on the first bytes alone, some in the middle of the script, some in that of the copy."""
    bins = bench.fleet.folder / "bin"
    bins.mkdir()
    for share, state in ((40, "refused"), (1000, "refused"), (2000, "refused"), (500000, "not-copied")):
        (bins / "ssh").write_text(f'#!/bin/sh\nfor last; do :; done\nhead -c {share} | sh -c "$last"\n')
        (bins / "ssh").chmod(0o755)
        got, reason = bench.state("a", "a", "--", "status", environment={"PATH": f"{bins}:{os.environ['PATH']}"})
        assert got == state and ("is not what was sent" in reason) == (state == "not-copied"), (share, got, reason)


@row()
def some_fail_and_the_others_run(bench):
    tree = bench.tree("a")
    done = bench.run("a", "no-such-host.invalid", "jumped", "--", "status", PATCH, "-t", tree, exit_code=NOT_RUN)
    assert "== a\n" in done.stdout and done.stdout.count(PATCH) >= 1, done.stdout
    assert "suture-ssh: no-such-host.invalid: unreachable: " in done.stderr, done.stderr
    assert "suture-ssh: 3 hosts, 2 ok, 1 failed: no-such-host.invalid unreachable\n" in done.stderr, done.stderr


@row()
def interrupted_here(bench):
    """A signal ends it and its ssh, and leaves nothing on this machine."""
    bench.stub("a", df="touch /srv/reached; sleep 5")
    reached = bench.fleet["a"].near("reached")
    reached.unlink(missing_ok=True)
    here = bench.fleet.folder / "near_tmp"
    here.mkdir()
    process = subprocess.Popen(bench.command("a", "--", "status"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "TMPDIR": str(here)})
    wait_until(reached.exists)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, list(here.iterdir())) == (143, []), (process.returncode, said, list(here.iterdir()))
    bench.fleet["a"].kill_sessions()
    sweep(bench, "a")


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within 30 s")


# --- measured -----------------------------------------------------------------------------------------------------------

@row(writes=True, namespaces=False)
def from_nothing_to_applied(bench):
    tree = bench.tree("b")
    started = time.monotonic()
    bench.run("b", "--", "apply", PATCH, "-t", tree)
    seconds = time.monotonic() - started
    assert bench.verdict("b") == "applied"
    size = os.path.getsize(driver.SUTURE)
    return f"{seconds:.2f} s for one command: {size} bytes copied, verified, run, removed"


# --- the table ----------------------------------------------------------------------------------------------------------

def run_row(bench, one):
    for host in bench.fleet.hosts:
        bench.tree(host)
    before = {host: driver.entries(machine.near("site")) for host, machine in bench.fleet.hosts.items()}
    try:
        note = one.test(bench)
    finally:
        if bench.fleet.namespaces:
            bench.unstub()
    assert not bench.litter(), f"left behind: {bench.litter()}"
    if not one.writes:
        for host, machine in bench.fleet.hosts.items():
            different = driver.differences(before[host], driver.entries(machine.near("site")))
            assert not different, f"written on {host}, though nothing should be: {different}"
    return note


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    failed = skipped = 0
    with hosts.Fleet() as fleet:
        bench = Bench(fleet)
        print("three hosts in network namespaces" if fleet.namespaces else "three hosts on the loopback; no namespaces here")
        rows = [one for one in ROWS if only in one.name]
        for one in rows:
            if one.namespaces and not fleet.namespaces:
                skipped += 1
                print(f"skipped {one.name}: needs namespaces")
                continue
            started = time.monotonic()
            try:
                note = run_row(bench, one)
                print(f"ok      {one.name:55} {time.monotonic() - started:5.1f} s{'  ' + note if note else ''}")
            except Exception:  # noqa: BLE001 - the next row runs all the same
                failed += 1
                print(f"FAILED  {one.name}\n{traceback.format_exc()}")
                for name, machine in fleet.hosts.items():
                    machine.kill_sessions()
                    sweep(bench, name)
    print(f"{len(rows)} rows, {failed} failed, {skipped} skipped")
    if skipped and os.environ.get("CI") == "true":
        failed += skipped
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
