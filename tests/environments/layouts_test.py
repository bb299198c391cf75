"""Every layout in which Python packages are installed, built for real: suture finds, patches and restores the package that
the environment's own interpreter imports. The lines of docs/environments.md on environments.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cycle
import driver
import fetch
import table
import toyserve
from cycle import World, run
from interpreters import builder, can, interpreter

COLUMNS = ["environment", "named by", "found by", "after `apply`", "`apply` again", "after `revert`", "said"]


# --- building --------------------------------------------------------------------------------------------------------


def venv(folder, name="venv", builds=False):
    """A virtual environment; `builds`: it sees its base's setuptools. Its interpreter."""
    more = ["--system-site-packages"] if builds else []
    run([builder() if builds else interpreter("import venv, pip"), "-m", "venv", "--without-pip", *more, name], folder)
    return folder / name / "bin" / "python"


def pip(folder, python, *arguments, environment=None):
    """pip of a base, for the environment of `python`."""
    run([interpreter("import pip, venv"), "-m", "pip", "--python", python, *arguments], folder, environment)


def pip_install(folder, python, *arguments, environment=None):
    pip(folder, python, "install", "--quiet", "--no-index", "--no-deps", *arguments, environment=environment)


def site_of(folder, python):
    return pathlib.Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder))


def version_of(folder, python):
    return run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], folder)


def lone_venv(folder):
    python = venv(folder)
    return python, site_of(folder, python)


def named(*options):
    """How a line says by what the environment was named: an option, or a variable."""
    return f"`{' '.join(options)}`"


def cells(world, how):
    return [how, cycle.found_by(world), *cycle.apply_and_revert(world)]


def refused(world, how, exit_code):
    return [how, "-", f"refused ({exit_code}): {cycle.refused(world, exit_code)}", "-", "-", "-"]


# --- virtual environments --------------------------------------------------------------------------------------------


def test_venv(folder):
    """`python3 -m venv`, `pip install`"""
    python, site = lone_venv(folder)
    pip_install(folder, python, toyserve.wheel(folder))
    for tree, environment in ((["--python", python], {}), ([], {"VIRTUAL_ENV": str(folder / "venv")}), (["-t", site], {})):
        cycle.apply_and_revert(World(folder, site / "toyserve", tree, [python], environment))
    return cells(World(folder, site / "toyserve", ["-t", "venv"], [python]),
                 "`-t VENV`, `--python`, `VIRTUAL_ENV`, `-t SITE-PACKAGES`")


def test_parent(folder):
    """the parent of a virtual environment with `--system-site-packages`"""
    parent_python, parent_site = lone_venv(folder)
    toyserve.unpacked(parent_site)
    python = venv(folder, "child")
    # As `venv --system-site-packages` of an interpreter that is no virtual environment itself.
    base = folder / "base"
    (base / "lib").mkdir(parents=True)
    (base / "bin").mkdir()
    shutil.move(parent_site.parent, base / "lib" / parent_site.parent.name)
    site = base / "lib" / parent_site.parent.name / "site-packages"
    config = folder / "child/pyvenv.cfg"
    lines = [line for line in config.read_text().splitlines() if not line.startswith(("home", "include-system"))]
    config.write_text("\n".join([f"home = {base}/bin", "include-system-site-packages = true", *lines]) + "\n")
    return cells(World(folder, site / "toyserve", ["-t", "child"], [python],
                       interpreter_environment={"PYTHONPATH": str(site)}), named("-t", "VENV"))


def uv(folder, *arguments):
    run([fetch.uv(), *arguments], folder, {"UV_CACHE_DIR": str(folder / "uv-cache"), "UV_OFFLINE": "1", "UV_NO_CONFIG": "1"})


def uv_install(folder, python, mode, *options):
    uv(folder, "pip", "install", "--quiet", "--python", python, "--link-mode", mode, "--no-index", "--find-links", folder / "wheels",
       *options, "toyserve")


