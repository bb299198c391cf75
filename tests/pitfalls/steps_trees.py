"""Cases of several steps: trees that share files, the ways in which a package is found, where suture is run."""

import os

from world import NEW, OLD, kind
from world import driver


# --- hard links ------------------------------------------------------------------------------------------------------

def linked(w, path="mod.py", cache="cache/mod.py"):
    w.install()
    (w.folder / "cache").mkdir(exist_ok=True)
    (w.folder / cache).hardlink_to(w.folder / "site/toypack" / path)


@kind("15-hard-links")
def cache_stays(w):
    """edit: the package manager's cache keeps its bytes"""
    linked(w)
    w.apply(says="hard link")
    w.has()
    w.has(OLD, "cache/mod.py")


@kind("15-hard-links")
def other_environment_stays(w):
    """edit: another environment, linked to the same cache, keeps its bytes"""
    linked(w)
    w.install(site="other")
    (w.folder / "other/toypack/mod.py").unlink()
    (w.folder / "other/toypack/mod.py").hardlink_to(w.folder / "cache/mod.py")
    w.apply()
    w.has()
    w.has(OLD, "other/toypack/mod.py")
    w.apply(tree="other")
    w.has(NEW, "other/toypack/mod.py")
    w.has(OLD, "cache/mod.py")


@kind("15-hard-links")
def revert_is_no_link(w):
    """edit: revert brings the bytes back, and the cache was never touched"""
    linked(w)
    w.apply()
    w.run("revert", "the-patch", "-t", "site")
    w.has(OLD)
    w.has(OLD, "cache/mod.py")


@kind("15-hard-links")
def link_outside_of_the_tree(w):
    """refuse: a symbolic link that leads out of the tree is not followed"""
    w.install()
    w.write("cache/mod.py", OLD)
    (w.folder / "site/toypack/mod.py").unlink()
    (w.folder / "site/toypack/mod.py").symlink_to("../../cache/mod.py")
    before = driver.entries(w.folder)
    done = w.start("apply", "the-patch", "-t", "site")
    done.communicate()
    assert done.returncode in (4, 5, 6), done.returncode
    assert not driver.differences(before, driver.entries(w.folder))


@kind("15-hard-links")
def drifted_link(w):
    """refuse: a linked file that has drifted stays linked"""
    linked(w)
    (w.folder / "cache/mod.py").write_text("x = other(1)\n")
    w.refused(says="drifted")
    assert (w.folder / "cache/mod.py").stat().st_nlink == 2


@kind("15-hard-links")
def nothing_to_do(w):
    """refuse: nothing to do breaks no link"""
    linked(w)
    (w.folder / "cache/mod.py").write_text(NEW)
    w.refused(code=0, says="already applied")
    assert (w.folder / "cache/mod.py").stat().st_nlink == 2


# --- where it is run -------------------------------------------------------------------------------------------------

@kind("17-below-a-root")
def in_a_folder_of_a_repository(w):
    """edit: from a folder below a repository's root, where `git apply` skips in silence"""
    w.install(site="repository/deep/site")
    (w.folder / "repository/.git").mkdir()
    w.run("apply", "the-patch", "-t", "site", cwd=w.folder / "repository/deep")
    w.has(NEW, "repository/deep/site/toypack/mod.py")


@kind("17-below-a-root")
def the_package_folder(w):
    """edit: the package's own folder as the tree"""
    w.install()
    w.apply(tree="site/toypack")
    w.has()


@kind("17-below-a-root")
def from_within(w):
    """edit: from within the package, the tree being a dot"""
    w.install()
    w.run("apply", "the-patch", "-t", ".", cwd=w.folder / "site/toypack")
    w.has()


@kind("17-below-a-root")
def a_folder_that_is_none(w):
    """refuse: a tree that is not there is an error, not nothing to do"""
    w.install()
    w.refused(tree="elsewhere", code=6)


@kind("17-below-a-root")
def a_folder_without_the_package(w):
    """refuse: a folder above the one that was meant"""
    w.install(site="deep/down/site")
    w.refused(tree="deep", code=5, says="absent")


@kind("17-below-a-root")
def an_empty_folder(w):
    """refuse: an empty folder"""
    w.install()
    (w.folder / "empty").mkdir()
    w.refused(tree="empty", code=5)


