"""Cases of several steps: several runs, several patchers, several processes."""

import shutil

from world import NEW, OLD, RULE, copy_tree, kind
from world import driver

BOTH = "x = slow(1)\ny = f(2)\n"


def second(w, **more):
    w.patch("second", rules=[{"match": "f($A)", "replace": "g($A)"}], **more)


# --- two patchers ----------------------------------------------------------------------------------------------------

@kind("21a-two-patchers")
def one_after_the_other(w):
    """edit: one after the other, in one file"""
    second(w)
    w.install({"mod.py": BOTH})
    w.apply()
    w.apply("second")
    w.has("x = fast(1)\ny = g(2)\n")
    w.run("revert", "the-patch", "-t", "site")
    w.has("x = slow(1)\ny = g(2)\n")
    w.run("revert", "second", "-t", "site")
    w.has(BOTH)


@kind("21a-two-patchers")
def another_tool_in_between(w):
    """edit: another tool has written to the file in between; its lines stay, and come back"""
    second(w)
    w.install({"mod.py": BOTH})
    w.apply()
    text = (w.folder / "site/toypack/mod.py").read_text()
    w.write("site/toypack/mod.py", "# patched by somebody else\n" + text)
    w.apply("second")
    w.has("# patched by somebody else\nx = fast(1)\ny = g(2)\n")
    w.run("revert", "--all", "-t", "site")
    w.has("# patched by somebody else\n" + BOTH)


@kind("21a-two-patchers")
def another_tool_on_the_same_line(w):
    """refuse: another tool has changed the line that suture wrote; revert says so and writes nothing"""
    w.install()
    w.apply()
    w.write("site/toypack/mod.py", "x = fastest(1)\n")
    before = driver.entries(w.folder)
    w.run("revert", "the-patch", "-t", "site", code=4)
    assert not driver.differences(before, driver.entries(w.folder))


@kind("21a-two-patchers")
def another_tool_was_first(w):
    """refuse: another tool has patched the place already, in its own way"""
    w.install({"mod.py": "x = other_fast(1)\n"})
    w.refused(says="drifted")


@kind("21a-two-patchers")
def both_want_one_place(w):
    """refuse: two patches want the same place"""
    w.patch("second", rules=[{"match": "slow($A)", "replace": "quick($A)"}])
    w.install()
    w.apply()
    w.refused("second", code=4)
    w.has()


@kind("21a-two-patchers")
def both_at_once_want_one_place(w):
    """refuse: the same, asked for at once: neither is written"""
    w.patch("second", rules=[{"match": "slow(1)", "replace": "quick(1)"}])
    w.install()
    w.refused("the-patch", "second", code=4, says="conflicting")


@kind("21a-two-patchers")
def they_exclude_each_other(w):
    """refuse: they say that they exclude each other"""
    second(w, keys="conflicts: [the-patch]\n")
    w.install({"mod.py": BOTH})
    w.apply()
    w.refused("second", says="conflicting")


# --- several workers -------------------------------------------------------------------------------------------------

def all_at_once(w, *commands):
    done = [w.start(*command) for command in commands]
    out = [process.communicate(timeout=60) for process in done]
    return [process.returncode for process in done], b"".join(a + b for a, b in out).decode()


@kind("21b-workers")
def four_of_one_patch(w):
    """edit: four processes apply one patch: one writes, the others find it applied"""
    w.install()
    codes, text = all_at_once(w, *[("apply", "the-patch", "-t", "site")] * 4)
    assert codes == [0] * 4, text
    assert text.count("OK:") == 1, text
    w.has()
    w.run("revert", "the-patch", "-t", "site")
    w.has(OLD)


@kind("21b-workers")
def two_patches_of_one_file(w):
    """edit: two processes apply two patches of one file: both are there"""
    second(w)
    w.install({"mod.py": BOTH})
    codes, text = all_at_once(w, ("apply", "the-patch", "-t", "site"), ("apply", "second", "-t", "site"))
    assert codes == [0, 0], text
    w.has("x = fast(1)\ny = g(2)\n")


