"""examples/docker, examples/kubernetes and examples/ci, without an engine, a cluster or a runner: their lines are read from the
files and run, in a root folder that holds busybox, an interpreter's name and a real SGLang.
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

EXAMPLES = driver.SOURCE / "examples"
RELEASE = "0.5.9"
SITE = "usr/local/lib/python3.12/dist-packages"
BACKEND = "sglang/srt/layers/attention/flashinfer_mla_backend.py"
PATCH = "sglang-cast-active-slots"


def fetch_wheel():
    script = driver.SOURCE / "scripts" / "fetch_wheel.sh"
    done = subprocess.run([script, driver.CACHE, RELEASE], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        driver.skip(f"the wheel of SGLang {RELEASE} could not be had")
    return pathlib.Path(done.stdout.strip())


def enter(root, command, environment):
    """Runs a command with `root` as the root folder; (exit code, what it printed)."""
    words = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **environment}
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    done = subprocess.run([*words, chroot, root, "/bin/busybox", "env", "-i", *(f"{key}={value}" for key, value in clean.items()),
                           *command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def bare_image(root):
    """/bin with busybox as sh and what the examples call."""
    (root / "bin").mkdir(parents=True)
    busybox = shutil.which("busybox")
    if not busybox:
        driver.skip("busybox is not installed")
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in ("sh", "cp", "mkdir"):
        (root / "bin" / name).symlink_to("busybox")
    return root


def server_image(root, wheel):
    """What an image of a server looks like to suture: python3 on PATH, and the package in its dist-packages."""
    bare_image(root)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/python3.12").write_bytes(b"")
    (root / "usr/bin/python3.12").chmod(0o755)
    (root / "usr/bin/python3").symlink_to("python3.12")
    (root / "usr/lib/python3.12").mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        wanted = [name for name in archive.namelist() if re.match(r"sglang/(__init__|version)\.py|sglang/srt/layers/|sglang/srt/mem_cache/|[^/]*dist-info/", name)]
        archive.extractall(root / SITE, wanted)
    return root


# --- docker -------------------------------------------------------------------------------------------------------------

def build(root, context):
    """What `docker build` does with the Dockerfile, where `root` is the base image; the exit code of the first RUN that fails."""
    lines = [line for line in (EXAMPLES / "docker" / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    assert [line.split()[0] for line in lines] == ["ARG", "FROM", "COPY", "RUN"], lines
    for line in lines:
        word, rest = line.split(maxsplit=1)
        if word == "COPY":
            source, target = rest.split()
            place = root / target.lstrip("/")
            if target.endswith("/"):
                place.mkdir(parents=True, exist_ok=True)
                place /= source
            shutil.copy(context / source, place)
        elif word == "RUN":
            code, said = enter(root, ["/bin/sh", "-c", rest], {})
            if code != 0:
                return code, said
    return 0, said


def docker(scratch, wheel):
    context = scratch / "context"
    context.mkdir()
    shutil.copy(driver.SUTURE, context / "suture")
    image = server_image(scratch / "image", wheel)
    backend = image / SITE / BACKEND
    before = backend.read_bytes()
    code, said = build(image, context)
    assert code == 0 and "OK: forward_decode casts only the slots" in said, said
    assert backend.read_bytes() != before and driver.verdicts(image / SITE)[PATCH] == "applied"
    code, said = build(image, context)
    assert code == 0 and "already applied, nothing to do" in said, said

    drifted = server_image(scratch / "drifted", wheel)
    backend = drifted / SITE / BACKEND
    text = before.replace(b".get_key_buffer(", b".key_buffer_of(")
    backend.write_bytes(text)
    untouched = driver.entries(drifted / SITE)
    code, said = build(drifted, context)
    assert code == 4 and f"{PATCH}: foreign-edit" in said, f"exit code {code}: the build must fail with 4\n{said}"
    assert driver.differences(untouched, driver.entries(drifted / SITE)) == []

    code, said = build(bare_image(scratch / "other"), context)
    assert code == 6 and "python3" in said, f"exit code {code}: an image without Python must fail the build\n{said}"


# --- kubernetes ---------------------------------------------------------------------------------------------------------

def kubernetes(scratch, wheel):
    """Both init containers, each in the image that it names, with the volume at its place."""
    (document,) = yaml.safe_load_all((EXAMPLES / "kubernetes" / "deployment.yml").read_text())
    pod = document["spec"]["template"]["spec"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in [*pod["initContainers"], *pod["containers"]]:
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    server = pod["containers"][0]
    assert server["image"] == pod["initContainers"][1]["image"], "another image's package would be patched"

    tool = bare_image(scratch / "tool")
    shutil.copy(driver.SUTURE, tool / "suture")
    image = server_image(scratch / "server", wheel)
    images = {"suture": tool, server["image"]: image}
    before = driver.entries(image / SITE)

    def start():
        """Runs the init containers; the exit code of the first that fails, or 0, and the volume."""
        volume = scratch / "volume"
        shutil.rmtree(volume, ignore_errors=True)
        volume.mkdir()
        for container in pod["initContainers"]:
            root = images[container["image"]]
            (mount,) = container["volumeMounts"]
            place = root / mount["mountPath"].lstrip("/")
            volume.rename(place)
            environment = {entry["name"]: entry["value"] for entry in container.get("env", [])}
            code, said = enter(root, container["command"], environment)
            place.rename(volume)
            if code != 0:
                return code, said, volume
        return 0, said, volume

    code, said, volume = start()
    assert code == 0, said
    path = next(entry["value"] for entry in server["env"] if entry["name"] == "PYTHONPATH")
    mount = server["volumeMounts"][0]["mountPath"]
    copy = volume / pathlib.PurePosixPath(path).relative_to(mount)
    assert driver.verdicts(copy)[PATCH] == "applied"
    assert driver.differences(before, driver.entries(image / SITE)) == [], "the image's own package was written to"
    backend = image / SITE / BACKEND
    backend.write_bytes(backend.read_bytes().replace(b".get_key_buffer(", b".key_buffer_of("))
    code, said, _ = start()
    assert code == 4 and f"{PATCH}: foreign-edit" in said, f"exit code {code}: the pod must not start\n{said}"


# --- ci -----------------------------------------------------------------------------------------------------------------

def wheel_of_suture(folder):
    """A wheel of that name, with nothing in it; its SHA-256."""
    file = folder / "suture-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in (("METADATA", "Metadata-Version: 2.1\nName: suture\nVersion: 1\n"), ("RECORD", ""),
                           ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")):
            archive.writestr(f"suture-1.dist-info/{name}", text)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def installs_what_was_named_alone(step, run, folder, site):
    """The step that installs suture: a wheel with its hash, or nothing. As it is shipped, nothing is named."""
    digest = wheel_of_suture(folder)
    good = "./suture-1-py3-none-any.whl"
    for named, sha, words in (
        (None, None, "SUTURE_WHEEL is to be"), ("suture", digest, "SUTURE_WHEEL is to be"), ("suture==1", digest, "SUTURE_WHEEL is to be"),
        ("http://127.0.0.1:1/suture-1-py3-none-any.whl", digest, "SUTURE_WHEEL is to be"), (f"evil {good}", digest, "no spaces"),
        (f"./x.whl\n{good}", digest, "no spaces"), (good, "", "SUTURE_SHA256 is to be"), (good, "sha256:" + digest, "SUTURE_SHA256 is to be"),
        (good, "0" * 64, "DO NOT MATCH THE HASHES"), ("./nowhere.whl", digest, "nowhere.whl"),
        ("https://127.0.0.1:1/suture-1-py3-none-any.whl", digest, "127.0.0.1"),
    ):
        code, said = run(step, {} if named is None else {"SUTURE_WHEEL": named, "SUTURE_SHA256": sha})
        assert code != 0 and words in said and not site.exists(), (named, sha, code, said)
    code, said = run(step, {"SUTURE_WHEEL": good, "SUTURE_SHA256": digest})
    assert code == 0 and (site / "suture-1.dist-info").is_dir(), said


def workflow(scratch, wheel):
    """Every `run` of the workflow, by the shell that GitHub runs it in. pip is a stand-in that brings the wheel that is here;
    what it installs goes into a folder of its own, by the real one."""
    document = yaml.safe_load((EXAMPLES / "ci" / "suture-nightly.yml").read_text())
    assert document[True]["schedule"], "it runs each night"  # YAML 1.1 reads `on` as true
    steps = document["jobs"]["newest-release"]["steps"]
    uploads = [step for step in steps if "upload-sarif" in step.get("uses", "")]
    assert uploads and "> " + uploads[0]["with"]["sarif_file"] in "".join(step.get("run", "") for step in steps)
    folder = scratch / "checkout"
    bins = scratch / "bin"
    for one in (folder, bins):
        one.mkdir()
    (bins / "suture").symlink_to(pathlib.Path(driver.SUTURE).resolve())
    log = scratch / "pip.log"
    site = scratch / "site"
    (bins / "pip").write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n'
        f'if [ "$1" = install ]; then exec {shlex.quote(sys.executable)} -m pip "$@" --retries 0 --disable-pip-version-check --target {site}; fi\n'
        f'mkdir -p wheel && cp {shlex.quote(str(wheel))} wheel/\n')
    (bins / "pip").chmod(0o755)
    environment = {"PATH": f"{bins}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(scratch / "summary.md"), "RUNNER_TEMP": str(scratch),
                   **document["env"]}

    def run(step, filled_in):
        done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env={**environment, **filled_in},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    has_audit = subprocess.run([driver.SUTURE, "audit", "--help"], capture_output=True, check=False).returncode == 0
    for step in steps:
        if "run" not in step or ("suture audit" in step["run"] and not has_audit):
            continue
        if step["name"] == "Install suture":
            installs_what_was_named_alone(step, run, folder, site)
            continue
        code, said = run(step, {})
        assert code == 0, (step["name"], said)
    assert site.exists(), "no step installs suture"
    downloads = [line.split() for line in log.read_text().splitlines() if line.startswith("download")]
    assert [words[-1] for words in downloads] == ["sglang"] and "--no-deps" in downloads[0], downloads
    assert f"applicable    {PATCH}" in (scratch / "summary.md").read_text()
    if has_audit:
        sarif = json.loads((folder / uploads[0]["with"]["sarif_file"]).read_text())
        assert sarif["version"] == "2.1.0" and sarif["runs"], sarif
    return "" if has_audit else " (without audit, which this build has not)"


def main():
    wheel = fetch_wheel()
    for example in (docker, kubernetes, workflow):
        with tempfile.TemporaryDirectory(prefix="suture-images-") as scratch:
            note = example(pathlib.Path(scratch), wheel)
        print(f"ok  {example.__name__}{note or ''}")


if __name__ == "__main__":
    main()