@kind("17-below-a-root")
def a_diff_for_git(w):
    """edit: the diff has the paths that `patch -p1` takes beside the package, from wherever it was made"""
    w.install(site="a/b/site")
    text = w.run("diff", "the-patch", "-t", "b/site", cwd=w.folder / "a")
    assert "--- a/toypack/mod.py\n+++ b/toypack/mod.py\n" in text, text
    w.has(OLD, "a/b/site/toypack/mod.py")


# --- how it is found -------------------------------------------------------------------------------------------------

def environment(w, site="env/lib/python3.11/site-packages", **more):
    w.write("env/pyvenv.cfg", "home = /nowhere\ninclude-system-site-packages = false\nversion = 3.11.0\n")
    (w.folder / "env/lib/python3.11/site-packages").mkdir(parents=True, exist_ok=True)
    w.install(site=site, **more)
    return site


@kind("23-where-it-is-found")
def virtual_environment(w):
    """edit: a virtual environment as the tree"""
    site = environment(w)
    w.apply(tree="env")
    w.has(NEW, f"{site}/toypack/mod.py")


@kind("23-where-it-is-found")
def the_activated_one(w):
    """edit: the activated environment, with no tree named"""
    site = environment(w)
    w.run("apply", "the-patch", environment={"VIRTUAL_ENV": str(w.folder / "env")})
    w.has(NEW, f"{site}/toypack/mod.py")


@kind("23-where-it-is-found")
def a_path_file(w):
    """edit: a .pth file leads to the package"""
    environment(w, site="elsewhere")
    w.write("env/lib/python3.11/site-packages/more.pth", f"{w.folder}/elsewhere\n")
    w.apply(tree="env")
    w.has(NEW, "elsewhere/toypack/mod.py")


@kind("23-where-it-is-found")
def an_editable_install(w):
    """edit: an editable install leads to a source checkout"""
    environment(w, site="unused")
    w.write("checkout/src/toypack/__init__.py", "")
    w.write("checkout/src/toypack/mod.py", OLD)
    site = "env/lib/python3.11/site-packages"
    w.write(f"{site}/__editable__.toypack-1.0.pth", f"{w.folder}/checkout/src\n")
    w.write(f"{site}/toypack-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toypack\nVersion: 1.0\n")
    w.write(f"{site}/toypack-1.0.dist-info/direct_url.json",
            '{"dir_info": {"editable": true}, "url": "file://%s/checkout"}' % w.folder)
    w.apply(tree="env")
    w.has(NEW, "checkout/src/toypack/mod.py")


@kind("23-where-it-is-found")
def distribution_packages(w):
    """edit: Debian's dist-packages"""
    w.install(site="usr/lib/python3/dist-packages")
    w.apply(tree="usr/lib/python3/dist-packages")
    w.has(NEW, "usr/lib/python3/dist-packages/toypack/mod.py")


@kind("23-where-it-is-found")
def a_path_file_that_leads_nowhere(w):
    """refuse: a .pth file that leads nowhere"""
    environment(w, site="elsewhere")
    w.write("env/lib/python3.11/site-packages/more.pth", f"{w.folder}/nowhere\nimport os\n")
    w.refused(tree="env", code=5, says="absent")


@kind("23-where-it-is-found")
def only_metadata(w):
    """refuse: metadata without the package"""
    environment(w, site="elsewhere")
    w.write("env/lib/python3.11/site-packages/toypack-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: toypack\nVersion: 1.0\n")
    w.refused(tree="env", code=5)


@kind("23-where-it-is-found")
def two_versions(w):
    """refuse: two versions' metadata beside one package"""
    w.patch(package='{name: toypack, versions: ">=1"}')
    w.install()
    w.write("site/toypack-2.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toypack\nVersion: 2.0\n")
    w.refused(code=5, says="out-of-range")


@kind("23-where-it-is-found")
def nothing_is_run(w):
    """edit: nothing of the target is imported or run"""
    w.install({"__init__.py": "raise SystemExit('imported')\n"})
    w.write("site/evil.pth", f"import os; open({str(w.folder / 'ran')!r}, 'w')\n")
    w.apply()
    w.has()
    assert not os.path.exists(w.folder / "ran")


# --- exit codes ------------------------------------------------------------------------------------------------------

@kind("16c-exit-codes")
def drifted_is_four(w):
    """refuse: drifted is 4"""
    w.install({"mod.py": "x = other(1)\n"})
    w.refused(code=4, says="drifted")


@kind("16c-exit-codes")
def absent_is_five(w):
    """refuse: no such package is 5"""
    w.install(name="other")
    w.refused(code=5, says="absent")


