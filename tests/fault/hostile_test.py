#!/usr/bin/env python3
"""Input that wants out of the tree, or was made to break what reads it: patches, links, receipts, journals.

    python3 tests/fault/hostile_test.py [--only WORD] [--forgeries N]

Each is refused with a word of what is wrong, by every command, and nothing is written, inside the tree or outside.
"""

import argparse
import copy
import hashlib
import json
import os
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402
import toymesh  # noqa: E402

APPLY = ["apply", "mesh-cache", "mesh-frame"]
COMMANDS = [["status"], ["diff", "mesh-retry"], ["apply", "mesh-retry"], ["revert", "--all"], ["revert", "mesh-cache"]]


class Tree:
    """A fresh tree, `outside` beside it, and suture on it."""

    def __init__(self, folder, applied=False):
        self.folder = folder
        self.options = toymesh.add_patches(folder)
        self.site = folder / "site"
        toymesh.install(self.site)
        self.package = self.site / "toymesh"
        self.suture = self.package / ".suture"
        self.outside = folder / "outside"
        toymesh.write(self.outside / "secret.py", "SECRET = 1\n")
        if applied:
            self.run(*APPLY)
        self.before = attack.look(folder)

    def words(self, command):
        return [str(word) for word in [*command, "-t", self.site, *self.options]]

    def run(self, *command, exit_code=0):
        done = attack.run(self.words(command))
        assert done.exit == exit_code, done
        return done

    def ready(self):
        """What stands now is what must stand after."""
        self.before = attack.look(self.folder)

    def refuses(self, command, exit_codes, *words):
        done = attack.run(self.words(command))
        assert done.exit in exit_codes, done
        assert all(word in done.err + done.out for word in words), (words, str(done))
        now = attack.look(self.folder)
        changed = [path for path in now.keys() | self.before.keys() if now.get(path) != self.before.get(path)]
        assert not changed, f"{changed} is written\n{done}"
        return done


# --- patches ----------------------------------------------------------------------------------------------------------

PATHS_OUT = ["../../x.py", "/etc/x.py", "lib/../../x.py", "..", ".", "", "lib//x.py", "lib/", "./x.py", ".suture/x.py",
             ".suture", "a\\u0000b.py"]
PATCH = "patch: out\nsummary: wants out\npackage: {{name: toymesh{package}}}\n{adds}rules: [mesh-send-retries, mesh-imports-time]\n"


def patch_out(tree, package="", adds="", rules=None):
    toymesh.write(tree.folder / "patches/out/patch.yaml", PATCH.format(package=package, adds=adds))
    toymesh.write(tree.folder / "patches/out/packed.py", toymesh.PACKED)
    if rules:
        toymesh.write(tree.folder / "rules/out.yaml", rules)
    tree.ready()


def test_a_path_of_a_file_to_be_added(tree):
    for path in PATHS_OUT:
        patch_out(tree, adds=f'adds:\n  - {{path: "{path}", from: packed.py}}\n')
        for command in (["status"], ["diff", "out"], ["apply", "out"]):
            tree.refuses(command, [3], "patches/out/patch.yaml:5:", "error: ")


def test_a_file_that_is_taken_from_elsewhere(tree):
    for path in ["../../outside/secret.py", "/etc/passwd", "../mesh-cache/packed.py", "..", ""]:
        patch_out(tree, adds=f'adds:\n  - {{path: lib/x.py, from: "{path}"}}\n')
        tree.refuses(["apply", "out"], [3], "patches/out/patch.yaml:5:", "error: ")


def test_a_package_that_is_a_path(tree):
    for folder in ["..", "../outside", "/etc", "toymesh//core", ".", "toymesh/../../outside"]:
        patch_out(tree, package=f', folder: "{folder}"')
        tree.refuses(["apply", "out"], [3], "patches/out/patch.yaml:3:", "error: ")


def test_a_rule_s_file(tree):
    for path in ["../outside/secret.py", "/etc/passwd", "core/../../outside/*.py", "**/../secret.py", ""]:
        rules = f'rules:\n  - {{id: out, file: "{path}", match: SECRET = 1, replace: SECRET = 2, expect: 1}}\n'
        patch_out(tree, rules=rules)
        text = (tree.folder / "patches/out/patch.yaml").read_text().replace("mesh-send-retries, mesh-imports-time", "out")
        toymesh.write(tree.folder / "patches/out/patch.yaml", text)
        tree.ready()
        tree.refuses(["apply", "out"], [3], "rules/out.yaml:2:", "error: ")


