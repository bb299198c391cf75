"""examples/ansible with ansible-core against three real sshd: check mode writes nothing, diff mode shows the unified diff, a
second run changes nothing, and a host that has drifted fails and stops the batches behind it.
"""

import json
import os
import pathlib
import re
import subprocess
import shutil

import hosts
from hosts import driver

EXAMPLE = driver.SOURCE / "examples" / "package"
ROLE = driver.SOURCE / "examples" / "ansible"
PATCH = "toyserve-lazy-rows"
FOLDERS = ["--rules-dir", EXAMPLE / "rules", "--patches-dir", EXAMPLE / "patches"]


class Ansible:
    def __init__(self, fleet, tools):
        self.fleet, self.tools = fleet, tools
        # c is reached through a: "jumped" of the ssh configuration, where there are namespaces.
        self.names = {"a": "a", "b": "b", "c": "jumped" if fleet.namespaces else "c"}
        python = shutil.which("python3", path="/usr/bin") or "auto_silent"
        lines = [f"{name} ansible_host={alias} suture_tree={fleet[name].path('site')}" for name, alias in self.names.items()]
        self.inventory = fleet.folder / "inventory"
        self.inventory.write_text("\n".join(["[all]", *lines, "[all:vars]", f"ansible_python_interpreter={python}",
                                             f"ansible_ssh_common_args=-F {fleet.config}", ""]))
        # Where users have it: nothing of the playbook may outrank it.
        (fleet.folder / "group_vars").mkdir()
        (fleet.folder / "group_vars" / "all.yml").write_text(f"suture_patches: [{PATCH}]\n")
        # Rules behind links, and what an editor leaves beside them, which cannot be sent.
        self.rules = fleet.folder / "rules"
        self.rules.mkdir()
        (self.rules / "linked").symlink_to(EXAMPLE / "rules")
        (self.rules / ".#lock").symlink_to("nobody@nowhere:1")

    def play(self, *words, failed=False, serial="100%", **variables):
        """Runs the playbook; ({host: {changed, failed, ...}}, what it printed)."""
        home = self.fleet.folder / "ansible"
        environment = {**os.environ, "PATH": f"{self.tools / 'bin'}:{os.environ['PATH']}", "ANSIBLE_HOME": str(home), "HOME": str(home),
                       "ANSIBLE_PIPELINING": "True", "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_NOCOLOR": "True", "LC_ALL": "C.UTF-8", "ANSIBLE_CONFIG": str(home / "ansible.cfg"),
                       "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.fleet.folder / "cp"), "ANSIBLE_ROLES_PATH": str(ROLE / "roles")}
        home.mkdir(exist_ok=True)
        (home / "ansible.cfg").touch()
        everything = {"suture_binary": str(pathlib.Path(driver.SUTURE).resolve()), "suture_serial": serial,
                      "suture_rules_dir": str(self.rules), "suture_patches_dir": str(EXAMPLE / "patches"), **variables}
        done = subprocess.run(["ansible-playbook", "-i", str(self.inventory), "-e", json.dumps(everything), *words, str(ROLE / "playbook.yml")],
                              capture_output=True, text=True, check=False, env=environment)
        assert (done.returncode != 0) == failed, done.stdout + done.stderr
        assert "WARNING" not in done.stderr, done.stderr
        recap = re.findall(r"^(\w+) +: (.*)$", done.stdout.partition("PLAY RECAP")[2], re.M)
        return {name: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", numbers)} for name, numbers in recap}, done.stdout

    def trees(self):
        return {name: driver.entries(self.fleet[name].near("site")) for name in self.names}

    def verdicts(self):
        return {driver.verdicts(self.fleet[name].near("site"), *FOLDERS)[PATCH] for name in self.names}


def changed(recap):
    assert all(host["unreachable"] == host["failed"] == 0 for host in recap.values()), recap
    return {name: host["changed"] for name, host in recap.items()}


def check_and_diff_mode(ansible):
    before = ansible.trees()
    recap, said = ansible.play("--check", "--diff")
    assert changed(recap) == {"a": 1, "b": 1, "c": 1}, said
    diff, _ = driver.suture("diff", PATCH, "-t", ansible.fleet["a"].near("site"), *FOLDERS)
    assert said.count(diff.decode()) == 3, said
    assert ansible.trees() == before, "check mode wrote"


def applied_once(ansible):
    recap, said = ansible.play("--diff")
    assert changed(recap) == {"a": 1, "b": 1, "c": 1} and said.count("+++ b/toyserve/engine.py") == 3, said
    assert ansible.verdicts() == {"applied"}
    before = ansible.trees()
    recap, said = ansible.play("--diff")
    assert changed(recap) == {"a": 0, "b": 0, "c": 0} and "+++ b/" not in said, said
    assert ansible.trees() == before, "the second run wrote"


def reverted(ansible):
    before = ansible.trees()
    recap, said = ansible.play("--check", "--limit", "a", suture_state="reverted")
    assert changed(recap) == {"a": 1} and ansible.trees() == before, said
    recap, said = ansible.play(suture_state="reverted")
    assert changed(recap) == {"a": 1, "b": 1, "c": 1} and ansible.verdicts() == {"applicable"}, said
    recap, said = ansible.play("--check", "--limit", "a", suture_state="reverted")
    assert changed(recap) == {"a": 0}, said


def a_host_that_has_drifted(ansible):
    """a fails with the verdict and the place; b and c, whose turn comes after, are not touched."""
    engine = ansible.fleet["a"].near("site", "toyserve", "engine.py")
    engine.write_text(engine.read_text().replace("rows = unpack(", "rows = unpack_all("))
    before = ansible.trees()
    recap, said = ansible.play(failed=True, serial="1")
    assert list(recap) == ["a"] and recap["a"]["failed"] == 1, said
    assert f"{PATCH}: foreign-edit: " in said and "engine.py:18: " in said, said
    assert ansible.trees() == before


def a_folder_that_leads_back(ansible):
    loop = ansible.rules / "loop"
    loop.symlink_to(ansible.rules)
    _, said = ansible.play("--check", "--limit", "a", failed=True)
    assert f"rules_dir: {loop} is a link that leads back to {ansible.rules}" in said, said
    loop.unlink()


def main():
    # Before the hosts: their namespaces have no way out.
    fetched = subprocess.run([driver.SOURCE / "scripts" / "fetch_tools.sh", driver.CACHE], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode != 0:
        driver.skip("ansible-core could not be had from PyPI")
    with hosts.Fleet() as fleet:
        for host in fleet.hosts.values():
            shutil.copytree(EXAMPLE / "site-packages", host.near("site"), ignore=shutil.ignore_patterns("__pycache__"))
        ansible = Ansible(fleet, pathlib.Path(fetched.stdout.strip()).resolve())
        for step in (check_and_diff_mode, applied_once, reverted, a_folder_that_leads_back, a_host_that_has_drifted):
            step(ansible)
            print(f"ok  {step.__name__}")
        left = [path for host in fleet.hosts.values() for path in (host.folder / "root").glob(".ansible/tmp/*")]
        assert not left, f"left on the hosts: {left}"


if __name__ == "__main__":
    main()