def uv_environment(folder, name, mode):
    uv(folder, "venv", "--quiet", "--python", interpreter("import venv"), name)
    python = folder / name / "bin/python"
    uv_install(folder, python, mode)
    return python, site_of(folder, python)


def uv_pair(folder, mode):
    """Two environments of one cache."""
    toyserve.wheel(folder / "wheels")
    (python, site), (other, other_site) = (uv_environment(folder, name, mode) for name in ("venv", "other"))
    return World(folder, site / "toyserve", ["-t", "venv"], [python]), other, other_site


def test_uv_hard_links(folder):
    """`uv venv`, `uv pip install`: hard links into uv's cache, and a second environment of it"""
    world, other, other_site = uv_pair(folder, "hardlink")
    inode = (other_site / "toyserve/engine.py").stat()
    assert inode.st_nlink >= 3, "uv made no hard links: the test is wrong"
    assert (world.package / "engine.py").stat().st_ino == inode.st_ino, "uv made no hard links: the test is wrong"
    world.suture("apply", toyserve.PATCH)
    beside = World(folder, other_site / "toyserve", ["-t", "other"], [other])
    assert world.code() == "new" and beside.code() == "old", "the edit went through the hard link"
    assert beside.verdict() == "applicable"
    world.suture("revert", toyserve.PATCH)
    fresh, _ = uv_environment(folder, "third", "hardlink")
    assert World(folder, None, [], [fresh]).code() == "old", "uv's cache was written to"
    return cells(beside, named("-t", "VENV"))


def test_uv_copies(folder):
    """`uv pip install --link-mode=copy`"""
    return cells(uv_pair(folder, "copy")[0], named("-t", "VENV"))


def test_uv_symlinks(folder):
    """`uv pip install --link-mode=symlink`: symbolic links into uv's cache"""
    world, _, _ = uv_pair(folder, "symlink")
    assert (world.package / "engine.py").is_symlink(), "uv made no links: the test is wrong"
    target = os.readlink(world.package / "engine.py").removeprefix(str(folder) + "/")
    row = refused(world, named("-t", "VENV"), 4)
    return [cell.replace(target, "uv-cache/...") for cell in row]


# --- editable installs -----------------------------------------------------------------------------------------------


def editable(folder, below, *options):
    package = toyserve.project(folder / "project", below)
    python = venv(folder, builds=True)
    run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", *options, "-e", "project"],
        folder, {"PYTHONNOUSERSITE": "1"})
    return World(folder, package, ["-t", "venv"], [python])


def test_editable_finder(folder):
    """`pip install -e`: a finder"""
    world = editable(folder, ".")
    assert list(site_of(folder, world.python[0]).glob("__editable___toyserve_*_finder.py")), "no finder was written"
    row = cells(world, named("-t", "VENV"))
    return [cell.replace("_1_2_0_finder", "_finder") for cell in row]


def test_editable_path(folder):
    """`pip install -e`: a `.pth` file"""
    return cells(editable(folder, "src", "--config-settings", "editable_mode=compat"), named("-t", "VENV"))


def test_editable_strict(folder):
    """`pip install -e`, strict mode: a folder of links into the sources"""
    world = editable(folder, "src", "--config-settings", "editable_mode=strict")
    farm = run([*world.python, "-c", "import toyserve; print(list(toyserve.__path__)[0])"], folder)
    engine = pathlib.Path(farm) / "engine.py"
    if engine.is_symlink():
        return refused(world, named("-t", "VENV"), 4)
    # setuptools makes hard links where it can: the folder of links is what is imported and patched.
    assert engine.stat().st_ino == (world.package / "engine.py").stat().st_ino
    sources = driver.entries(world.package)
    world.package = pathlib.Path(farm)
    row = cells(world, named("-t", "VENV"))
    assert driver.entries(folder / "project/src/toyserve") == sources, "the edit went through a hard link"
    return row


