"""Wheels as trees: read, never written. What a wheel says is what the same package says unpacked, byte for byte; and whatever
is wrong with an archive is named, or read as an installer reads it.
"""

import json
import random
import shutil
import stat
import struct
import warnings
import zipfile

import scenario
import toycache

WHEEL = "toycache-1.0-py3-none-any.whl"
INFO = "toycache-1.0.dist-info"


def members(s, site="site"):
    """{name: bytes} of every file below a folder."""
    root = s.folder / site
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def pack(s, files, name=WHEEL, method=zipfile.ZIP_DEFLATED):
    """A wheel of {name or ZipInfo: bytes}, or of such pairs."""
    path = s.folder / name
    with zipfile.ZipFile(path, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of duplicate names: some are meant
        for member, data in files.items() if isinstance(files, dict) else files:
            archive.writestr(member, data)
    return path


def toy_wheel(s, change=None, **options):
    """toycache as a wheel: unpacked in site, and packed; `change` edits the members in place."""
    toycache.toy(s)
    files = members(s)
    if change:
        change(files)
    return pack(s, files, **options)


def both(s, *arguments):
    """One command on the wheel and on the unpacked tree: the same bytes, the same words, the same exit code."""
    with s.unchanged("."):
        runs = [s.run_raw(*arguments, "-t", tree, shown=False) for tree in (WHEEL, "site")]
    said = [(run.returncode, run.stdout, run.stderr) for run in runs]
    assert said[0] == said[1], f"{arguments}: the wheel and the unpacked tree disagree: {said}"
    return runs[0]


def report_of(run):
    """A --json document without the tree's own name."""
    report = json.loads(run.stdout)
    for tree in report["trees"]:
        del tree["tree"]
    return report


# --- the same as unpacked --------------------------------------------------------------------------------------------


def test_the_same_as_unpacked(s):
    """diff and status say of a wheel what they say of the unpacked package"""
    toy_wheel(s)
    for patch in ("toy-active", "toy-gather", "toy-prefetch"):
        diff = both(s, "diff", patch)
        assert diff.returncode == 0 and b"\n+++ b/toycache/decode.py\n" in diff.stdout, diff
        both(s, "diff", patch, "--exit-code")
        both(s, "status", patch, "--check")
    both(s, "diff")
    both(s, "status")
    wheel, site = (s.run_raw("status", "--json", "-t", tree, shown=False) for tree in (WHEEL, "site"))
    assert report_of(wheel) == report_of(site)
    assert s.run_raw("apply", "--dry-run", "toy-active", "-t", WHEEL, shown=False).stdout == \
        s.run_raw("apply", "--dry-run", "toy-active", "-t", "site", shown=False).stdout
    s.run("status", "-t", WHEEL)
    s.run("status", "-v", "toy-prefetch", "-t", WHEEL)
    s.run("diff", "toy-prefetch", "-t", WHEEL)


def test_every_verdict_is_the_same(s):
    """Drifted, ambiguous bytes, out of range, another newline: the wheel says what the tree says"""
    for decode, version in (
        (toycache.DECODE.replace(".unpack(", ".expand("), "1.0"),
        (toycache.DECODE.replace("\n", "\r\n"), "1.0"),
        (toycache.DECODE + "def (:\n", "1.0"),
        (toycache.DECODE, "2.5"),
        (None, "1.0"),
    ):
        shutil.rmtree(s.folder / "site", ignore_errors=True)
        toycache.toy(s, decode, version=version)
        pack(s, members(s))
        both(s, "status", "--check")
        both(s, "diff", "toy-active")


def test_record_decides_what_is_pristine(s):
    """RECORD of the wheel: a file with other bytes than it says was edited by somebody, as in a tree"""
    def edit(files):
        # After RECORD was written.
        files["toycache/decode.py"] = files["toycache/decode.py"].replace(b".unpack(", b".expand(")
    toy_wheel(s, edit)
    s.run("status", "toy-active", "--check", "-t", WHEEL)


def test_a_patched_wheel(s):
    """A wheel that was built from a patched tree holds the receipt: its patch is applied"""
    toycache.toy(s)
    s.run_raw("apply", "toy-active", "-t", "site", shown=False)
    pack(s, members(s))
    both(s, "status")
    s.run("status", "-t", WHEEL)


# --- never written ---------------------------------------------------------------------------------------------------


def test_read_only(s):
    """apply and revert refuse a wheel, whatever the verdict; apply --dry-run is a diff"""
    toy_wheel(s)
    with s.unchanged("."):
        s.run("apply", "toy-active", "-t", WHEEL)
        s.run("apply", "toy-active", "--json", "-t", WHEEL)
        s.run("revert", "toy-active", "-t", WHEEL)
        s.run("revert", "--all", "-t", WHEEL)
        s.run("apply", "no-such-patch", "-t", WHEEL)
        s.run("apply", "toy-prefetch", "--dry-run", "-t", WHEEL)


# --- naming a wheel --------------------------------------------------------------------------------------------------


def test_several_wheels(s):
    """status over several wheels is a table; one that cannot be read does not hide the others"""
    toy_wheel(s)
    for version in ("1.1", "2.0"):
        toycache.toy(s, version=version, site=f"site-{version}")
        pack(s, members(s, f"site-{version}"), name=f"toycache-{version}-py3-none-any.whl")
    s.write("toycache-3.0-py3-none-any.whl", "not a zip")
    wheels = [f"toycache-{version}-py3-none-any.whl" for version in ("1.0", "1.1", "2.0", "3.0")]
    trees = [word for wheel in wheels for word in ("-t", wheel)]
    s.run("status", *trees)
    s.run("status", "toy-active", *trees[:4], "-t", "site")


def test_links_and_other_names(s):
    """A link to a wheel is a wheel; a folder of that name is a folder; an archive of another name is none"""
    toy_wheel(s)
    (s.folder / "latest").symlink_to(WHEEL)
    shutil.copy(s.folder / WHEEL, s.folder / "toycache.zip")
    shutil.copy(s.folder / WHEEL, s.folder / "toycache-1.0-py3.11.egg")
    (s.folder / "unpacked.whl").mkdir()
    shutil.copytree(s.folder / "site/toycache", s.folder / "unpacked.whl/toycache")
    s.run("status", "toy-prefetch", "-t", "latest")
    s.run("status", "toy-prefetch", "-t", "unpacked.whl", "--assume-version", "1.0")
    s.run("status", "toy-prefetch", "-t", "toycache.zip")
    s.run("status", "toy-prefetch", "-t", "toycache-1.0-py3.11.egg")
    s.run("status", "toy-prefetch", "-t", "nowhere.whl")


def test_no_environment_leads_to_a_wheel(s):
    """VIRTUAL_ENV, --python and a .pth file that name a wheel: none of them reads it"""
    toy_wheel(s)
    s.write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
    s.write("venv/lib/python3.11/site-packages/toy.pth", f"{s.folder / WHEEL}\n")
    s.run("status", "toy-prefetch", "-t", "venv")
    s.run("status", "toy-prefetch", environment={"VIRTUAL_ENV": WHEEL})
    s.run("status", "toy-prefetch", "--python", f"./{WHEEL}")


def test_no_file_in_a_wheel_leads_out(s):
    """A pyvenv.cfg and .pth files in a wheel are files like any other: what they name is not looked at"""
    toycache.toy(s)
    outside = str(s.folder / "site")
    pack(s, {"pyvenv.cfg": f"home = {outside}\ninclude-system-site-packages = true\n", "toy.pth": outside + "\n",
             "lib/python3.11/site-packages/toycache/__init__.py": "", "other/__init__.py": "",
             f"{INFO}/METADATA": "Name: toycache\nVersion: 1.0\n",
             f"{INFO}/direct_url.json": json.dumps({"url": f"file://{outside}", "dir_info": {"editable": True}})})
    s.run("status", "toy-prefetch", "-t", WHEEL)


# --- what a wheel says of itself -------------------------------------------------------------------------------------


def test_metadata_decides(s):
    """The name of the file and of the dist-info folder say one version, METADATA another: METADATA it is"""
    def other(files):
        files[f"{INFO}/METADATA"] = b"Name: ToyCache\nVersion: 1.4\n"
    toy_wheel(s, other, name="somethingelse-9.9-py3-none-any.whl")
    s.run("status", "toy-active", "-t", "somethingelse-9.9-py3-none-any.whl", "-t", "site")


def test_another_package(s):
    """A wheel of another package: absent, and nothing beside the wheel is taken for it"""
    toycache.toy(s)
    pack(s, {"other/__init__.py": "", "other-1.0.dist-info/METADATA": "Name: other\nVersion: 1.0\n"}, name="site/other.whl")
    s.run("status", "toy-active", "--check", "-t", "site/other.whl")
    s.run("diff", "toy-active", "-t", "site/other.whl")


def test_data_folders(s):
    """What lies below NAME-V.data/purelib or platlib is where it would be installed, RECORD's hashes included"""
    for scheme in ("purelib", "platlib"):
        def move(files, scheme=scheme):
            data = f"toycache-1.0.data/{scheme}/"
            files[data + "toycache/decode.py"] = files.pop("toycache/decode.py")
            record = files[f"{INFO}/RECORD"].replace(b"toycache/decode.py,", f"{data}toycache/decode.py,".encode())
            files[f"{INFO}/RECORD"] = record
        shutil.rmtree(s.folder / "site", ignore_errors=True)
        toy_wheel(s, move)
        both(s, "diff", "toy-active")
        both(s, "status", "--check")
    # Edited behind RECORD's back, there too.
    files = {**members(s), "toycache-1.0.data/purelib/toycache/decode.py": toycache.DECODE.replace(".unpack(", ".x(")}
    record = files[f"{INFO}/RECORD"].replace(b"toycache/decode.py,", b"toycache-1.0.data/purelib/toycache/decode.py,")
    del files["toycache/decode.py"]
    pack(s, {**files, f"{INFO}/RECORD": record})
    s.run("status", "toy-active", "-t", WHEEL)
    # Scripts and data are installed elsewhere.
    pack(s, {"toycache-1.0.data/scripts/toycache/__init__.py": "", f"{INFO}/METADATA": "Name: toycache\nVersion: 1.0\n"})
    s.run("status", "toy-active", "-t", WHEEL)


def test_imports_of_other_packages(s):
    """A wheel does not hold what it needs: an import of another package is no reason to be blocked"""
    toy_wheel(s)
    s.write("rules/only.yaml", "file: decode.py\nrules:\n  - id: imports-other\n    add_import: from elsewhere import thing\n"
            "    expect: 1\n")
    s.write("patches/only/patch.yaml", "patch: only\nsummary: s\npackage: {name: toycache}\n"
            "rules: [imports-other, toy-prefetch-counts]\n")
    s.run("status", "only", "-t", "site")
    s.run("status", "only", "-t", WHEEL)


# --- hostile archives ------------------------------------------------------------------------------------------------


def info(name, **fields):
    """A ZipInfo, its name as it is, whatever zipfile makes of such a name."""
    member = zipfile.ZipInfo("x")
    member.filename = member.orig_filename = name
    member.compress_type = zipfile.ZIP_DEFLATED
    for field, value in fields.items():
        setattr(member, field, value)
    return member


def test_names_that_lead_out(s):
    """Absolute names, "..", empty parts, NUL: the wheel is refused, and the member named"""
    toycache.toy(s)
    good = members(s)
    for name in ("/etc/passwd", "../evil.py", "toycache/../../evil.py", "toycache/./rows.py", "toycache//rows.py", "..",
                 "toycache/ro\0ws.py", "toycache/\033[31mx.py", "a/" * 2500 + "b.py"):
        pack(s, [*good.items(), (info(name), b"")])
        if name.endswith("x.py"):  # an odd name, and a path like any other
            s.run("status", "toy-prefetch", "-t", WHEEL)
            continue
        done = s.run("status", "toy-prefetch", "-t", WHEEL)
        assert done.returncode == 6, name


def test_backslashes(s):
    """A backslash in a name is a letter of it, as it is for pip on Linux: no folder, and no way out"""
    toycache.toy(s)
    good = members(s)
    pack(s, [*good.items(), (info("toycache\\decode.py"), b"x"), (info("..\\..\\evil.py"), b"x")])
    s.run("status", "toy-prefetch", "-t", WHEEL)
    pack(s, [(info(name.replace("/", "\\")), data) for name, data in good.items()])
    s.run("status", "toy-prefetch", "--check", "-t", WHEEL)


def test_duplicate_names(s):
    """Two members of one name, or a member that is file and folder: which one counts is not said, so none does"""
    toycache.toy(s)
    good = members(s)
    for extra in ("toycache/decode.py", "toycache", "toycache/decode.py/x", "toycache-1.0.data/platlib/toycache/rows.py"):
        pack(s, [*good.items(), (info(extra), b"")])
        done = s.run("diff", "toy-prefetch", "-t", WHEEL)
        assert done.returncode == 6, extra
    # Folders may be named as often as they like.
    pack(s, [(info("toycache/"), b""), (info("toycache/"), b""), *good.items()])
    both(s, "diff", "toy-active")


def test_bombs(s):
    """A member over 16 MiB is too large, and one whose header says less than it inflates to is damaged"""
    toycache.toy(s)
    good = members(s)
    bomb = b"#" * (64 << 20)
    pack(s, {**good, "toycache/decode.py": bomb})
    s.run("status", "toy-prefetch", "-t", WHEEL)
    pack(s, {**good, "toycache/other.py": bomb})  # that nobody asks for
    both(s, "diff", "toy-active")
    path = pack(s, {**good, "toycache/decode.py": bomb})
    size = struct.pack("<L", len(bomb))
    raw = path.read_bytes()
    assert raw.count(size) >= 2, "no size in the headers"
    path.write_bytes(raw.replace(size, struct.pack("<L", len(toycache.DECODE))))
    s.run("status", "toy-prefetch", "-t", WHEEL)
    path.write_bytes(raw.replace(size, struct.pack("<L", 16 << 20)))
    s.run("status", "toy-prefetch", "-t", WHEEL)
    path = pack(s, {**good, f"{INFO}/METADATA": bomb})
    s.run("status", "toy-prefetch", "-t", WHEEL)


def corrupt(path, member, change):
    """Changes a member's directory entry and local header with change(bytearray of the archive, entry, header)."""
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        header = archive.getinfo(member).header_offset
    entry = 0
    while True:
        entry = raw.index(b"PK\1\2", entry)
        name_length = struct.unpack_from("<H", raw, entry + 28)[0]
        if raw[entry + 46:entry + 46 + name_length] == member.encode():
            break
        entry += 4
    change(raw, entry, header)
    path.write_bytes(raw)


def test_damaged_members(s):
    """A wrong CRC, bytes that do not inflate, an encrypted member, an unknown compression: named, where the member is read"""
    toycache.toy(s)
    good = members(s)

    def wrong_crc(raw, entry, header):
        raw[entry + 16] ^= 1
        raw[header + 14] ^= 1

    def garbage(raw, entry, header):
        start = header + 30 + sum(struct.unpack_from("<HH", raw, header + 26))
        raw[start:start + 8] = b"\xff" * 8

    def encrypted(raw, entry, header):
        raw[entry + 8] |= 1
        raw[header + 6] |= 1

    def unknown(raw, entry, header):
        struct.pack_into("<H", raw, entry + 10, 14)
        struct.pack_into("<H", raw, header + 8, 14)

    def header_disagrees(raw, entry, header):
        raw[header + 14] ^= 1

    def elsewhere(raw, entry, header):
        struct.pack_into("<L", raw, entry + 42, len(raw) + 1000)

    for change in (wrong_crc, garbage, encrypted, unknown, header_disagrees, elsewhere):
        s.say(change.__name__)
        # A source file that cannot be read is drift, as in a tree; without metadata nothing can be said.
        for member, code in (("toycache/decode.py", 4), (f"{INFO}/METADATA", 6)):
            path = pack(s, good)
            corrupt(path, member, change)
            done = s.run("diff", "toy-prefetch", "-t", WHEEL)
            assert done.returncode == code and not done.stdout, (change, member)
        # Of a member that nobody reads there is nothing to say.
        path = pack(s, {**good, "toycache/other.py": "x = 1\n" * 40})
        corrupt(path, "toycache/other.py", change)
        both(s, "diff", "toy-prefetch")


def test_other_compressions(s):
    """Stored members are read; bzip2 and LZMA, which no wheel uses, are named"""
    toy_wheel(s, method=zipfile.ZIP_STORED)
    both(s, "diff", "toy-active")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        pack(s, members(s), method=method)
        s.run("diff", "toy-active", "-t", WHEEL)


def test_symbolic_links(s):
    """A member that is a symbolic link is not followed, wherever it leads"""
    toycache.toy(s)
    link = (stat.S_IFLNK | 0o777) << 16
    s.write("secret.py", "secret")
    for target in ("rows.py", str(s.folder / "secret.py"), "../../secret.py"):
        pack(s, [*[(name, data) for name, data in members(s).items() if name != "toycache/decode.py"],
                 (info("toycache/decode.py", external_attr=link, create_system=3), target)])
        s.run("diff", "toy-prefetch", "-t", WHEEL)


def test_cut_off_and_no_archive(s):
    """An archive that is cut off, or none at all, is named as that; a wheel that cannot be read, too"""
    path = toy_wheel(s)
    raw = path.read_bytes()
    for data in (b"", b"PK", b"#!/bin/sh\n", raw[:-1], raw[: len(raw) // 2], raw[:30], b"\0" * 100_000):
        path.write_bytes(data)
        done = s.run("status", "toy-prefetch", "-t", WHEEL)
        assert done.returncode == 6, data[:20]
    # Bytes in front of an archive, and a comment at its end, are no damage.
    path.write_bytes(b"#!/usr/bin/env python3\n" + raw)
    both(s, "diff", "toy-active")
    with zipfile.ZipFile(pack(s, members(s)), "a") as archive:
        archive.comment = b"c" * 60_000
    both(s, "diff", "toy-active")


def test_directory_that_says_less(s):
    """A directory that says fewer members than it holds: readers disagree on such an archive, so it is refused"""
    path = toy_wheel(s)
    raw = bytearray(path.read_bytes())
    end = raw.rindex(b"PK\5\6")
    count = struct.unpack_from("<H", raw, end + 10)[0]
    for said in (count - 1, count + 1, 0):
        struct.pack_into("<HH", raw, end + 8, said, said)
        path.write_bytes(raw)
        s.run("status", "toy-prefetch", "-t", WHEEL)


def test_many_members(s):
    """65,535 members, and more than that (zip64): read"""
    toycache.toy(s)
    good = members(s)
    for count in (65_535, 65_536, 70_000):
        pack(s, [*good.items(), *((f"data/{i}", b"") for i in range(count - len(good)))], method=zipfile.ZIP_STORED)
        both(s, "diff", "toy-active")


def test_zip64_member(s):
    """A member with its sizes in the zip64 extra field is read"""
    toycache.toy(s)
    with zipfile.ZipFile(s.folder / WHEEL, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members(s).items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(data)
    both(s, "diff", "toy-active")


def test_damage_at_random(s):
    """300 wheels, each damaged in some bytes or cut off: never a crash, and a diff only where it is the right one"""
    path = toy_wheel(s)
    raw = path.read_bytes()
    right = s.run_raw("diff", "toy-prefetch", "-t", "site", shown=False).stdout
    chance = random.Random(20240607)
    codes = set()
    for i in range(300):
        data = bytearray(raw)
        for _ in range(chance.choice((1, 1, 2, 8))):
            # Half of it in the directory.
            start = 0 if chance.random() < 0.5 else raw.index(b"PK\1\2")
            data[chance.randrange(start, len(data))] = chance.randrange(256)
        if i % 8 == 0:
            del data[chance.randrange(len(data)):]
        path.write_bytes(data)
        done = s.run_raw("diff", "toy-prefetch", "-t", WHEEL, shown=False)
        codes.add(done.returncode)
        # 5: a name was hit, and the package or its version is not there.
        assert done.returncode in (0, 4, 5, 6), (i, done)
        assert done.returncode != 0 or done.stdout == right, (i, done.stdout)
    assert {0, 5, 6} <= codes, codes


if __name__ == "__main__":
    scenario.main(globals())
