"""Trees and target files that are not what a patch expects: suture says what is there and writes nothing."""

import os
import shutil
import subprocess

import scenario
import toycache
from toycache import DECODE


def three(s, tree="site", *options):
    """The commands that meet a tree, none of which may write."""
    if (s.folder / "site").exists():
        with s.unchanged():
            s.run("diff", "toy-active", "-t", tree, *options)
            s.run("apply", "toy-active", "-t", tree, *options)
            s.run("status", "toy-active", "-t", tree, "--check", *options)
    else:
        s.run("diff", "toy-active", "-t", tree, *options)
        s.run("apply", "toy-active", "-t", tree, *options)
        s.run("status", "toy-active", "-t", tree, "--check", *options)


# --- finding the tree ------------------------------------------------------------------------------------------------


def test_no_such_tree(s):
    """A tree that does not exist: what is, nearest to it, is named"""
    toycache.toy(s)
    three(s, "site/nowhere/at/all")
    s.run("revert", "--all", "-t", "nowhere")


def test_tree_is_a_file(s):
    """A tree that is a file"""
    toycache.toy(s)
    three(s, "site/toycache/decode.py")


def test_no_such_package(s):
    """A folder without the package"""
    toycache.toy(s)
    shutil.rmtree(s.folder / "site/toycache")
    shutil.rmtree(s.folder / "site/toycache-1.0.dist-info")
    three(s)
    s.run("status", "-t", "site", keep=lambda line: "toy" in line)
    s.run("revert", "toy-active", "-t", "site")


def test_two_versions(s):
    """Two versions' metadata: the version is unknown, so out of range, until it is said"""
    toycache.toy(s)
    shutil.copytree(s.folder / "site/toycache-1.0.dist-info", s.folder / "site/toycache-1.1.dist-info")
    metadata = s.read("site/toycache-1.1.dist-info/METADATA").replace("Version: 1.0", "Version: 1.1")
    s.write("site/toycache-1.1.dist-info/METADATA", metadata)
    three(s)
    with s.unchanged():
        s.run("status", "toy-active", "-t", "site", "--assume-version", "1.1")


def test_no_metadata(s):
    """No metadata at all"""
    toycache.toy(s)
    shutil.rmtree(s.folder / "site/toycache-1.0.dist-info")
    three(s)
    s.run("apply", "toy-active", "-t", "site", "--assume-version", "1.0")
    s.run("apply", "toy-active", "-t", "site")


def test_metadata_without_a_version(s):
    """METADATA whose Version is none, and METADATA that has none"""
    toycache.toy(s)
    metadata = s.folder / "site/toycache-1.0.dist-info/METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: toycache\nVersion: garbage \x1b[31m\n")
    s.run("status", "toy-active", "-t", "site")
    s.run("apply", "toy-active", "-t", "site")
    metadata.write_text("Metadata-Version: 2.1\nName: toycache\n")
    (s.folder / "site/toycache-1.0.dist-info").rename(s.folder / "site/toycache.dist-info")
    s.run("status", "toy-active", "-t", "site")


def test_assumed_version_is_none(s):
    """--assume-version that is no version"""
    toycache.toy(s)
    three(s, "site", "--assume-version", "new")


def test_no_environment(s):
    """No --tree, and no environment to be found"""
    toycache.toy(s)
    s.run("status", "toy-active")
    s.run("status", "toy-active", "--python", "nowhere/bin/python")


def virtual_environment(s, site):
    s.write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
    s.write("venv/bin/python", "")
    (s.folder / "venv/bin/python").chmod(0o755)
    (s.folder / site).parent.mkdir(parents=True, exist_ok=True)
    shutil.move(s.folder / "site", s.folder / site)


def test_ways_to_name_a_tree(s):
    """One tree, named in every way there is"""
    toycache.toy(s)
    site = "venv/lib/python3.11/site-packages"
    virtual_environment(s, site)
    for tree in (f"{site}/toycache", site, "venv"):
        s.run("status", "toy-active", "-v", "-t", tree)
    s.run("status", "toy-active", "-v", "--python", "venv/bin/python")
    s.run("status", "toy-active", "-v", environment={"VIRTUAL_ENV": "venv"})


def test_source_checkout(s):
    """A source checkout, with the package below python/"""
    toycache.toy(s)
    shutil.copytree(s.folder / "site/toycache", s.folder / "checkout/python/toycache")
    s.write("checkout/python/pyproject.toml", "[project]\nname = \"toycache\"\nversion = \"1.2\"\n")
    s.run("status", "toy-active", "-v", "-t", "checkout")


# --- a tree that cannot be written -----------------------------------------------------------------------------------