def test_checkout(folder):
    """a source checkout, imported by `PYTHONPATH`"""
    package = toyserve.project(folder / "project", "python")
    python = interpreter("import venv")
    return cells(World(folder, package, ["-t", "project", "--assume-version", toyserve.VERSION], [python],
                       interpreter_environment={"PYTHONPATH": str(package.parent)}), named("-t", "CHECKOUT", "--assume-version", "V"))


# --- other folders ---------------------------------------------------------------------------------------------------


def test_target(folder):
    """`pip install --target`"""
    python = interpreter("import pip, venv")
    run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", "target", toyserve.wheel(folder)], folder)
    return cells(World(folder, folder / "target/toyserve", ["-t", "target"], [python],
                       interpreter_environment={"PYTHONPATH": str(folder / "target")}), named("-t", "FOLDER"))


def user_install(folder, environment):
    (folder / "home").mkdir()
    python = interpreter("import pip, venv")
    run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--user", toyserve.wheel(folder)], folder, environment)
    package = run([python, "-c", "import toyserve; print(list(toyserve.__path__)[0])"], folder, environment)
    assert package.startswith(str(folder)), package
    real = run([python, "-c", "import sys; print(sys.executable)"], folder)
    return World(folder, pathlib.Path(package), ["--python", real], [python], environment, environment)


def test_user(folder):
    """`pip install --user`: below `HOME`"""
    return cells(user_install(folder, {}), named("--python", "EXE"))


def test_user_base(folder):
    """`pip install --user`: below `PYTHONUSERBASE`"""
    return cells(user_install(folder, {"PYTHONUSERBASE": str(folder / "userbase")}), named("--python", "EXE"))


def test_path_variable(folder):
    """a folder of `PYTHONPATH`, before the virtual environment's own package"""
    python, site = lone_venv(folder)
    toyserve.unpacked(site, "1.1.0")
    package = toyserve.unpacked(folder / "first")
    environment = {"PYTHONPATH": str(folder / "first")}
    return cells(World(folder, package, ["--python", python], [python], environment, environment), named("--python", "EXE"))


def test_pth(folder):
    """a `.pth` file that names another folder"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(folder / "else where")
    (site / "elsewhere.pth").write_text(f"# added by hand\n{package.parent}\n")
    return cells(World(folder, package, ["-t", "venv"], [python]), named("-t", "VENV"))


def copied_base(folder, name, python):
    """A prefix of its own for a base interpreter: its program, and links to its standard library. The program."""
    words = "import sys, sysconfig; print(sys.executable); print(sysconfig.get_path('stdlib')); print(sysconfig.get_path('platstdlib'))"
    executable, library, platform_library = run([python, "-c", words], folder).splitlines()
    lib = folder / name / "lib" / pathlib.Path(library).name
    lib.mkdir(parents=True)
    for source in {library, platform_library}:
        for entry in pathlib.Path(source).iterdir():
            if entry.name not in ("site-packages", "dist-packages"):
                (lib / entry.name).symlink_to(entry)
    (folder / name / "bin").mkdir()
    program = folder / name / "bin" / pathlib.Path(library).name
    shutil.copy(os.path.realpath(executable), program)
    (program.parent / "python3").symlink_to(program.name)
    return program.parent / "python3"


def command_of(folder, python, site):
    """The interpreter; with `site` where it looks for packages, where another builder's would not."""
    sites = json.loads(run([python, "-c", "import json, site; print(json.dumps(site.getsitepackages()))"], folder))
    if os.path.realpath(site) in map(os.path.realpath, sites):
        return [python], {}
    return [python], {"PYTHONPATH": str(site)}


def test_debian(folder):
    """Debian: `dist-packages`, which all Python 3 share"""
    python = copied_base(folder, "usr", interpreter("import venv, pip"))
    package = toyserve.unpacked(folder / "usr/lib/python3/dist-packages")
    command, environment = command_of(folder, python, package.parent)
    return cells(World(folder, package, ["--python", python], command, interpreter_environment=environment),
                 "`--python EXE`, `-t PREFIX`")


