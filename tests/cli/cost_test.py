"""suture cost: the published case in words, and what the options refuse."""

import gzip
import json

import scenario
from scenario import driver

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
    cost = json.loads(s.run_raw("cost", *CASE, "--dtype", "bf16", "--cast-us", "828", "--json", shown=False).stdout)["cost"]
    assert cost["ways"] == [] and cost["gb_per_s"] is None and "there is no cast" in cost["words"], cost
    assert cost["wide_pool_bytes"] == 44528320512, cost
    both = s.run_raw("cost", *CASE, "--cast-us", "1", "--bandwidth", "5", shown=False).stdout
    assert b"at 5 GB/s, the whole cast as measured, launches" in both, both
    many = s.run_raw("cost", *CASE, "--active", "770016", shown=False).stdout
    assert b"770,016 slots, more than there are" in many, many


def test_from_trace(s):
    """A pool from a trace: what contradicts it is refused, what it does not tell is asked for, and a part of it is no trace"""
    cuts = driver.SOURCE / "tests" / "trace" / "data"
    for name in ("full_cast", "full_cast_graph"):
        s.write(f"{name}.json.gz", (cuts / f"decode_{name}.json.gz").read_bytes())
    def cost_of(*arguments):
        return json.loads(s.run_raw("cost", "--from-trace", *arguments, "--json", shown=False).stdout)["cost"]
    whole = cost_of("full_cast.json.gz", "--columns", "576", "--layers", "78")
    assert (whole["slots"], whole["columns"], whole["layers"]) == (495552, 576, 78), whole
    assert whole["from"] == "Shape, the cast's time and the step are those of full_cast.json.gz.", whole["from"]
    ours = cost_of("full_cast.json.gz", "--cast-us", "828", "--step-ms", "95.6")
    assert ours["from"] == "Shape is that of full_cast.json.gz." and ours["cast_us"] == 828, ours
    halves = cost_of("full_cast_graph.json.gz", "--columns", "288")  # only the elements are known
    assert (halves["slots"], halves["columns"]) == (991104, 288) and "with 288 columns" in halves["from"], halves
    assert halves["gb_per_s"] == cost_of("full_cast_graph.json.gz")["gb_per_s"]
    for arguments in (("--slots", "100"), ("--layers", "2"), ("--columns", "1"), ("--dtype", "bf16"), ("--dtype", "fp8_e5m2")):
        s.run("cost", "--from-trace", "full_cast.json.gz", *arguments)
    s.run("cost", "--from-trace", "full_cast_graph.json.gz", "--columns", "577")
    plain = gzip.decompress((cuts / "decode_full_cast.json.gz").read_bytes())
    s.write("short.json", plain[: len(plain) // 2])
    s.run("cost", "--from-trace", "short.json")


def test_usage(s):
    """What is missing, and what is no number"""
    s.write("empty.json", '{"traceEvents": []}')
    for arguments in ((), CASE[:4], (*CASE, "--bandwidth", "fast"), (*CASE, "--memory", "-1"), (*CASE, "--bandwidth", "1e-300"),
                      (*CASE, "--cast-us", "1e300"), (*CASE, "--cast-us", "0.001"), ("--slots", "9", "--columns", "200000", "--layers", "780", "--active", "2000000000"), (*CASE, "--after-ms", "5"),
                      (*CASE, "--dtype", "fp4"), ("--slots", "2000000000", "--columns", "2000000000", "--layers", "9"),
                      ("--from-trace", "empty.json"), ("--from-trace", "nowhere.json")):
        s.run("cost", *arguments)


scenario.main(globals())