# --- links ------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_a_link_out(tree):
    (tree.package / "core/node.py").rename(tree.outside / "node.py")
    (tree.package / "core/node.py").symlink_to(tree.outside / "node.py")
    tree.ready()
    tree.refuses(APPLY, [4, 5, 6], "leads outside the tree")


def test_a_folder_that_is_a_link_out(tree):
    (tree.package / "core").rename(tree.outside / "core")
    (tree.package / "core").symlink_to("../../outside/core")
    tree.ready()
    tree.refuses(APPLY, [4, 5, 6], "leads outside the tree")


def test_the_folder_of_an_added_file_is_a_link_out(tree):
    (tree.package / "lib").symlink_to(tree.outside)
    tree.ready()
    tree.refuses(APPLY, [4, 5, 6], "leads outside the tree")
    (tree.package / "lib").unlink()
    (tree.package / "lib").symlink_to(tree.folder / "nowhere")
    tree.ready()
    tree.refuses(APPLY, [4, 5, 6], "leads outside the tree")


def test_links_in_suture_s_own_folder(tree):
    """Each of its names is a link to something outside; none is followed."""
    for name in ("lock", "receipt.json", "journal", "journal.new", "blobs"):
        one = Tree(tree.folder / name)
        target = one.outside if name == "blobs" else one.outside / "secret.py"
        one.suture.mkdir()
        (one.suture / name).symlink_to(target)
        before = attack.look(one.outside)
        done = attack.run(one.words(APPLY))
        assert attack.look(one.outside) == before, f"written through {name}\n{done}"
        assert done.exit == 6 or name == "journal.new", done  # that one is ours to remove: a link of that name, too
        if name in ("lock", "receipt.json", "journal"):
            assert f"/.suture/{name} is " in done.err and "symbolic link" in done.err, done
        if done.exit == 6:
            assert toymesh.present(one.site) == toymesh.expected([]), done


def test_what_is_no_file(tree):
    """A pipe or a folder where a file should be: nothing waits for it."""
    for name in ("receipt.json", "journal", "lock"):
        for make in (os.mkfifo, os.mkdir):
            one = Tree(tree.folder / f"{name}-{make.__name__}")
            one.suture.mkdir()
            make(one.suture / name)
            done = attack.run(one.words(APPLY))
            assert done.exit == 6 or (name == "lock" and make is os.mkfifo and done.exit == 0), done
            assert done.exit == 0 or toymesh.present(one.site) == toymesh.expected([]), done
            what = "it is a folder" if make is os.mkdir else "it is no regular file"
            words = f"/.suture/{name} is " + ("a folder" if name == "lock" else f"damaged: {what}")
            assert done.exit == 0 or (words in done.err and "hint: " in done.err), done
    os.mkfifo(tree.package / "core/pipe.py")
    tree.run("status")


# --- receipts and journals --------------------------------------------------------------------------------------------


def seal(document):
    """With a checksum that holds: whoever forges a receipt can do that, too."""
    document = {key: value for key, value in document.items() if key != "checksum"}
    compact = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps({**document, "checksum": hashlib.sha256(compact.encode()).hexdigest()})


