"""The wheel: what is in it and what its tags promise; installed by pip, by uv and by pipx, each into a folder of its own.

It is built around the executable that is there (SUTURE_PREBUILT, as `make wheel` does). --sources builds it as `pip
install .` does, from the sources; that takes minutes, and is not in `make test`.
"""

import base64
import csv
import hashlib
import io
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402
import static_test  # noqa: E402

EXAMPLE = driver.SOURCE / "examples" / "package"
PATCH = "toyserve-lazy-rows"


def run(*command, environment=None, folder=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=folder,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(tools, scratch, sources):
    """pip reads the checkout and writes nothing into it."""
    before = sorted(os.listdir(driver.SOURCE))
    environment = {"SUTURE_CACHE": str(driver.CACHE), "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    if not sources:
        environment["SUTURE_PREBUILT"] = str(pathlib.Path(driver.SUTURE).resolve())
    run(tools / "bin" / "python", "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", scratch / "wheel",
        driver.SOURCE, environment=environment)
    assert sorted(os.listdir(driver.SOURCE)) == before, "the build wrote into the checkout"
    (wheel,) = (scratch / "wheel").iterdir()
    return wheel


def check_contents(wheel, version, sources, scratch):
    """One file, the executable, and metadata; the tags promise no more than that it is static, and for which machine."""
    machine = platform.machine()
    tags = f"py3-none-manylinux2014_{machine}.manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    assert wheel.name == f"suture-{version}-{tags}.whl", wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        script = f"suture-{version}.data/scripts/suture"
        outside = [name for name in names if not name.startswith(f"suture-{version}.dist-info/")]
        assert outside == [script], names
        data = archive.read(script)
        assert sources or data == pathlib.Path(driver.SUTURE).read_bytes(), "another executable than the one that was built"
        assert archive.getinfo(script).external_attr >> 16 & 0o111, "not executable"
        metadata = archive.read(f"suture-{version}.dist-info/METADATA").decode()
        record = archive.read(f"suture-{version}.dist-info/RECORD").decode()
    assert "\nRequires-Dist:" not in metadata and "\nLicense-Expression: Apache-2.0\n" in metadata, metadata[:600]
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert [script, f"sha256={digest}", str(len(data))] in list(csv.reader(io.StringIO(record))), record
    executable = scratch / "suture"
    executable.write_bytes(data)
    executable.chmod(0o755)
    print(run(driver.SOURCE / "scripts" / "check_static.sh", executable), end="")
    assert int.from_bytes(data[18:20], "little") == {"x86_64": 62, "aarch64": 183}[machine]


def use(command, version, environment=None):
    """Applies a patch in a copy of the example, by an installed suture."""
    assert run(*command, "--version", environment=environment) == f"suture {version}\n"
    with tempfile.TemporaryDirectory() as scratch:
        run("cp", "-r", EXAMPLE / "site-packages", f"{scratch}/site")
        folders = ["--rules-dir", EXAMPLE / "rules", "--patches-dir", EXAMPLE / "patches"]
        run(*command, "apply", PATCH, "-t", f"{scratch}/site", *folders, environment=environment)
        assert run(*command, "status", PATCH, "-t", f"{scratch}/site", *folders, environment=environment).startswith("applied")


def by_pip(wheel, version, scratch):
    run(sys.executable, "-m", "venv", scratch / "venv")
    pip = [scratch / "venv" / "bin" / "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--no-index", wheel)
    path = {"PATH": f"{scratch / 'venv' / 'bin'}:/usr/bin:/bin", "VIRTUAL_ENV": str(scratch / "venv")}
    use(["suture"], version, path)
    run(*pip, "uninstall", "-y", "suture")
    assert not (scratch / "venv" / "bin" / "suture").exists()


def by_uv(tools, wheel, version, scratch):
    bins = scratch / "uv" / "bin"
    environment = {"UV_TOOL_DIR": str(scratch / "uv" / "tools"), "UV_TOOL_BIN_DIR": str(bins), "UV_NO_CONFIG": "1",
                   "UV_CACHE_DIR": str(scratch / "uv" / "cache"), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    run(tools / "bin" / "uv", "tool", "install", "--offline", "--no-index", wheel, environment=environment)
    use(["suture"], version, {"PATH": f"{bins}:/usr/bin:/bin"})


def by_pipx(tools, wheel, version, scratch):
    environment = {"PIPX_HOME": str(scratch / "pipx"), "PIPX_BIN_DIR": str(scratch / "pipx" / "bin"),
                   "PIPX_DEFAULT_PYTHON": sys.executable, "PIPX_MAN_DIR": str(scratch / "pipx" / "man")}
    use([tools / "bin" / "pipx", "run", "--spec", wheel, "suture"], version, environment)


def main():
    if not static_test.is_static():
        driver.skip("this build is linked dynamically, and a wheel of it would promise too much")
    sources = "--sources" in sys.argv[1:]
    fetched = subprocess.run([driver.SOURCE / "scripts" / "fetch_tools.sh", driver.CACHE], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode != 0:
        driver.skip("the tools of tests/remote could not be had from PyPI")
    tools = pathlib.Path(fetched.stdout.strip()).resolve()
    version = re.search(r"project\(suture VERSION ([0-9.]+)", (driver.SOURCE / "CMakeLists.txt").read_text()).group(1)
    with tempfile.TemporaryDirectory(prefix="suture-wheel-") as folder:
        scratch = pathlib.Path(folder)
        wheel = build(tools, scratch, sources)
        check_contents(wheel, version, sources, scratch)
        print(f"ok  {wheel.name}")
        by_pip(wheel, version, scratch)
        print("ok  pip, into a fresh virtual environment")
        by_uv(tools, wheel, version, scratch)
        print("ok  uv tool install")
        by_pipx(tools, wheel, version, scratch)
        print("ok  pipx run")


if __name__ == "__main__":
    main()