@kind("16c-exit-codes")
def wrong_rule_is_three(w):
    """refuse: a wrong rule is 3"""
    w.install()
    w.patch(rules=[{"match": "slow($A", "replace": "fast($A)"}])
    w.refused(code=3, says="not valid Python")


@kind("16c-exit-codes")
def unknown_patch_is_two(w):
    """refuse: an unknown patch is 2"""
    w.install()
    w.refused("the-pach", code=2, says="the-patch")


@kind("16c-exit-codes")
def the_worst_of_two(w):
    """refuse: the worst of two is told, and neither is written"""
    w.install()
    w.patch("other", rules=[{"match": "f($A)", "replace": "g($A)"}])
    w.refused("the-patch", "other", code=4, says="other: drifted")


@kind("16c-exit-codes")
def zero_is_written(w):
    """edit: 0 means that the bytes are there"""
    w.install()
    w.apply(code=0, says="OK:")
    w.has()


@kind("16c-exit-codes")
def zero_is_nothing_to_do(w):
    """edit: 0 again, and it says that there was nothing to do"""
    w.install()
    w.apply()
    assert "OK:" not in w.apply(code=0, says="already applied")


@kind("16c-exit-codes")
def diff_exit_code(w):
    """edit: `diff --exit-code` and `status --check` are 1 before and 0 after"""
    w.install()
    w.run("diff", "the-patch", "-t", "site", "--exit-code", code=1)
    w.run("status", "the-patch", "-t", "site", "--check", code=1)
    w.apply()
    w.run("diff", "the-patch", "-t", "site", "--exit-code", code=0)
    w.run("status", "the-patch", "-t", "site", "--check", code=0)


@kind("16c-exit-codes")
def check_of_a_drifted_one(w):
    """refuse: `status --check` of a drifted one is 4"""
    w.install({"mod.py": "x = other(1)\n"})
    w.run("status", "the-patch", "-t", "site", "--check", code=4)
    w.run("diff", "the-patch", "-t", "site", "--exit-code", code=4)


# --- superseded beside others ----------------------------------------------------------------------------------------

def two_patches(w, superseded="DONE = True"):
    w.patch(keys=f'superseded:\n  - {{file: mod.py, match: "{superseded}"}}\n')
    w.patch("second", rules=[{"match": "f($A)", "replace": "g($A)"}])


@kind("19-superseded-beside")
def the_second_is_needed(w):
    """edit: the first is superseded, the second is applied"""
    two_patches(w)
    w.install({"mod.py": "DONE = True\nx = f(1)\n"})
    w.apply("the-patch", "second", says="superseded")
    w.has("DONE = True\nx = g(1)\n")


@kind("19-superseded-beside")
def in_the_other_order(w):
    """edit: the same, named in the other order"""
    two_patches(w)
    w.install({"mod.py": "DONE = True\nx = f(1)\n"})
    w.apply("second", "the-patch", says="superseded")
    w.has("DONE = True\nx = g(1)\n")


@kind("19-superseded-beside")
def both_superseded(w):
    """refuse: both have nothing to do, and that is 0"""
    two_patches(w)
    w.install({"mod.py": "DONE = True\nx = g(1)\n"})
    w.refused("the-patch", "second", code=0, says="superseded")


@kind("19-superseded-beside")
def strictly(w):
    """refuse: `--strict` takes superseded for a failure, and writes neither"""
    two_patches(w)
    w.install({"mod.py": "DONE = True\nx = f(1)\n"})
    w.refused("the-patch", "second", code=5, options=["--strict"])


@kind("19-superseded-beside")
def the_second_has_drifted(w):
    """refuse: the first is superseded, the second has drifted"""
    two_patches(w)
    w.install({"mod.py": "DONE = True\nx = h(1)\n"})
    w.refused("the-patch", "second", code=4, says="second: drifted")


@kind("19-superseded-beside")
def superseded_after_an_upgrade(w):
    """edit: applied, then upgraded to a version that does it itself; the second is applied, and reverted"""
    two_patches(w)
    w.install()
    w.apply()
    import shutil
    shutil.rmtree(w.folder / "site/toypack-1.0.dist-info")
    w.install({"mod.py": "DONE = True\nx = f(1)\n"}, version="2.0")
    w.apply("the-patch", "second", says="superseded")
    w.has("DONE = True\nx = g(1)\n")
    w.run("revert", "--all", "-t", "site")
    w.has("DONE = True\nx = f(1)\n")