def test_debian_local(folder):
    """Debian: pip's packages below `local`, before those of `dist-packages`"""
    python = copied_base(folder, "usr", interpreter("import venv, pip"))
    toyserve.unpacked(folder / "usr/lib/python3/dist-packages", "1.1.0")
    package = toyserve.unpacked(folder / f"usr/local/lib/python{version_of(folder, python)}/dist-packages")
    command, environment = command_of(folder, python, package.parent)
    return cells(World(folder, package, ["-t", "usr"], command, interpreter_environment=environment), named("-t", "PREFIX"))


def test_conda(folder):
    """conda: a prefix with `conda-meta`, hard links into its package cache"""
    python = copied_base(folder, "conda", interpreter("import venv, pip"))
    cache = toyserve.unpacked(folder / "pkgs/toyserve-1.2.0-py_0/site-packages")
    site = folder / f"conda/lib/python{version_of(folder, python)}/site-packages"
    shutil.copytree(cache.parent, site, copy_function=os.link)
    toyserve.write(folder / "conda/conda-meta", {"toyserve-1.2.0-py_0.json": json.dumps({"name": "toyserve", "version": "1.2.0"})})
    command, environment = command_of(folder, python, site)
    return cells(World(folder, site / "toyserve", ["-t", "conda"], command, interpreter_environment=environment),
                 "`-t PREFIX`, `--python EXE`")


# --- what is odd -----------------------------------------------------------------------------------------------------


def test_two_versions(folder):
    """two versions' `dist-info` (an upgrade that was interrupted)"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(site)
    shutil.copytree(site / "toyserve-1.2.0.dist-info", site / "toyserve-1.1.0.dist-info")
    metadata = site / "toyserve-1.1.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("1.2.0", "1.1.0"))
    world = World(folder, package, ["-t", "venv"], [python])
    row = refused(world, named("-t", "VENV"), 5)
    world.tree += ["--assume-version", "1.2.0"]
    world.suture("diff", toyserve.PATCH)
    return [*row[:-1], "`--assume-version` says which"]


def test_linked_package(folder):
    """the package folder is a symbolic link to another place"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(folder / "store")
    (site / "toyserve").symlink_to(package)
    shutil.move(package.parent / "toyserve-1.2.0.dist-info", site)
    return cells(World(folder, package, ["-t", "venv"], [python]), named("-t", "VENV"))


def test_link_inside(folder):
    """a module is a symbolic link to a file of the package"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(site)
    (package / "engines").mkdir()
    shutil.move(package / "engine.py", package / "engines/first.py")
    (package / "engine.py").symlink_to("engines/first.py")
    return cells(World(folder, package, ["-t", "venv"], [python], writes=("engines/first.py", "lazy_rows.py")),
                 named("-t", "VENV"))


def test_link_outside(folder):
    """a module is a symbolic link that leads out of the package"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(site)
    shutil.move(package / "engine.py", folder / "engine.py")
    (package / "engine.py").symlink_to(folder / "engine.py")
    return refused(World(folder, package, ["-t", "venv"], [python]), named("-t", "VENV"), 4)


def test_zipped_egg(folder):
    """a zipped egg, named by a `.pth` file"""
    python, site = lone_venv(folder)
    tag = version_of(folder, python)
    egg = toyserve.wheel(folder).rename(site / f"toyserve-1.2.0-py{tag}.egg")
    (site / "easy-install.pth").write_text(f"./{egg.name}\n")
    row = refused(World(folder, site / "toyserve", ["-t", "venv"], [python]), named("-t", "VENV"), 6)
    return [cell.replace(f"py{tag}", "pyX.Y") for cell in row]


def test_namespace(folder):
    """a package without `__init__.py`"""
    python, site = lone_venv(folder)
    package = toyserve.unpacked(site, files={path: data for path, data in toyserve.FILES.items() if path != "__init__.py"})
    return cells(World(folder, package, ["-t", "venv"], [python]), named("-t", "VENV"))


if __name__ == "__main__":
    table.main(globals(), COLUMNS)
