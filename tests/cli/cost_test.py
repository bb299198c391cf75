"""suture cost: the published case in words, and what the options refuse."""

import json

import scenario

CASE = ("--slots", "495552", "--columns", "576", "--layers", "78")


def test_published(s):
    """The published case: 828 us a cast; a step of 95.6 ms that became 74.1 ms"""
    done = s.run("cost", *CASE, "--cast-us", "828", "--step-ms", "95.6", "--after-ms", "74.1", "--memory", "40")
    for figure in (b"856.3 MB", b"66.8 GB", b"44.5 GB", b"0.864 MB", b"570.9 MB", b"64.6 of 95.6 ms", b"95.6 to 74.1 ms and not to 31.0"):
        assert figure in done.stdout, figure
    cost = json.loads(s.run_raw("cost", *CASE, "--json", shown=False).stdout)["cost"]
    assert [way["layer_bytes"] for way in cost["ways"]] == [856313856, 0, 1728, 1440000, 864000, 0]


def test_other_pools(s):
    """No bandwidth, another type, columns that kernels do not take"""
    s.run("cost", *CASE, "--active", "131072", "--bandwidth", "3400")
    s.run("cost", "--slots", "100000", "--columns", "584", "--layers", "2", "--dtype", "fp8_e5m2")
    s.run("cost", *CASE, "--dtype", "bf16")


def test_usage(s):
    """What is missing, and what is no number"""
    s.write("empty.json", '{"traceEvents": []}')
    for arguments in ((), CASE[:4], (*CASE, "--bandwidth", "fast"), (*CASE, "--memory", "-1"), (*CASE, "--after-ms", "5"),
                      (*CASE, "--dtype", "fp4"), ("--slots", "2000000000", "--columns", "2000000000", "--layers", "9"),
                      ("--from-trace", "empty.json"), ("--from-trace", "nowhere.json")):
        s.run("cost", *arguments)


scenario.main(globals())