@kind("21b-workers")
def two_that_exclude_each_other(w):
    """refuse: two that exclude each other, at once: exactly one is applied"""
    second(w, keys="conflicts: [the-patch]\n")
    w.install({"mod.py": BOTH})
    codes, text = all_at_once(w, ("apply", "the-patch", "-t", "site"), ("apply", "second", "-t", "site"))
    assert sorted(codes) == [0, 4], text
    one, other = "x = fast(1)\ny = f(2)\n", "x = slow(1)\ny = g(2)\n"
    assert (w.folder / "site/toypack/mod.py").read_text() in (one, other)


@kind("21b-workers")
def readers_and_a_writer(w):
    """edit: readers beside a writer see it before or after"""
    w.install()
    codes, text = all_at_once(w, *[("status", "the-patch", "-t", "site")] * 3, ("apply", "the-patch", "-t", "site"))
    assert codes == [0] * 4, text
    w.has()


@kind("21b-workers")
def drifted_for_all(w):
    """refuse: four processes and a drifted file: all say so, no lock stays"""
    w.install({"mod.py": "x = other(1)\n"})
    before = driver.entries(w.folder)
    codes, text = all_at_once(w, *[("apply", "the-patch", "-t", "site")] * 4)
    assert codes == [4] * 4, text
    assert not driver.differences(before, driver.entries(w.folder))


@kind("21b-workers")
def apply_and_revert(w):
    """edit: apply and revert at once: the file is the old or the new one, whole"""
    w.install()
    w.apply()
    all_at_once(w, ("revert", "the-patch", "-t", "site"), ("apply", "the-patch", "-t", "site"))
    assert (w.folder / "site/toypack/mod.py").read_text() in (OLD, NEW)
    w.run("status", "the-patch", "-t", "site")


# --- spawned workers -------------------------------------------------------------------------------------------------

SPAWN = """
import multiprocessing, sys
def work(q):
    import toypack.mod
    q.put(toypack.mod.x)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    q = context.Queue()
    p = context.Process(target=work, args=(q,))
    p.start()
    print(q.get(timeout=50))
    p.join()
"""
LOCAL = "def slow(a):\n    return 'slow'\n\n\ndef fast(a):\n    return 'fast'\n\n\n"


def spawned(w, method):
    w.write("main.py", SPAWN)
    return w.python("import runpy, sys; sys.argv = ['main.py', *sys.argv[1:]]; runpy.run_path('main.py', run_name='__main__')",
                    method).strip()


@kind("22-spawned-workers")
def a_forked_worker(w):
    """edit: a forked worker has it"""
    w.install({"mod.py": LOCAL + OLD})
    w.apply()
    assert spawned(w, "fork") == "fast"


@kind("22-spawned-workers")
def a_new_interpreter(w):
    """edit: so has a process that is started anew"""
    w.install({"mod.py": LOCAL + OLD})
    w.apply()
    assert w.python("import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import toypack.mod as m; print(m.x)'],"
                    "capture_output=True, text=True).stdout)").strip() == "fast"


@kind("22-spawned-workers")
def stale_bytecode(w):
    """edit: bytecode of the old source is not taken for the new one's"""
    w.install({"mod.py": LOCAL + OLD})
    assert w.python("import toypack.mod as m; print(m.x)").strip() == "slow"
    w.apply()
    assert w.python("import toypack.mod as m; print(m.x)").strip() == "fast"
    w.run("revert", "the-patch", "-t", "site")
    assert w.python("import toypack.mod as m; print(m.x)").strip() == "slow"


@kind("22-spawned-workers")
def unchecked_bytecode(w):
    """edit: not even bytecode that Python would never check"""
    w.install({"mod.py": LOCAL + OLD})
    w.python("import py_compile; py_compile.compile('site/toypack/mod.py',"
             "invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)")
    w.apply()
    assert w.python("import toypack.mod as m; print(m.x)").strip() == "fast"


