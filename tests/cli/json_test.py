"""The JSON documents: every command's is held to docs/json-schema (where the jsonschema package is installed), and to a
golden text.
"""

import json

import scenario
import toycache
from scenario import driver
from toycache import DECODE

SCHEMA = json.loads((driver.SOURCE / "docs" / "json-schema" / "report.schema.json").read_text())


def checked(s, *arguments):
    """Runs with --json, checks that stdout is one document that fits the schema and the exit code, and writes it down."""
    done = s.run(*arguments, "--json")
    document = json.loads(done.stdout)
    assert document["exit"] == done.returncode, document["exit"]
    assert not done.stderr, done.stderr
    try:
        import jsonschema
    except ImportError:
        print(f"        (not held to the schema: no jsonschema here) {arguments[0]}")
    else:
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_round_trip(s):
    """status, diff, apply, dry run and revert"""
    toycache.toy(s)
    checked(s, "status", "-t", "site")
    text = s.run_raw("diff", "toy-active", "-t", "site", shown=False).stdout.decode()
    assert checked(s, "diff", "toy-active", "-t", "site")["trees"][0]["diff"] == text
    checked(s, "apply", "toy-active", "-t", "site", "--dry-run")
    checked(s, "apply", "toy-active", "-t", "site")
    checked(s, "apply", "toy-active", "-t", "site")
    checked(s, "revert", "toy-active", "-t", "site")
    checked(s, "revert", "toy-active", "-t", "site")


def test_verdicts(s):
    """A verdict that fails, with its rules, evidence and hints"""
    toycache.toy(s, DECODE.replace(".unpack(", ".expand("))
    checked(s, "diff", "toy-active", "-t", "site")
    checked(s, "apply", "toy-active", "toy-prefetch", "-t", "site")


def test_several_trees(s):
    """Several trees, one of which is not there"""
    toycache.toy(s)
    checked(s, "status", "toy-prefetch", "-t", "site", "-t", "nowhere", "--check")


def test_list_and_explain(s):
    """list and explain: the catalog"""
    toycache.toy(s)
    checked(s, "explain", "toy-active")
    done = s.run_raw("list", "--json", shown=False)
    document = json.loads(done.stdout)
    assert [patch["patch"] for patch in document["catalog"] if patch["package"] == "toycache"] == [
        "toy-active", "toy-gather", "toy-prefetch"]


def test_bytes_that_are_not_utf8(s):
    """A diff of a Latin-1 file is given byte for byte"""
    latin1 = b"# -*- coding: latin-1 -*-\n" + DECODE.encode().replace(b"# All of", b"# \xe9\xff All of")
    toycache.toy(s, latin1)
    text = s.run_raw("diff", "toy-active", "-t", "site", shown=False).stdout
    tree = json.loads(s.run_raw("diff", "toy-active", "-t", "site", "--json", shown=False).stdout)["trees"][0]
    assert tree["diff_encoding"] == "latin-1"
    assert tree["diff"].encode("latin-1") == text


scenario.main(globals())
