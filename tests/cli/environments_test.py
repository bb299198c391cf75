"""Environments that are built for real: virtual environments, editable installs in every mode of setuptools, .pth files, and
the layouts of Debian, conda and pip. What suture patches is held against what the interpreter imports.

No network: what builds is the setuptools of an interpreter on this machine. Where there is none, that scenario is skipped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import scenario
import toycache
from interpreters import builder, can, interpreter

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toycache"
version = "1.4"
"""
OUTSIDE = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "PIP_BREAK_SYSTEM_PACKAGES": "1"}


def run(s, *command, cwd=".", **environment):
    done = subprocess.run([str(word) for word in command], cwd=s.folder / cwd, capture_output=True, text=True, check=False,
                          env={**OUTSIDE, "HOME": str(s.folder / "home"), **environment}, timeout=scenario.SECONDS)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def run_shown(s, *arguments, **options):
    """A run for the transcript, which is to be the same with every Python."""
    first = len(s.lines)
    s.run(*arguments, **options)
    s.lines[first:] = [re.sub(r"python3\.\d+", "pythonX.Y", line) for line in s.lines[first:]]


def venv(s, python=None, name="venv", system_site=True):
    """A virtual environment; it sees the packages of its base, setuptools among them, so that it can build."""
    run(s, python or builder(), "-m", "venv", "--without-pip", *(["--system-site-packages"] if system_site else []), name)
    return s.folder / name / "bin/python"


def site_of(s, python):
    return pathlib.Path(run(s, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))


def imported(s, python, **environment):
    """The folder that the interpreter imports toycache from."""
    out = run(s, python, "-c", "import toycache; print(list(toycache.__path__)[0])", cwd="home", **environment)
    return pathlib.Path(out).resolve()


def sources(s, folder):
    """The package alone, as a person has it in a checkout."""
    for path, text in toycache.FILES.items():
        s.write(f"{folder}/{path}", text)


def project(s, below, config=""):
    """A project of setuptools, its package in project/`below`."""
    toycache.add_rules(s)
    (s.folder / "home").mkdir(exist_ok=True)
    sources(s, f"project/{below}")
    s.write("project/pyproject.toml", PYPROJECT + config)
    return (s.folder / "project" / below).resolve()


