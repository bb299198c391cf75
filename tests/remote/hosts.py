"""Three hosts, each a real sshd with keys of its own, for the drivers of tests/remote.

Where namespaces are allowed (root), each host is a network namespace with an address, its own /tmp, /root and /srv, and
`c` is reached through `a` alone. The driver then runs in namespaces of its own too, so nothing is left behind however it
ends, and ~/.ssh is the test's. Elsewhere they are three sshd of this user on the loopback, by port.

    near ---- a (10.77.1.2) ---- c (10.77.3.2)
      \\------- b (10.77.2.2)
"""

import getpass
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

INSIDE = "SUTURE_TEST_NAMESPACES"  # set where the driver runs in namespaces of its own
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin")
UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
ADDRESSES = {"a": "10.77.1.2", "b": "10.77.2.2", "c": "10.77.3.2"}

SSHD_CONFIG = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
StrictModes no
MaxStartups 100
MaxSessions 100
PermitUserEnvironment no
Subsystem sftp internal-sftp
"""


def in_namespaces():
    """Runs the driver again in its own namespaces, where that is allowed; then, and else, comes back."""
    if not SSHD or not shutil.which("ssh-keygen"):
        driver.skip("openssh-server is not installed")
    if INSIDE in os.environ:
        return os.environ[INSIDE] == "yes"
    allowed = os.geteuid() == 0 and shutil.which("ip") and subprocess.run(
        [*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    if allowed:
        os.execvpe(UNSHARE[0], [*UNSHARE, sys.executable, *sys.argv], {**os.environ, INSIDE: "yes"})
    return False


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options)


class Host:
    """folder: what stands below `root` on this machine. path(): the same as the host sees it."""

    def __init__(self, fleet, name):
        self.fleet, self.name = fleet, name
        self.folder = fleet.folder / name
        self.process = None
        for part in ("srv/sshd", "root", "tmp"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        if fleet.namespaces:
            self.address, self.port = ADDRESSES[name], 22
        else:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.address, self.port = free.getsockname()

    def path(self, *parts):
        base = pathlib.Path("/srv") if self.fleet.namespaces else self.folder / "srv"
        return base.joinpath(*parts)

    def near(self, *parts):
        return (self.folder / "srv").joinpath(*parts)

    def inside(self, *command, **options):
        """Runs a command in the host's namespaces."""
        return run("nsenter", "-t", self.process.pid, "-n", "-m", *command, **options)

    def start(self):
        folder = self.near("sshd")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "host_key")
        shutil.copy(self.fleet.key.with_suffix(".pub"), folder / "authorized_keys")
        config = SSHD_CONFIG.format(address=self.address, port=self.port, folder=self.path("sshd"))
        (folder / "config").write_text(config)
        self.listen()

    def listen(self):
        command = [SSHD, "-D", "-e", "-f", str(self.path("sshd", "config"))]
        if self.fleet.namespaces:
            (self.folder / "passwd").write_text("root:x:0:0::/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/bin/false\n")
            (self.folder / "shadow").write_text("root:*:19000:0:99999:7:::\n")
            binds = [f"mount --bind {self.folder}/{part} {where}" for part, where in
                     (("passwd", "/etc/passwd"), ("shadow", "/etc/shadow"), ("srv", "/srv"), ("root", "/root"),
                      ("tmp", "/tmp"))]
            # /tmp last: all of these folders may lie in it.
            script = " && ".join([*binds, 'exec "$@"'])
            command = ["ip", "netns", "exec", self.name, "unshare", "-m", "sh", "-c", script, "sh", *command]
        with open(self.near("sshd", "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.wait_for_port()

    def wait_for_port(self):
        for _ in range(200):
            probe = ["ip", "netns", "exec", self.name] if self.fleet.namespaces else []
            connect = f"import socket; socket.create_connection(({self.address!r}, {self.port}), 1)"
            if subprocess.run([*probe, sys.executable, "-S", "-c", connect], capture_output=True, check=False).returncode == 0:
                return
            assert self.process.poll() is None, self.near("sshd", "log").read_text()
            time.sleep(0.05)
        raise AssertionError(f"sshd of {self.name} does not answer:\n{self.near('sshd', 'log').read_text()}")

    def sessions(self):
        """The process ids of all that its sshd has started: sessions, shells, suture."""
        children = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    status = (entry / "stat").read_text()
                except OSError:
                    continue
                children.setdefault(int(status.rpartition(")")[2].split()[1]), []).append(int(entry.name))
        found, todo = [], [self.process.pid]
        while todo:
            below = children.get(todo.pop(), [])
            found += below
            todo += below
        return found

    def kill_sessions(self):
        """What a crash of the host does to them."""
        killed = 0
        for process in self.sessions():
            try:
                os.kill(process, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        return killed


class Fleet:
    """Use as a context: starts the hosts named; `config` is the ssh configuration that names them."""

    def __init__(self, names="abc"):
        self.namespaces = in_namespaces()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="suture-remote-")).resolve()
        self.key = self.folder / "key"
        self.config = self.folder / "ssh_config"
        self.hosts = {}
        self.names = names

    def __enter__(self):
        try:
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
            if self.namespaces:
                self.private_machine()
                for name in self.names:
                    self.wire(name)
            elif os.geteuid() == 0:
                os.makedirs("/run/sshd", exist_ok=True)  # where sshd shuts its unprivileged part in
            for name in self.names:
                self.hosts[name] = Host(self, name)
            self.configure()
            for host in self.hosts.values():
                host.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts.values():
            if host.process:
                host.kill_sessions()
                host.process.kill()
                host.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __getitem__(self, name):
        return self.hosts[name]

    def private_machine(self):
        """Of this driver's own mount namespace: /run, and ~/.ssh."""
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        for folder in ("/run/sshd", "/run/netns"):
            os.mkdir(folder, 0o755)
        dot_ssh = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir, ".ssh")
        dot_ssh.mkdir(mode=0o700, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=0700", "tmpfs", dot_ssh)
        self.config = dot_ssh / "config"
        run("ip", "link", "set", "lo", "up")

    def wire(self, name):
        """A host's network namespace, with a line to this machine, or, for c, to a."""
        third = ADDRESSES[name].rpartition(".")[0]
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0" if name != "c" else "eth1", "netns", name)
        place = ["ip"]
        if name == "c":
            run("ip", "link", "set", "to-c", "netns", "a")
            place = ["ip", "-n", "a"]
        far = "eth0" if name != "c" else "eth1"
        run(*place, "addr", "add", f"{third}.1/30", "dev", f"to-{name}")
        run(*place, "link", "set", f"to-{name}", "up")
        run("ip", "-n", name, "addr", "add", f"{third}.2/30", "dev", far)
        for link in ("lo", far):
            run("ip", "-n", name, "link", "set", link, "up")

    def configure(self):
        blocks = [f"Host {name}\n  HostName {host.address}\n  Port {host.port}\n" for name, host in self.hosts.items()]
        if self.namespaces:
            blocks.append("Host jumped\n  HostName 10.77.3.2\n  ProxyJump a\n")
        blocks.append(f"Host *\n  User {getpass.getuser()}\n  IdentityFile {self.key}\n  IdentitiesOnly yes\n"
                      f"  UserKnownHostsFile {self.folder}/known_hosts\n  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n")
        self.config.write_text("".join(blocks))
        self.config.chmod(0o600)