@kind("22-spawned-workers")
def a_refusal_changes_no_worker(w):
    """refuse: what is refused changes no worker, and no bytecode goes"""
    w.install({"mod.py": LOCAL + "x = other = slow(1)\n\n\ndef f():\n    slow(2)\n"})
    w.python("import toypack.mod")
    w.refused(says="found 2")
    assert w.python("import toypack.mod as m; print(m.x)").strip() == "slow"


@kind("22-spawned-workers")
def a_running_process(w):
    """edit: a process that runs keeps what it has loaded, and suture says so"""
    w.install({"mod.py": LOCAL + OLD})
    w.apply(says="restart the server")


@kind("22-spawned-workers")
def an_edit_in_memory(w):
    """refuse: a worker's own change of a module in memory is no edit of the file"""
    w.install({"mod.py": LOCAL + "x = slow(1)\ny = slow(2)\n"})
    w.python("import toypack.mod as m; m.slow = m.fast")
    w.refused(says="expected 1 site, found 2")


# --- again -----------------------------------------------------------------------------------------------------------

@kind("26-applied-again")
def image_and_entry_point(w):
    """edit: applied when the image is built, and again by the entry point"""
    w.install()
    w.apply()
    first = driver.entries(w.folder / "site")
    for _ in range(2):
        w.apply(code=0, says="already applied")
    assert driver.entries(w.folder / "site") == first


@kind("26-applied-again")
def a_tree_that_was_copied(w):
    """edit: the tree is copied with its receipt, as an image's layer is; applied there, and reverted there"""
    w.install()
    w.apply()
    copy_tree(w, "site", "copy")
    w.apply(tree="copy", says="already applied")
    w.run("revert", "the-patch", "-t", "copy")
    w.has(OLD, "copy/toypack/mod.py")
    w.has(NEW)


@kind("26-applied-again")
def patched_by_hand(w):
    """edit: patched by sed before; recognised, not doubled"""
    w.install({"mod.py": NEW})
    w.apply(says="already applied")
    w.has()
    w.run("revert", "the-patch", "-t", "site", code=4)
    w.has()


@kind("26-applied-again")
def read_only(w):
    """edit: a tree in which nothing is to do is not written to, so that anybody may run it"""
    w.install()
    w.apply()
    for path in [w.folder / "site/toypack", w.folder / "site/toypack/mod.py"]:
        path.chmod(0o555)
    w.apply(says="already applied")
    (w.folder / "site/toypack").chmod(0o755)


@kind("26-applied-again")
def another_edition(w):
    """edit: the image has an older edition of the patch: taken back, and applied anew"""
    w.install()
    w.apply()
    w.patch(rules=[{**RULE, "replace": "faster($A)"}])
    w.run("status", "the-patch", "-t", "site", says="outdated")
    w.apply()
    w.has("x = faster(1)\n")
    w.run("revert", "the-patch", "-t", "site")
    w.has(OLD)


@kind("26-applied-again")
def another_edition_by_a_marker(w):
    """refuse: the older edition without its receipt is no edition of this patch"""
    w.install({"mod.py": "x = faster(1)  # the-patch\n"})
    w.refused(says="drifted")


@kind("26-applied-again")
def upgraded_in_between(w):
    """edit: upgraded between the two: applied to the new version"""
    w.install()
    w.apply()
    shutil.rmtree(w.folder / "site/toypack-1.0.dist-info")
    w.install({"mod.py": "# 2.0\n" + OLD}, version="2.0")
    w.apply()
    w.has("# 2.0\n" + NEW)
    w.run("revert", "the-patch", "-t", "site")
    w.has("# 2.0\n" + OLD)


@kind("26-applied-again")
def half_of_it_was_undone(w):
    """refuse: one of two files was restored by hand: partial, and not one byte changes"""
    w.patch(rules=[RULE, {**RULE, "file": "two.py"}])
    w.install({"two.py": OLD})
    w.apply()
    w.write("site/toypack/two.py", OLD)
    w.refused(says="partial")


@kind("26-applied-again")
def edited_behind_its_back(w):
    """refuse: the patched place was edited by hand"""
    w.install()
    w.apply()
    w.write("site/toypack/mod.py", "x = fast(1) + slow(2)\n")
    w.refused(code=4)
