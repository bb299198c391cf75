"""Running suture as a user who owns little: only root can become one."""

import os
import pwd
import shutil

import driver


def as_nobody(world):
    """(words in front of a command that make it the user nobody's, that user's number). The binary, the rules and the
    patches are put where nobody may read them: into the world's folder."""
    if os.geteuid() != 0:
        raise driver.Skipped("only root can run as another user")
    setpriv = shutil.which("setpriv")
    if not setpriv:
        raise driver.Skipped("there is no setpriv")
    uid = pwd.getpwnam("nobody").pw_uid
    tools = world.folder / "tools"
    tools.mkdir(exist_ok=True)
    world.binary = str(shutil.copy(driver.SUTURE, tools / "suture"))
    for i in range(1, len(world.options), 2):
        target = tools / world.options[i - 1].strip("-")
        if not target.exists():
            shutil.copytree(world.options[i], target)
        world.options = [*world.options[:i], str(target), *world.options[i + 1:]]
    return [setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups"], uid