def test_a_receipt_that_is_damaged(tree):
    tree = Tree(tree.folder / "applied", applied=True)
    path = tree.suture / "receipt.json"
    whole = path.read_bytes()
    deep = b'{"format":1,"checksum":"","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    for text, word in [
        (b"", "is damaged"), (whole[:-40], "is damaged"), (whole[: len(whole) // 2], "is damaged"),
        (whole.replace(b"mesh-frame", b"mesh-other", 1), "is damaged"), (b"\0" * 4096, "is damaged"), (b"[]", "is damaged"),
        (b"{}", "is damaged"), (b'{"format": "1"}', "is damaged"), (b'{"format": -1}', "is damaged"),
        (b'{"format": 1e99}', "is damaged"), (whole + b"x", "is damaged"), (b"\xff\xfe" + whole, "is damaged"),
        (deep, "is damaged"), (deep.replace(b"[", b'{"a":').replace(b"]", b"}"), "is damaged"), (b"[" * 1_000_000, "is damaged"),
        (whole.replace(b'"format": 1', b'"format": 2'), "was written by a newer suture"),
        (whole + b" " * (17 << 20), "is damaged: it is larger than 16 MiB"),
    ]:
        path.write_bytes(text)
        tree.ready()
        for command in COMMANDS:
            tree.refuses(command, [6], "toymesh/.suture/receipt.json", word)
    forged(tree, lambda document: document.pop("files"))
    assert "json.exception" not in tree.refuses(["apply", "mesh-retry"], [6], "is damaged: key 'files' not found").err
    path.write_bytes(whole)
    tree.run("revert", "--all")


def forged(tree, change):
    path = tree.suture / "receipt.json"
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(seal(document))
    tree.ready()


def test_a_receipt_that_is_forged(tree):
    """The checksum holds, and what it says cannot be."""
    def edits(d):
        return next(entry for entry in d["patches"] if entry["patch"] == "mesh-cache")["edits"]["core/node.py"]

    def move(d, old, new):
        d["files"][new] = d["files"].pop(old)

    for number, change in enumerate([
        lambda d: move(d, "core/node.py", "../../outside/secret.py"),
        lambda d: move(d, "core/node.py", "/etc/passwd"),
        lambda d: move(d, "core/node.py", ".suture/lock"),
        lambda d: d["folders"].append("../../outside"),
        lambda d: d["folders"].append("/"),
        lambda d: d["files"]["core/node.py"].update(original="../../../outside/secret.py"),
        lambda d: d["files"]["core/node.py"].update(left="x"),
        lambda d: d["files"]["core/node.py"].pop("left"),
        lambda d: d["patches"].append(d["patches"][0]),
        lambda d: d["patches"][0]["adds"].update({"../../outside/secret.py": "0" * 64}),
        lambda d: d["patches"][0].update(patch=7),
        lambda d: d.update(patches={"a": 1}),
        lambda d: d.update(files=[]),
        lambda d: edits(d)[0].update(offset=-1),
        lambda d: edits(d)[0].update(offset=1 << 40),
        lambda d: edits(d)[0].update(offset=1.5),
        lambda d: edits(d)[0].update(removed={"base64": "!!!!"}),
        lambda d: edits(d)[0].update(written=None),
    ]):
        one = Tree(tree.folder / str(number), applied=True)
        forged(one, change)
        for command in COMMANDS:
            one.refuses(command, [6], "toymesh/.suture/receipt.json is damaged: ")


def test_a_receipt_that_speaks_to_the_terminal(tree):
    """A patch's name with an escape sequence: it is shown as U+FFFD, whatever names it."""
    name = "evil\x1b]0;title\x07"
    shown = "evil\ufffd]0;title\ufffd"
    for kind in ("patch", "void"):
        one = Tree(tree.folder / kind, applied=True)
        forged(one, lambda d: d["patches"][0].update(patch=name))
        if kind == "void":  # pip put the package's own files back since
            (one.site / "cache-of-frame").unlink()
            toymesh.install(one.site)
        for command in (["status"], ["status", "-v"], ["status", "-t", one.site / "toymesh"], ["apply", "mesh-retry"],
                        ["revert", name], ["revert", "--all"]):
            done = attack.run(one.words(command))
            assert "\x1b" not in done.out + done.err and "\x07" not in done.out + done.err, done
            assert shown in done.out + done.err or command[0] != "status", done


def test_a_receipt_whose_edits_are_not_there(tree):
    """Offsets beyond the file, bytes that do not stand: a revert cuts nothing out by them."""
    for number, change in enumerate([
        lambda edit: edit.update(offset=(1 << 32) - 1), lambda edit: edit.update(offset=1 << 20),
        lambda edit: edit.update(written="x" * 500), lambda edit: edit.update(written=""),
        lambda edit: edit.update(removed="x" * 500), lambda edit: edit.update(removed=edit["removed"][1:] or "y"),
        lambda edit: edit.update(touched=True), lambda edit: edit.update(rule="", offset=edit["offset"] + 1),
    ]):
        one = Tree(tree.folder / str(number), applied=True)
        document = json.loads((one.suture / "receipt.json").read_bytes())
        entry = next(entry for entry in document["patches"] if entry["patch"] == "mesh-cache")
        change(entry["edits"]["core/node.py"][-1])
        (one.suture / "receipt.json").write_text(seal(document))
        one.ready()
        for command in COMMANDS:
            one.refuses(command, [6], "its edits of core/node.py do not make what it says that suture left there")


def mutate(draw, value, depth=0):
    """The document with one thing in it changed."""
    value = copy.deepcopy(value)
    nodes = []

    def walk(node):
        items = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
        for key, child in items:
            nodes.append((node, key))
            walk(child)
    walk({key: child for key, child in value.items() if key not in ("format", "checksum")})
    node, key = draw.choice([(n, k) for n, k in nodes if n is not value])
    old = node[key]
    choices = [None, 0, -1, 1 << 33, 2**63, "", "../x", "x" * 1000, [], {}, True, 0.5, "\x00", "caf\u00e9", [old, old]]
    if isinstance(old, int) and not isinstance(old, bool):
        choices += [old + draw.randint(-40, 40), 0, 5000]
    if isinstance(old, str):
        choices += [old[:-1], old + "x", old[::-1], old.upper(), hashlib.sha256(b"x").hexdigest()]
    if draw.random() < 0.15:
        del node[key]
    elif isinstance(node, dict) and draw.random() < 0.1:
        node["core/other.py"] = node.pop(key)
    else:
        node[key] = draw.choice(choices)
    return value


def test_forgeries_at_random(tree):
    """One thing in a sealed receipt or journal is something else. Nothing crashes, nothing outside changes; with exit 0 each
    file is as shipped or as patched, with any other nothing is written."""
    tree = Tree(tree.folder / "applied", applied=True)
    receipt = json.loads((tree.suture / "receipt.json").read_bytes())
    crashed = journal_of(tree)
    shipped = {path: text.encode() for path, text in toymesh.FILES.items()}
    sound = {path: {text.encode()} for path, text in toymesh.expected(["mesh-cache", "mesh-frame"]).items()}
    for names in (["mesh-cache"], ["mesh-frame"], ["mesh-cache", "mesh-frame", "mesh-retry"], ["mesh-retry"],
                  ["mesh-frame", "mesh-retry"], ["mesh-cache", "mesh-retry"]):
        for path, text in toymesh.expected(names).items():
            sound.setdefault(path, set()).add(text.encode())
    for path, data in shipped.items():
        sound.setdefault(path, set()).add(data)
    outcomes = {}
    for number in range(FORGERIES):
        draw = random.Random(number)
        source, name, document = draw.choice([(tree.folder, "receipt.json", receipt), (crashed, "journal", None)])
        work = tree.folder.parent / "work"
        attack.copy(source, work)
        path = work / "site/toymesh/.suture" / name
        path.write_text(seal(mutate(draw, document or json.loads(path.read_bytes()))))
        before = attack.look(work)
        command = draw.choice([["apply", "mesh-retry"], ["revert", "--all"], ["revert", "mesh-cache"], ["status"]])
        done = attack.run([*command, "-t", work / "site", *tree.options])
        after = attack.look(work)
        what = f"forgery {number} ({name}):\n{done}\n{path.read_text()[:3000] if path.exists() else ''}"
        assert done.exit in (0, 4, 6), what
        outside = [path for path in before.keys() | after.keys()
                   if not path.startswith("site/toymesh") and before.get(path) != after.get(path)]
        assert not outside, f"{outside} outside is changed by {what}"
        if done.exit != 0 and name == "receipt.json":
            assert after == before, f"refused, and something is written by {what}"
        present = toymesh.present(work / "site")
        for file, text in present.items():
            assert text.encode() in sound.get(file, ()), f"{file} is neither as shipped nor as patched after {what}\n{text}"
        outcomes[done.exit] = outcomes.get(done.exit, 0) + 1
    print(f"        {FORGERIES} forgeries, by exit code: {dict(sorted(outcomes.items()))}")
    assert len(outcomes) > 1, outcomes


def journal_of(tree):
    """A tree in which a revert died between two files, and its journal stands."""
    folder = tree.folder.parent / "crashed"
    shutil.rmtree(folder, ignore_errors=True)
    attack.copy(tree.folder, folder)
    log = tree.folder.parent / "log"
    words = ["revert", "--all", "-t", str(folder / "site"), *tree.options]
    done = attack.traced(words, log, "-e", "trace=renameat2", "-e", "inject=renameat2:signal=SIGKILL:when=2")
    assert done.exit == -9 and (folder / "site/toymesh/.suture/journal").exists(), done
    return folder


def test_a_journal_that_is_damaged(tree):
    tree = Tree(tree.folder / "applied", applied=True)
    folder = journal_of(tree)
    tree.folder, tree.site, tree.package = folder, folder / "site", folder / "site/toymesh"
    tree.suture = tree.package / ".suture"
    path = tree.suture / "journal"
    whole = path.read_bytes()
    zero = "0" * 64

    def with_change(change):
        document = json.loads(whole)
        change(document)
        return seal(document).encode()

    for text, word in [
        (b"", "is damaged"), (whole[:-40], "is damaged"), (b"{}", "is damaged"), (b"[" * 1_000_000, "is damaged"),
        (whole.replace(b'"commit"', b'"staging"'), "is damaged"),
        (whole.replace(b'"format": 1', b'"format": 9'), "was written by a newer suture"),
        (whole + b" " * (17 << 20), "is damaged: it is larger than 16 MiB"),
        (with_change(lambda d: d["targets"][0].update(path="../../outside/secret.py")), "is damaged"),
        (with_change(lambda d: d["targets"][0].update(path="/etc/passwd")), "is damaged"),
        (with_change(lambda d: d["targets"][0].update(path=".suture/blobs/x")), "is damaged"),
        (with_change(lambda d: d["targets"][0].update(fresh="../../../outside/secret.py")), "is damaged"),
        (with_change(lambda d: d["targets"][0].update(old="node.py")), "is damaged"),
        (with_change(lambda d: d["targets"][0].update(fresh="")), "is damaged"),
        (with_change(lambda d: d["targets"].append(d["targets"][0])), "is damaged"),
        (with_change(lambda d: d["modules"].append("../../outside/secret.py")), "is damaged"),
        (with_change(lambda d: d.update(dead_folders=["../../outside"])), "is damaged"),
        (with_change(lambda d: d.update(made_folders=["/etc"])), "is damaged"),
        (with_change(lambda d: d.update(dead_blobs=["../receipt.json"])), "is damaged"),
        (with_change(lambda d: d.update(phase="later")), "is damaged"),
        (with_change(lambda d: d.update(phase=None)), "is damaged"),
    ]:
        path.write_bytes(text)
        tree.ready()
        for command in (["apply", "mesh-retry"], ["revert", "--all"]):
            tree.refuses(command, [6], "toymesh/.suture/journal", word)
        status = tree.run("status").err
        assert "interrupted here, and nothing can put it right: the journal" in status and word in status, status
        assert "puts it right" not in status and "json.exception" not in status, status
    # One that asks for bytes that are not there: neither way is open, and it is said.
    path.write_bytes(with_change(lambda d: [target.update(before=zero) for target in d["targets"] if target["after"]]))
    path.write_bytes(whole)
    done = tree.run("revert", "--all")
    assert "a write to" in done.err, done
    assert toymesh.present(tree.site) == toymesh.expected([])


def test_blobs_that_are_not_theirs(tree):
    """An original that lost its bytes is not used: what is known from the edits alone comes back, the rest is refused."""
    tree = Tree(tree.folder / "applied", applied=True)
    for blob in (tree.suture / "blobs").iterdir():
        blob.write_bytes(b"other bytes\n")
    tree.ready()
    done = attack.run(tree.words(["revert", "--all"]))
    assert done.exit in (0, 4), done
    if done.exit == 0:
        assert toymesh.present(tree.site) == toymesh.expected([]), done
    else:
        assert toymesh.present(tree.site) == toymesh.present(tree.site), done


FORGERIES = 150


def main():
    global FORGERIES
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--forgeries", type=int, default=FORGERIES)
    arguments = parser.parse_args()
    FORGERIES = arguments.forgeries
    attack.need_strace()
    attack.run_tests(globals(), arguments.only, lambda folder: Tree(folder / "tree"))


if __name__ == "__main__":
    main()
