#!/usr/bin/env python3
"""What a change is worth: N streaming requests to an OpenAI-compatible server, before and after it.

    measure.py run --url http://127.0.0.1:30000 --out before.json     # then change something, restart, wait
    measure.py run --url http://127.0.0.1:30000 --out after.json
    measure.py compare before.json after.json [--json]
    measure.py around --url http://127.0.0.1:30000 -- COMMAND...      # both runs, COMMAND between them

COMMAND applies the patch and restarts the server; `around` then waits until the server answers. Python 3.8 or newer, nothing
else. docs/remote.md says how each figure is made.

Exit codes: 0 every request was answered; 1 some were not (the figures are of those that were); 2 usage, which a file that
`compare` cannot use and an --out that cannot be written are too; 3 the server does not answer, COMMAND failed, or --out could
not be written any more.
"""

import argparse
import http.client
import json
import math
import os
import queue
import random
import re
import subprocess
import sys
import threading
import time
import urllib.parse

WORDS = ("amber basin cedar delta ember fjord grove haven inlet jetty knoll ledge marsh north ocean prairie quarry ridge "
         "shore tundra upland valley willow yonder zenith").split()
BOOTSTRAP = 2000  # resamples behind an interval
SETTINGS = ("model", "requests", "concurrency", "max_tokens", "words", "seed")  # two runs to compare have the same


class Unanswered(Exception):
    """A request that brought no whole answer; the words say why."""


class Unusable(Exception):
    """A file that holds no run; the words say which, and why."""


# --- one request --------------------------------------------------------------------------------------------------------

