"""Wrong command lines: what is wrong is said first, in suture's own words, with what to write instead. Exit 2."""

import scenario
import toycache


def test_no_command(s):
    """No command"""
    s.run()


def test_unknown_command(s):
    """An unknown command: the list, and the nearest one; never hidden behind a missing PATCH"""
    s.run("dif")
    s.run("aply", "-t", "site")
    s.run("mend")
    s.run("frobnicate", "--json")
    s.run("")


def test_unknown_option(s):
    """An unknown option, before and after the command, with the nearest known one; never hidden behind a missing PATCH"""
    s.run("apply", "--dry-rum")
    s.run("--tre", "x", "diff")
    s.run("diff", "--frobnicate=1")
    s.run("apply", "-x")
    s.run("diff", "-qx")


def test_missing_names(s):
    """A command that needs a name, and one that takes none"""
    s.run("apply")
    s.run("apply", "-t", "site")
    s.run("explain")
    s.run("explain", "a", "b")
    s.run("revert")
    s.run("revert", "a", "--all")
    s.run("list", "a")
    s.run("diff", "")


def test_option_of_another_command(s):
    """An option of another command names those that take it"""
    s.run("diff", "--check")
    s.run("--dry-run", "status")
    s.run("list", "-t", "site")


def test_values(s):
    """Options and their values"""
    s.run("diff", "-t")
    s.run("diff", "--tree")
    s.run("diff", "--python")
    s.run("diff", "-t", "")
    s.run("diff", "--json=yes")
    s.run("diff", "--color", "blue")
    s.run("diff", "--color", "never", "--color", "always")
    s.run("diff", "-t", "a", "-t", "b")
    s.run("diff", "-t", "--rules-dir", "a")
    s.run("status", "-t", "a", "--python", "b")
    s.run("status", "-q", "-v")


def test_unknown_patch(s):
    """A patch that nobody knows"""
    toycache.toy(s)
    s.run("diff", "toy-activ", "-t", "site")
    s.run("apply", "toy-active", "frobnicate", "-t", "site")
    s.run("status", "toy_active", "-t", "site")
    s.run("explain", "toy-active2")
    s.run("revert", "toy-activ", "-t", "site")


def test_json(s):
    """With --json a wrong command line is a document too, and stderr stays empty"""
    s.run("aply", "--json")
    s.run("--json", "apply")


def test_help(s):
    """Help goes to stdout, exit 0; of a command, with its own options"""
    s.run("--help")
    s.run("diff", "--help")
    s.run("-h", "status")
    s.run("revert", "-h")
    s.run("--help", "frobnicate")


def test_version(s):
    """The version"""
    s.run("--version")
    s.run("apply", "--version")


def test_options_stand_anywhere(s):
    """Every option before or after the command, in every spelling, means the same"""
    toycache.toy(s)
    first = s.run("diff", "toy-active", "-t", "site", "--exit-code")
    for arguments in (
        ("-t", "site", "diff", "toy-active", "--exit-code"),
        ("--exit-code", "--tree=site", "diff", "toy-active"),
        ("-tsite", "diff", "--exit-code", "toy-active"),
        ("diff", "-t", "site", "--exit-code", "--", "toy-active"),
        ("--color=never", "--exit-code", "-t", "site", "-v", "diff", "toy-active"),
    ):
        again = s.run_raw(*arguments)
        assert (again.returncode, again.stdout) == (first.returncode, first.stdout), (arguments, again)


scenario.main(globals())