def read_only(s):
    """Words in front of a command that make site read-only for it: mode bits bind no superuser, a mount does."""
    if os.geteuid() != 0:
        for path in [s.folder / "site", *(s.folder / "site").rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        return ()
    tools = {tool: shutil.which(tool) for tool in ("unshare", "mount", "sh")}
    if None in tools.values():
        raise scenario.Skipped("a read-only mount needs unshare and mount")
    mount = "{mount} --bind site site && {mount} -o remount,bind,ro site && exec \"$0\" \"$@\"".format(**tools)
    before = (tools["unshare"], "-m", tools["sh"], "-c", mount)
    trial = subprocess.run([*before, shutil.which("true")], cwd=s.folder, capture_output=True, check=False)
    if trial.returncode != 0:
        raise scenario.Skipped(f"no read-only mount can be made here: {trial.stderr.decode().strip()}")
    return before


def test_read_only(s):
    """A read-only tree: diff and status work, apply says what it cannot write"""
    toycache.toy(s)
    before = read_only(s)
    with s.unchanged():
        s.run("diff", "toy-prefetch", "-t", "site", before=before)
        s.run("status", "toy-active", "-t", "site", before=before)
        s.run("apply", "toy-active", "-t", "site", before=before)
        s.run("apply", "toy-active", "--dry-run", "-q", "-t", "site", before=before)


def test_read_only_and_applied(s):
    """A read-only tree that is patched already: apply has nothing to do and says so, exit 0"""
    toycache.toy(s)
    s.run("apply", "toy-active", "-q", "-t", "site")
    before = read_only(s)
    with s.unchanged():
        s.run("apply", "toy-active", "-t", "site", before=before)
        s.run("revert", "toy-active", "-t", "site", before=before)


# --- target files ----------------------------------------------------------------------------------------------------


def test_not_utf8(s):
    """A target that is not UTF-8 and declares no encoding"""
    toycache.toy(s, DECODE.encode().replace(b"# All of", b"# \xe9\xff All of"))
    three(s)


def test_declared_latin1(s):
    """A target that declares Latin-1 is patched, and its bytes survive"""
    toycache.toy(s, b"# -*- coding: latin-1 -*-\n" + DECODE.encode().replace(b"# All of", b"# \xe9\xff All of"))
    before = (s.folder / "site/toycache/decode.py").read_bytes()
    s.run("diff", "toy-active", "-t", "site")
    s.run("apply", "toy-active", "-t", "site")
    assert b"# \xe9\xff All of" in (s.folder / "site/toycache/decode.py").read_bytes()
    s.run("revert", "toy-active", "-t", "site")
    assert (s.folder / "site/toycache/decode.py").read_bytes() == before


def test_syntax_error_in_scope(s):
    """A syntax error inside the scope, at the match"""
    toycache.toy(s, DECODE.replace("            query.kind\n", "            query.kind +\n"))
    three(s)


def test_syntax_error_outside_scope(s):
    """A syntax error elsewhere in the file is reported, and hides no match"""
    toycache.toy(s, DECODE + "\n\ndef broken(:\n    pass\n")
    with s.unchanged():
        s.run("diff", "toy-active", "-t", "site")
        s.run("status", "toy-active", "-t", "site", "--check")


def test_empty_target(s):
    """An empty target"""
    toycache.toy(s, "")
    three(s)


def test_target_is_a_folder(s):
    """A folder where the target should be"""
    toycache.toy(s)
    (s.folder / "site/toycache/decode.py").unlink()
    (s.folder / "site/toycache/decode.py").mkdir()
    three(s)


def test_target_is_missing(s):
    """No target"""
    toycache.toy(s)
    (s.folder / "site/toycache/decode.py").unlink()
    three(s)


def test_target_of_50_megabytes(s):
    """A target of 50 MB"""
    toycache.toy(s)
    with open(s.folder / "site/toycache/decode.py", "ab") as file:
        file.write(b"#" * 50_000_000 + b"\n")
    three(s)


def test_open_brackets(s):
    """70,000 open brackets behind the scope: bounded, and no crash"""
    toycache.toy(s, DECODE + "\nx = " + "(" * 70_000 + "\n")
    with s.unchanged():
        s.run("diff", "toy-active", "-t", "site")
        s.run("status", "toy-active", "-t", "site", "--check")


def test_open_brackets_in_scope(s):
    """70,000 open brackets inside the scope"""
    toycache.toy(s, DECODE.replace("query.kind", "(" * 70_000 + "query.kind"))
    three(s)


def test_deep_nesting(s):
    """70,000 brackets, all closed"""
    toycache.toy(s, DECODE + "\nx = " + "(" * 70_000 + "1" + ")" * 70_000 + "\n")
    three(s)


def test_link_out_of_the_tree(s):
    """A target that is a link out of the tree"""
    toycache.toy(s)
    shutil.move(s.folder / "site/toycache/decode.py", s.folder / "elsewhere.py")
    (s.folder / "site/toycache/decode.py").symlink_to("../../elsewhere.py")
    three(s)


scenario.main(globals())