class Server:
    def __init__(self, url, timeout):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or re.search("[^!-~]", parts.path):
            raise ValueError(f"{url}: not a http:// or https:// address")
        parts.hostname.encode("idna")  # as connecting does: a ValueError where no host can have that name
        self.kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.host, self.port, self.base, self.timeout = parts.hostname, parts.port, parts.path.rstrip("/"), timeout

    def open(self, method, path, body=None):
        """The connection and its response; whoever calls closes the connection."""
        headers = {"Content-Type": "application/json"}
        if os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"
        connection = self.kind(self.host, self.port, timeout=self.timeout)
        try:
            connection.request(method, self.base + path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            if response.status != 200:
                raise Unanswered(f"HTTP {response.status}: {response.read(300).decode(errors='replace').strip()}")
            return connection, response
        except BaseException:
            connection.close()
            raise

    def model(self):
        connection, response = self.open("GET", "/v1/models")
        try:
            models = document_of(response.read(), "the answer to /v1/models").get("data")
        finally:
            connection.close()
        first = models[0] if isinstance(models, list) and models else None
        if not isinstance(first, dict) or not isinstance(first.get("id"), str):
            raise Unanswered("/v1/models names no model: --model can")
        return first["id"]


def document_of(text, what):
    """A JSON object. What is none, is no answer: servers, and proxies before them, say all kinds of things."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unanswered(f"{what} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Unanswered(f"{what} is JSON, but no object: {document!r:.80}")
    return document


def field(document, key, kind):
    """What `key` holds, empty where it is null or not there."""
    value = document.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise Unanswered(f'"{key}" of a chunk is no {kind.__name__}: {value!r:.80}')
    return value


def text_of(choice):
    """The new text of one chunk, of either endpoint."""
    if not isinstance(choice, dict):
        raise Unanswered(f"a choice of a chunk is no object: {choice!r:.80}")
    delta = field(choice, "delta", dict)
    return choice.get("text") or delta.get("content") or delta.get("reasoning_content") or ""


def events(response):
    """The JSON documents of a stream of server-sent events, up to [DONE]."""
    for line in response:
        line = line.strip()
        if line == b"data: [DONE]":
            return
        if line.startswith(b"data:"):
            yield document_of(line[5:], "a chunk")
    raise Unanswered("the stream ended in the middle")


def ask(server, path, body):
    """Seconds to the first token, and for each further one; how many tokens. Tokens are the server's own count where it
    tells it, else chunks with text."""
    started = time.perf_counter()
    first = last = None
    chunks, counted = 0, None
    connection, response = server.open("POST", path, body)
    try:
        for event in events(response):
            now = time.perf_counter()
            if event.get("error") is not None:
                error = event["error"]
                raise Unanswered(str(error.get("message", error) if isinstance(error, dict) else error))
            counted = field(field(event, "usage", dict), "completion_tokens", int) or counted
            if any([text_of(choice) for choice in field(event, "choices", list)]):
                first, last, chunks = first or now, now, chunks + 1
    finally:
        connection.close()
    if first is None:
        raise Unanswered("no token came")
    tokens = counted if counted and counted > 0 else chunks
    return {"ttft": first - started, "tpot": (last - first) / (tokens - 1) if tokens > 1 else None, "tokens": tokens,
            "seconds": last - started}


# --- one run ------------------------------------------------------------------------------------------------------------

def prompts(count, words, seed):
    """The same for the same seed, and no two with a common beginning, which a prefix cache would remember."""
    dice = random.Random(seed)
    return [f"{dice.randrange(10**9)} " + " ".join(dice.choice(WORDS) for _ in range(words)) for _ in range(count)]


def request_of(options, model, prompt):
    body = {"model": model, "max_tokens": options.max_tokens, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True}, **options.extra}
    if options.chat:
        return "/v1/chat/completions", {**body, "messages": [{"role": "user", "content": prompt}]}
    return "/v1/completions", {**body, "prompt": prompt}


def ask_all(server, requests, concurrency):
    """(samples, what those that failed said, seconds of it all): each request is in one of the two."""
    todo = queue.SimpleQueue()
    for request in requests:
        todo.put(request)
    samples, failures = [], []

    def work():
        while True:
            try:
                path, body = todo.get_nowait()
            except queue.Empty:
                return
            try:
                samples.append(ask(server, path, body))
            except Unanswered as reason:
                failures.append(str(reason))
            except Exception as error:  # whatever it is: else the worker ends, and its requests are in neither list
                failures.append(f"{type(error).__name__}: {error}")

    started = time.perf_counter()
    workers = [threading.Thread(target=work) for _ in range(min(concurrency, len(requests)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failures += ["it was never asked"] * (len(requests) - len(samples) - len(failures))
    return samples, failures, time.perf_counter() - started


def measure(options):
    server = Server(options.url, options.timeout)
    model = options.model or server.model()
    requests = [request_of(options, model, prompt) for prompt in prompts(options.warmup + options.requests, options.words, options.seed)]
    ask_all(server, requests[:options.warmup], options.concurrency)
    samples, failures, seconds = ask_all(server, requests[options.warmup:], options.concurrency)
    return {"url": options.url, "model": model, "requests": options.requests, "concurrency": options.concurrency,
            "max_tokens": options.max_tokens, "words": options.words, "seed": options.seed, "failures": failures,
            "samples": samples, **summary(samples, seconds)}


# --- figures ------------------------------------------------------------------------------------------------------------

def quantile(values, share):
    """The smallest value that `share` of all do not exceed (nearest rank): always one that was measured."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)] if ordered else None


def summary(samples, seconds):
    ttft = [sample["ttft"] for sample in samples]
    tpot = [sample["tpot"] for sample in samples if sample["tpot"] is not None]
    tokens = sum(sample["tokens"] for sample in samples)
    return {"seconds": seconds, "tokens": tokens, "tokens_per_s": tokens / seconds if seconds else None,
            "ttft": {"median": quantile(ttft, 0.5), "p99": quantile(ttft, 0.99)},
            "tpot": {"median": quantile(tpot, 0.5), "p99": quantile(tpot, 0.99)}}


def interval(before, after):
    """Where 95 % of the bootstrap's changes of the median lie, as shares: [-0.1, -0.05] is 5 to 10 % less."""
    if len(before) < 2 or len(after) < 2 or not quantile(before, 0.5):
        return None
    dice = random.Random(1)

    def median(values):
        return quantile(dice.choices(values, k=len(values)), 0.5)

    changes = sorted(median(after) / median(before) - 1 for _ in range(BOOTSTRAP))
    return [changes[BOOTSTRAP * 25 // 1000], changes[BOOTSTRAP * 975 // 1000 - 1]]


def compare(before, after):
    def change(name, part=None):
        old, new = (run[name][part] if part else run[name] for run in (before, after))
        return {"before": old, "after": new, "change": new / old - 1 if old and new is not None else None}

    def values(run, name):
        return [sample[name] for sample in run["samples"] if sample[name] is not None]

    result = {f"{name}_{part}": change(name, part) for name in ("ttft", "tpot") for part in ("median", "p99")}
    for name in ("ttft", "tpot"):
        result[f"{name}_median"]["interval"] = interval(values(before, name), values(after, name))
    result["tokens_per_s"] = change("tokens_per_s")
    differs = [key for key in SETTINGS if before[key] != after[key]]
    return {"figures": result, "differs": differs,
            "failed": {"before": len(before["failures"]), "after": len(after["failures"])}}


# --- words --------------------------------------------------------------------------------------------------------------

TITLES = {"ttft_median": ("TTFT, median", 1e3, "ms"), "ttft_p99": ("TTFT, p99", 1e3, "ms"),
          "tpot_median": ("TPOT, median", 1e3, "ms"), "tpot_p99": ("TPOT, p99", 1e3, "ms"),
          "tokens_per_s": ("tokens/s, all requests", 1, "")}


def shown(value, scale, unit):
    return "-" if value is None else f"{value * scale:.2f} {unit}".rstrip()


def percent(share):
    return "-" if share is None else f"{share * 100:+.1f} %"


def print_run(run, file=None):
    answered = len(run["samples"])
    print(f"{answered} of {run['requests']} requests answered, {run['tokens']} tokens in {run['seconds']:.2f} s", file=file)
    for key, (title, scale, unit) in TITLES.items():
        name, _, part = key.partition("_")
        print(f"  {title:24}{shown(run[name][part] if name in ('ttft', 'tpot') else run[key], scale, unit):>14}", file=file)
    print_failures(run["failures"])


def print_failures(failures):
    for reason in sorted(set(failures)):
        print(f"not answered, {failures.count(reason)}x: {reason}", file=sys.stderr)


def print_comparison(comparison):
    print(f"{'':24}{'before':>14}{'after':>14}{'change':>10}   95 % of resamples")
    for key, (title, scale, unit) in TITLES.items():
        figure = comparison["figures"][key]
        between = figure.get("interval")
        told = f"   {percent(between[0])} to {percent(between[1])}" if between else ""
        print(f"{title:24}{shown(figure['before'], scale, unit):>14}{shown(figure['after'], scale, unit):>14}"
              f"{percent(figure['change']):>10}{told}")
    if comparison["differs"]:
        print(f"the two runs differ in {', '.join(comparison['differs'])}: what changed may be that", file=sys.stderr)
    for when, count in comparison["failed"].items():
        if count:
            print(f"{count} requests of the run {when} were not answered", file=sys.stderr)


# --- the command line ---------------------------------------------------------------------------------------------------

def save(path, document):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)


def command_run(options):
    run = measure(options)
    print(json.dumps(run)) if options.json else print_run(run)
    save(options.out, run)
    return 1 if run["failures"] else 0


def tell(before, after, as_json):
    comparison = compare(before, after)
    print(json.dumps(comparison)) if as_json else print_comparison(comparison)
    return 1 if before["failures"] or after["failures"] else 0


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_run(document):
    """Whether it is what `run` writes, as far as `compare` reads it."""
    try:
        figures = [document["tokens_per_s"], *(document[name][part] for name in ("ttft", "tpot") for part in ("median", "p99"))]
        figures += [sample["tpot"] for sample in document["samples"]]
        return (all(value is None or is_number(value) for value in figures) and all(key in document for key in SETTINGS)
                and all(is_number(sample["ttft"]) for sample in document["samples"]) and isinstance(document["failures"], list))
    except (TypeError, LookupError):
        return False


def run_in(path, when):
    """The run that a file holds, or, where it is one of `around`, the one of that name in it."""
    try:
        with open(path, "rb") as file:
            document = document_of(file.read(), path)
    except (OSError, Unanswered) as error:
        raise Unusable(str(error)) from error
    run = document.get(when, document)
    if not is_run(run):
        raise Unusable(f"{path}: holds no run of measure.py: {' '.join(sorted(document))[:80] or 'it is empty'}")
    return run


def command_compare(options):
    return tell(run_in(options.before, "before"), run_in(options.after, "after"), options.json)


def wait_for(server, seconds):
    """Until the server names a model: one that restarts refuses connections, or answers 503, for a while."""
    until = time.monotonic() + seconds
    while True:
        try:
            return server.model()
        except (OSError, http.client.HTTPException, ValueError, LookupError, Unanswered) as error:
            if time.monotonic() > until:
                raise Unanswered(f"no answer within {seconds} s of waiting: {error}") from error
        time.sleep(0.5)


def command_around(options):
    before = measure(options)
    # What COMMAND, or the server after it, does must not cost this run: it cannot be had again once the patch is in.
    print_run(before, sys.stderr)
    save(options.out, {"before": before})
    done = subprocess.run(options.command, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        print(f"measure: {options.command[0]} ended with {done.returncode}; nothing is measured after it", file=sys.stderr)
        return 3
    wait_for(Server(options.url, options.timeout), options.wait)
    after = measure(options)
    print_failures(after["failures"])
    code = tell(before, after, options.json)
    save(options.out, {"before": before, "after": after})
    return code


def parser_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    load = argparse.ArgumentParser(add_help=False)
    load.add_argument("--url", type=address, required=True, help="of the server: http://HOST:PORT")
    load.add_argument("--model", help="else the first that the server names")
    load.add_argument("--requests", type=positive, default=64)
    load.add_argument("--concurrency", type=positive, default=8, help="requests at one time")
    load.add_argument("--words", type=positive, default=1000, help="of each prompt")
    load.add_argument("--max-tokens", type=positive, default=128)
    load.add_argument("--warmup", type=from_zero, default=8, help="requests before those that count")
    load.add_argument("--seed", type=int, default=1, help="of the prompts")
    load.add_argument("--chat", action="store_true", help="/v1/chat/completions, not /v1/completions")
    load.add_argument("--extra", type=json_object, default={}, help='JSON for each request: \'{"ignore_eos": true}\'')
    load.add_argument("--timeout", type=seconds, default=600, help="seconds that a connection may be silent")
    load.add_argument("--out", type=writable, help="a file for the run, samples and all")
    load.add_argument("--json", action="store_true")
    commands.add_parser("run", parents=[load]).set_defaults(call=command_run)
    around = commands.add_parser("around", parents=[load])
    around.add_argument("--wait", type=seconds, default=1800, help="seconds until the server answers again")
    around.add_argument("command", nargs="+", metavar="COMMAND")
    around.set_defaults(call=command_around)
    two = commands.add_parser("compare")
    two.add_argument("before")
    two.add_argument("after")
    two.add_argument("--json", action="store_true")
    two.set_defaults(call=command_compare)
    return parser


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("from 1 on")
    return value


def from_zero(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("from 0 on")
    return value


def seconds(text):
    value = float(text)
    if not 0 < value <= 1e8:  # a socket takes no more, and no NaN
        raise argparse.ArgumentTypeError("seconds, more than 0")
    return value


def address(text):
    try:
        Server(text, None)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def json_object(text):
    try:
        return document_of(text, "this")
    except Unanswered as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def writable(path):
    """Before anything is measured, not after it. What stands there stays until there is something better."""
    there = os.path.lexists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if not there:
            os.remove(path)
    except OSError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def main():
    options = parser_of().parse_args()
    try:
        return options.call(options)
    except Unusable as error:
        print(f"measure: {error}", file=sys.stderr)
        return 2
    except (OSError, http.client.HTTPException, ValueError, LookupError, Unanswered) as error:
        print(f"measure: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