def pip_editable(s, python, *options):
    run(s, python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", *options, "-e", "project", PYTHONNOUSERSITE="1")


def patched(s, folder, *tree, environment=None, version="1.4", patch="toy-prefetch"):
    """diff, apply, status, revert by these options work on `folder`, and on nothing else; returns the words of status -v."""
    before = s.entries(".")
    decode = folder / "decode.py"
    raw = decode.read_bytes()

    def suture(*arguments):
        done = s.run_raw(*arguments, *tree, environment=environment, shown=False)
        assert done.returncode == 0, (arguments, tree, done)
        return done

    report = json.loads(suture("status", patch, "--json").stdout)["trees"][0]
    assert report["version"] == version, report
    assert report["patches"][0]["verdict"] == "applicable", report
    diff = suture("diff", patch).stdout
    assert b"\n+++ b/toycache/decode.py\n" in diff, diff
    suture("apply", patch)
    assert decode.read_bytes() != raw, f"{decode} is not what was patched"
    report = json.loads(suture("status", patch, "--json").stdout)["trees"][0]
    assert report["patches"][0]["verdict"] == "applied", report
    suture("revert", patch)
    after = s.entries(".")
    assert {key: value for key, value in before.items() if ".pyc" not in key} == \
        {key: value for key, value in after.items() if ".pyc" not in key}, "revert left something"
    return suture("status", patch, "-v").stderr.decode()


def ways(s, python, folder, by, environment=None, version="1.4"):
    """Every way to name the environment of an interpreter leads to `folder`, which it imports; -v names the file `by` which."""
    assert imported(s, python) == folder, "the test is wrong: Python imports another folder"
    prefix = python.parent.parent
    for tree, extra in ((("-t", str(prefix)), {}), (("--python", str(python)), {}), ((), {"VIRTUAL_ENV": str(prefix)})):
        words = patched(s, folder, *tree, environment={**(environment or {}), **extra}, version=version)
        assert by in words, words


# --- editable installs -----------------------------------------------------------------------------------------------


def test_editable_src_layout(s):
    """pip install -e, src layout: a .pth file names src"""
    folder = project(s, "src/toycache")
    python = venv(s)
    pip_editable(s, python)
    assert any("project/src" in path.read_text() for path in site_of(s, python).glob("*.pth")), "no .pth file was written"
    ways(s, python, folder, ".pth")


def test_editable_flat_layout(s):
    """pip install -e, flat layout: a finder maps the package"""
    folder = project(s, "toycache", '\n[tool.setuptools]\npackages = ["toycache"]\n')
    python = venv(s)
    pip_editable(s, python)
    assert list(site_of(s, python).glob("__editable___toycache_*_finder.py")), "no finder was written"
    ways(s, python, folder, "_finder.py")


def test_editable_folder_of_another_name(s):
    """pip install -e of a package whose folder has another name: the finder maps one to the other"""
    folder = project(s, "lib/toy-sources", '\n[tool.setuptools]\npackages = ["toycache"]\n'
                     '[tool.setuptools.package-dir]\ntoycache = "lib/toy-sources"\n')
    python = venv(s)
    pip_editable(s, python)
    ways(s, python, folder, "_finder.py")


def test_editable_compat(s):
    """pip install -e, compat mode of setuptools"""
    folder = project(s, "toycache", '\n[tool.setuptools]\npackages = ["toycache"]\n')
    python = venv(s)
    pip_editable(s, python, "--config-settings", "editable_mode=compat")
    ways(s, python, folder, ".pth")


def test_editable_strict(s):
    """pip install -e, strict mode: a farm of links into the sources. Nothing is written through them; the words say so"""
    folder = project(s, "toycache", '\n[tool.setuptools]\npackages = ["toycache"]\n')
    python = venv(s)
    pip_editable(s, python, "--config-settings", "editable_mode=strict")
    farm = imported(s, python)
    assert farm != folder and s.folder / "project/build" in farm.parents, farm
    before = s.entries(".")
    done = s.run_raw("apply", "toy-prefetch", "-t", "venv", shown=False)
    if (farm / "decode.py").is_symlink():
        assert done.returncode == 4 and b"is a symbolic link that leads outside the tree" in done.stderr, done
        assert s.entries(".") == before
        patched(s, folder, "-t", "project", version=None)  # a checkout: no metadata
    else:  # hard links: the farm is patched, the sources are not
        assert done.returncode == 0 and (folder / "decode.py").read_text() == toycache.DECODE, done


def test_setup_py_develop(s):
    """setup.py develop: an egg-link and easy-install.pth; the version is in the egg-info beside the sources"""
    folder = project(s, "toycache")
    s.write("project/pyproject.toml", "")
    s.write("project/setup.py", "from setuptools import setup\nsetup(name='toycache', version='1.4', packages=['toycache'])\n")
    python = venv(s)
    run(s, python, "-W", "ignore", "setup.py", "-q", "develop", "--no-deps", cwd="project", PYTHONNOUSERSITE="1")
    site = site_of(s, python)
    assert (site / "toycache.egg-link").exists() and (site / "easy-install.pth").exists(), list(site.iterdir())
    ways(s, python, folder, "easy-install.pth")


def test_editable_of_other_builders(s):
    """What hatchling writes: _editable_impl_NAME.pth, and direct_url.json; where the .pth is lost, that leads there still"""
    python = venv(s, interpreter("import venv"), system_site=False)
    folder = project(s, "src/toycache")
    site = site_of(s, python)
    info = site / "toycache-1.4.dist-info"
    info.mkdir()
    (site / "_editable_impl_toycache.pth").write_text(str(s.folder / "project/src"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toycache\nVersion: 1.4\n")
    (info / "RECORD").write_text("_editable_impl_toycache.pth,,\ntoycache-1.4.dist-info/METADATA,,\n")
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{s.folder}/project", "dir_info": {"editable": True}}))
    ways(s, python, folder, "_editable_impl_toycache.pth")
    (site / "_editable_impl_toycache.pth").unlink()
    assert "direct_url.json" in patched(s, folder, "-t", "venv")
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{s.folder}/project", "dir_info": {}}))
    assert s.run_raw("diff", "toy-prefetch", "-t", "venv", shown=False).returncode == 5, "it was not editable"


def test_editable_edits_are_drift(s):
    """Sources of an editable install have no hash in RECORD: an edit is not told from what was there, so it is drift"""
    folder = project(s, "src/toycache")
    python = venv(s)
    pip_editable(s, python)
    (folder / "decode.py").write_text(toycache.DECODE.replace("get_rows(layer.index).unpack(", "rows(layer.index).unpack("))
    run_shown(s, "status", "toy-gather", "-t", "venv", "--check")
    toycache.toy(s, toycache.DECODE)
    shutil.copy(folder / "decode.py", s.folder / "site/toycache/decode.py")
    run_shown(s, "status", "toy-gather", "-t", "site", "--check")


# --- .pth files ------------------------------------------------------------------------------------------------------


def plain_venv(s):
    python = venv(s, interpreter("import venv"), system_site=False)
    toycache.add_rules(s)
    (s.folder / "home").mkdir()
    return python, site_of(s, python)


def info(site, version="1.4", name="toycache"):
    folder = pathlib.Path(site) / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_pth_lines(s):
    """Absolute and relative lines, comments, blanks, CRLF, blanks at the end, a folder that is not there"""
    python, site = plain_venv(s)
    sources(s, "else where/toycache")
    folder = s.folder / "else where/toycache"
    info(site)
    relative = os.path.relpath(s.folder / "else where", site)
    for text in (f"{folder.parent}\n", str(folder.parent), f"{relative}\n", f"# {s.folder}\n\n  \n/nowhere\n{folder.parent}\n",
                 f"# a\r\n{folder.parent}\r\n", f"{folder.parent}  \t\n", f"../{folder.parent}\n{folder.parent}/\n"):
        (site / "toy.pth").write_bytes(text.encode())
        ways(s, python, folder, "toy.pth")


def test_pth_lines_that_lead_nowhere(s):
    """A comment, an indented path, a file of another suffix: Python does not follow them, so suture does not"""
    python, site = plain_venv(s)
    sources(s, "elsewhere/toycache")
    info(site)
    for name, text in (("toy.pth", f"# {s.folder}/elsewhere\n"), ("toy.pth", f"  {s.folder}/elsewhere\n"),
                       ("toy.pth.off", f"{s.folder}/elsewhere\n"), ("toy.pth", f"{s.folder}/elsewhere/toycache\n")):
        (site / name).write_text(text)
        assert not can(python, "import toycache"), "the test is wrong"
        assert s.run_raw("diff", "toy-prefetch", "-t", "venv", shown=False).returncode == 5, text
        (site / name).unlink()


def test_pth_byte_order_mark(s):
    """A byte order mark, which Python 3.13 takes off: it hides no line"""
    _, site = plain_venv(s)
    sources(s, "elsewhere/toycache")
    info(site)
    (site / "toy.pth").write_bytes(b"\xef\xbb\xbf" + f"{s.folder}/elsewhere\n".encode())
    patched(s, s.folder / "elsewhere/toycache", "-t", "venv")


def test_pth_imports_are_never_run(s):
    """An import line is code. Python runs it at every start; suture reads past it"""
    python, site = plain_venv(s)
    sources(s, "elsewhere/toycache")
    info(site)
    line = f"import os; open({str(s.folder / 'ran')!r}, 'w').close()\n"
    (site / "toy.pth").write_text(f"{line}import\tsys; sys.exit(3)\n{s.folder}/elsewhere\n")
    words = patched(s, s.folder / "elsewhere/toycache", "-t", "venv")
    assert "toy.pth" in words and not (s.folder / "ran").exists(), "an import line was run"
    (site / "toy.pth").write_text(line)
    can(python, "")
    assert (s.folder / "ran").exists(), "the test is wrong: Python runs such a line"


# --- found twice -----------------------------------------------------------------------------------------------------


def base_prefix(s, version):
    """A base to make virtual environments of: its interpreter is another's, its folders are its own."""
    site = s.folder / f"base/lib/python{version}/site-packages"
    site.mkdir(parents=True)
    return site


def fake_parent(s, python):
    """Gives a real virtual environment a parent with packages of its own, by its pyvenv.cfg; returns the parent's site."""
    version = run(s, python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    site = base_prefix(s, version)
    (s.folder / "base/bin").mkdir(parents=True)
    config = s.folder / "venv/pyvenv.cfg"
    lines = [line for line in config.read_text().splitlines() if not line.startswith(("home", "include-system"))]
    config.write_text("\n".join([f"home = {s.folder}/base/bin", "include-system-site-packages = True", *lines]) + "\n")
    return site


def test_parent_environment(s):
    """include-system-site-packages: the parent's package is found; the environment's own comes before it, and -v says so"""
    python, site = plain_venv(s)
    parent = fake_parent(s, python)
    sources(s, parent.relative_to(s.folder) / "toycache")
    info(parent, "1.2")
    words = patched(s, parent / "toycache", "-t", "venv", version="1.2")
    assert "imported before" not in words, words
    sources(s, site.relative_to(s.folder) / "toycache")
    info(site, "1.4")
    run_shown(s, "status", "toy-prefetch", "-v", "-t", "venv", keep=lambda line: "decode.py:" not in line)
    patched(s, site / "toycache", "-t", "venv")
    config = s.folder / "venv/pyvenv.cfg"
    config.write_text(config.read_text().replace("= True", "= false"))
    words = patched(s, site / "toycache", "-t", "venv")
    assert "imported before" not in words, words


def test_parent_environment_as_python_sees_it(s):
    """A real parent: a virtual environment sees the packages of its base where it may, and only there"""
    toycache.add_rules(s)
    base = interpreter("import venv")
    of_base = set(site_packages(s, base))
    for system_site in (True, False):
        python = venv(s, base, name=f"venv-{system_site}", system_site=system_site)
        seen = set(site_packages(s, python))
        assert bool(seen & of_base) == system_site, "the test is wrong"
        words = s.run_raw("status", "toy-prefetch", "-v", "-t", f"venv-{system_site}", shown=False).stderr.decode()
        for folder in seen | of_base:
            assert (folder in words) == (folder in seen), (folder, words)


def test_finder_comes_last(s):
    """A finder is asked after every folder: a package in the parent is imported before an editable install by a finder"""
    python, site = plain_venv(s)
    parent = fake_parent(s, python)
    sources(s, "project/toycache")
    (site / "__editable__.toycache-1.4.pth").write_text("import __editable___toycache_finder\n")
    (site / "__editable___toycache_finder.py").write_text(f"MAPPING = {{'toycache': '{s.folder}/project/toycache'}}\n")
    info(site, "1.4")
    assert "_finder.py" in patched(s, s.folder / "project/toycache", "-t", "venv")
    sources(s, parent.relative_to(s.folder) / "toycache")
    info(parent, "1.2")
    run_shown(s, "status", "toy-prefetch", "-v", "-t", "venv", keep=lambda line: "decode.py:" not in line)
    patched(s, parent / "toycache", "-t", "venv", version="1.2")
    # A path line of the environment comes before the parent.
    (site / "zz.pth").write_text(f"{s.folder}/project\n")
    assert "zz.pth" in patched(s, s.folder / "project/toycache", "-t", "venv")


def site_packages(s, python):
    """The folders that an interpreter says its packages are in, those that are there."""
    found = json.loads(run(s, python, "-c", "import json, site; print(json.dumps(site.getsitepackages()))"))
    return [os.path.realpath(folder) for folder in found if os.path.isdir(folder)]


# --- layouts ---------------------------------------------------------------------------------------------------------


def program(s, path):
    s.write(path, b"\177ELF").chmod(0o755)


def seen(s, python, version):
    """status finds the package by an interpreter that cannot be run (diff and apply would have it compile); its words."""
    report = json.loads(s.run_raw("status", "toy-prefetch", "--json", "--python", python, shown=False).stdout)["trees"][0]
    assert (report["version"], report["patches"][0]["verdict"]) == (version, "applicable"), report
    return s.run_raw("status", "toy-prefetch", "-v", "--python", python, shown=False).stderr.decode()


def test_debian(s):
    """Debian: dist-packages that all Python 3 share, and /usr/local's, which comes before it"""
    toycache.add_rules(s)
    program(s, "usr/bin/python3.11")
    (s.folder / "usr/bin/python3").symlink_to("python3.11")
    sources(s, "usr/lib/python3/dist-packages/toycache")
    info(s.folder / "usr/lib/python3/dist-packages", "1.1")
    shared = s.folder / "usr/lib/python3/dist-packages/toycache"
    for tree in (("-t", "usr"), ("-t", str(shared.parent))):
        patched(s, shared, *tree, version="1.1")
    seen(s, "usr/bin/python3", "1.1")
    patched(s, shared, environment={"PATH": str(s.folder / "usr/bin")}, version="1.1")
    sources(s, "usr/local/lib/python3.11/dist-packages/toycache")
    info(s.folder / "usr/local/lib/python3.11/dist-packages", "1.2")
    local = s.folder / "usr/local/lib/python3.11/dist-packages/toycache"
    assert "imported before" in patched(s, local, "-t", "usr", version="1.2")
    assert "imported before" in seen(s, "usr/bin/python3", "1.2")
    # Another interpreter of that prefix does not see it.
    program(s, "usr/bin/python3.12")
    seen(s, "usr/bin/python3.12", "1.1")


def test_debian_for_real(s):
    """The folders of this machine's own Python, where it is Debian's: all that it imports from are looked in"""
    python = "/usr/bin/python3"
    if not can(python, "import site; assert any('dist-packages' in path for path in site.getsitepackages())"):
        raise scenario.Skipped("/usr/bin/python3 is not Debian's")
    toycache.add_rules(s)
    words = s.run_raw("status", "toy-prefetch", "-v", "--python", python, shown=False).stderr.decode()
    for folder in site_packages(s, python):
        assert folder in words, (folder, words)


def test_conda(s):
    """conda: lib/pythonX.Y/site-packages below the prefix, and its own records, which say nothing of Python's"""
    toycache.add_rules(s)
    program(s, "conda/bin/python3.12")
    for name in ("python", "python3"):
        (s.folder / "conda/bin" / name).symlink_to("python3.12")
    s.write("conda/conda-meta/toycache-9.9-py312_0.json", json.dumps({"name": "toycache", "version": "9.9"}))
    site = s.folder / "conda/lib/python3.12/site-packages"
    sources(s, "conda/lib/python3.12/site-packages/toycache")
    info(site)
    for tree in (("-t", "conda"), ("-t", str(site))):
        patched(s, site / "toycache", *tree)
    seen(s, "conda/bin/python", "1.4")
    patched(s, site / "toycache", environment={"PATH": str(s.folder / "conda/bin")})


def wheel_of_toycache(s):
    """A wheel of toycache for pip to install."""
    import wheel_test
    toycache.toy(s, version="1.4")
    files = wheel_test.members(s)
    files["toycache-1.4.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    wheel_test.pack(s, files, name="toycache-1.4-py3-none-any.whl")
    shutil.rmtree(s.folder / "site")
    return "toycache-1.4-py3-none-any.whl"


def pip_install(s, python, *options):
    run(s, python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--no-compile",
        *options)


def test_pip_target(s):
    """pip install --target: a folder that holds packages"""
    pip_install(s, interpreter("import pip"), "--target", "target", wheel_of_toycache(s))
    patched(s, s.folder / "target/toycache", "-t", "target")
    patched(s, s.folder / "target/toycache", "-t", "target/toycache")


def test_pip_user(s):
    """pip install --user: below HOME, before the interpreter's own folders, and only for that version of Python"""
    python = interpreter("import pip")
    wheel = wheel_of_toycache(s)
    (s.folder / "home").mkdir()
    pip_install(s, python, "--user", wheel)
    folder = imported(s, python)
    assert s.folder / "home" in folder.parents, folder
    real = run(s, python, "-c", "import sys; print(sys.executable)")
    environment = {"HOME": str(s.folder / "home")}
    assert str(folder.parent) in patched(s, folder, "--python", real, environment=environment)
    other = s.run_raw("status", "toy-prefetch", "--python", real, shown=False)
    assert b"absent" in other.stdout, other
    # A virtual environment does not see it.
    lone = venv(s, interpreter("import venv"), system_site=False)
    done = s.run_raw("status", "toy-prefetch", "--python", str(lone), environment=environment, shown=False)
    assert b"absent" in done.stdout, done


def test_pip_installs_a_patched_wheel(s):
    """pip installs into a virtual environment; with RECORD's hashes an edit is told from what was shipped"""
    python = venv(s)
    pip_install(s, python, wheel_of_toycache(s))
    folder = site_of(s, python) / "toycache"
    (s.folder / "home").mkdir(exist_ok=True)
    ways(s, python, folder, str(folder.parent))


# --- not found -------------------------------------------------------------------------------------------------------


def test_says_where_it_looked(s):
    """A package that is not there: every folder that was searched is named"""
    python, _ = plain_venv(s)
    fake_parent(s, python)
    run_shown(s, "diff", "toy-prefetch", "-t", "venv")
    run_shown(s, "status", "toy-prefetch", environment={"VIRTUAL_ENV": "venv"})
    run_shown(s, "revert", "toy-prefetch", "-t", "venv")
    (s.folder / "empty").mkdir()
    run_shown(s, "apply", "toy-prefetch", "-t", "empty")
    run_shown(s, "apply", "toy-prefetch", "-t", "empty", "-q")


if __name__ == "__main__":
    scenario.main(globals())
