"""The half of the task that runs on this machine: sends the executable, and folders of rules and patches, into Ansible's
temporary folder on the host, where the module runs it. The folder goes when the task ends, so nothing is installed, and
check mode can judge a host on which suture never was.
"""

import os
import shutil

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    TRANSFERS_FILES = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        del tmp
        arguments = {key: value for key, value in self._task.args.items() if value not in (None, "")}
        binary = self._find_binary(arguments.pop("binary", "suture"))
        try:
            folder = self._connection._shell.tmpdir or self._make_tmp_path()
            executable = self._connection._shell.join_path(folder, "suture")
            self._transfer_file(binary, executable)
            sent = [folder, executable]
            for option in ("rules_dir", "patches_dir"):
                if option in arguments:
                    files = self._send_folder(arguments[option], folder, option)
                    arguments[option] = self._connection._shell.join_path(folder, option)
                    sent += [arguments[option], *files]
            self._fixup_perms2(sent, execute=True)
            arguments["executable"] = executable
            result.update(self._execute_module(module_name="suture", module_args=arguments, task_vars=task_vars))
        finally:
            self._remove_tmp_path(self._connection._shell.tmpdir)
        return result

    @staticmethod
    def _find_binary(name):
        found = os.path.expanduser(name) if os.sep in name else shutil.which(name)
        if not found or not os.path.isfile(found):
            raise AnsibleActionFail(f"binary: there is no executable {name} on this machine")
        return found

    @staticmethod
    def _refuse(error):
        raise AnsibleActionFail(f"{error.filename}: cannot be read: {error.strerror}")

    def _send_folder(self, source, folder, name):
        """The files of `source` that suture would read there (links followed, nothing hidden, nothing compiled), each at its
        place below `folder`/`name`; returns what there is on the host now."""
        source = os.path.normpath(os.path.expanduser(source))
        if not os.path.isdir(source):
            raise AnsibleActionFail(f"{name}: there is no folder {source} on this machine")
        join = self._connection._shell.join_path
        sent = []
        above = {}  # of each folder: what it and those that it is in are, links resolved
        for parent, folders, files in os.walk(source, onerror=self._refuse, followlinks=True):
            real, upper = os.path.realpath(parent), above.get(os.path.dirname(parent), set())
            if real in upper:
                raise AnsibleActionFail(f"{name}: {parent} is a link that leads back to {real}")
            above[parent] = upper | {real}
            folders[:] = sorted(one for one in folders if not one.startswith(".") and one != "__pycache__")
            place = join(folder, name, os.path.relpath(parent, source)) if parent != source else join(folder, name)
            self._low_level_execute_command(f"mkdir -p {self._connection._shell.quote(place)}", sudoable=False)
            sent.append(place)
            for file in sorted(files):
                if file.startswith(".") or file.endswith(".pyc") or not os.path.isfile(os.path.join(parent, file)):
                    continue
                self._transfer_file(os.path.join(parent, file), join(place, file))
                sent.append(join(place, file))
        return sent
