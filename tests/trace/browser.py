"""The page of `suture trace --html` in headless Chromium: no console message, no request, light and dark, without JavaScript, by keyboard.

    SUTURE=build/suture python3 tests/trace/browser.py OUT       OUT: the screenshots

By hand, or `make test-page`: a browser is too large a thing for `make test`.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402


class Browser:
    """Chromium over its debugging pipe: messages end in a zero byte."""

    def __init__(self, exe, profile):
        self.to_browser, self.commands = os.pipe()
        self.answers, self.from_browser = os.pipe()

        def fds():
            os.dup2(self.to_browser, 3)
            os.dup2(self.from_browser, 4)

        # The pipe's ends must not be 3 or 4 themselves while they are moved there.
        for name in ("to_browser", "from_browser"):
            high = os.dup(getattr(self, name))
            while high < 10:
                high = os.dup(high)
            setattr(self, name, high)
        self.process = subprocess.Popen(
            [exe, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"], preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pending, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.pending:
            part = os.read(self.answers, 1 << 20)
            assert part, "the browser ended"
            self.pending += part
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def shot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        data = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def quiet(self, path):
        """Nothing on the console, nothing fetched but the page."""
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            assert method not in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"), params
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                assert url == path.as_uri() or url.startswith("data:,"), url


CONTRAST = """(() => {
  const luminance = (rgb) => rgb.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parts = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255,255,255)"; };
  let least = 99, where = "";
  for (const e of document.querySelectorAll("h1, h2, h3, p, li, td, th, dt, dd, caption, code, summary, .name, .bar span")) {
    if (!e.textContent.trim()) continue;
    const a = luminance(parts(getComputedStyle(e).color)), b = luminance(parts(behind(e)));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) { least = ratio; where = e.tagName + " " + e.className + " " + e.textContent.slice(0, 30); }
  }
  return [least, where];
})()"""
FOCUSED = "(document.activeElement.tagName + ' ' + (document.activeElement.textContent || '').trim().slice(0, 20))"


def keyboard(browser):
    """Tab reaches every control; Enter on a heading sorts, and sorts back."""
    reached = []
    for _ in range(60):
        browser.key("Tab", 9)
        reached.append(browser.value(FOCUSED))
        if reached[-1].startswith("BODY"):
            break
    for wanted in ("SUMMARY called from", "BUTTON operator", "BUTTON p99 us", "DIV"):
        assert any(each.startswith(wanted) for each in reached), (wanted, reached)
    column = "[...document.querySelectorAll('table.sortable tbody')[0].rows].map((r) => Number(r.cells[6].dataset.v))"
    browser.value("[...document.querySelectorAll('th button')].find((b) => b.textContent === 'p99 us').focus()")
    browser.key("Enter", 13)
    down = browser.value(column)
    assert down == sorted(down, reverse=True) and browser.value("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
    browser.key("Enter", 13)
    assert browser.value(column) == sorted(down)
    # The wide drawing scrolls with the arrow keys.
    browser.value("document.querySelectorAll('.scroll[tabindex]')[0].focus()")
    assert browser.value("document.activeElement.className") == "scroll"


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    exe = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if exe is None:
        sys.exit("browser: there is no Chromium here (`make test-page` installs one)")
    data = HERE / "data"
    pages = {"stack": [data / "decode_full_cast_stack.json.gz"],
             "against": [data / "decode_gather_cast.json.gz", "--against", data / "decode_full_cast.json.gz"],
             "graph": [data / "decode_full_cast_graph.json.gz"]}
    with tempfile.TemporaryDirectory(prefix="suture-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(exe, profile)
        browser.call("Emulation.setDeviceMetricsOverride", width=1300, height=1000, deviceScaleFactor=1, mobile=False)
        for name, arguments in pages.items():
            path = out / f"{name}.html"
            driver.suture("trace", *arguments, "--html", path)
            for scheme in ("light", "dark"):
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.open(path)
                least, where = browser.value(CONTRAST)
                assert least >= 4.5, f"{name}, {scheme}: contrast {least:.2f} at {where}"
                browser.shot(out / f"{name}-{scheme}.png")
                browser.quiet(path)
                print(f"ok      {name}, {scheme}: least contrast {least:.1f}")
            wide = browser.value("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            assert not wide, f"{name}: the page itself scrolls sideways"
            if name == "stack":
                keyboard(browser)
                browser.quiet(path)
                print("ok      keyboard")
            rows = browser.value("document.querySelectorAll('tbody tr').length")
            browser.call("Emulation.setScriptExecutionDisabled", value=True)
            browser.open(path)
            assert browser.value("document.querySelectorAll('tbody tr').length") == rows
            assert browser.value("document.querySelectorAll('th button').length") == 0
            browser.quiet(path)
            browser.shot(out / f"{name}-no-script.png")
            browser.call("Emulation.setScriptExecutionDisabled", value=False)
            print(f"ok      {name}, without JavaScript")
        browser.call("Emulation.setDeviceMetricsOverride", width=420, height=900, deviceScaleFactor=1, mobile=True)
        browser.open(out / "stack.html")
        assert not browser.value("document.documentElement.scrollWidth > 421"), "too wide for a telephone"
        browser.shot(out / "stack-narrow.png")
        browser.process.terminate()
        browser.process.wait()
    print(f"the pictures are in {out}")


if __name__ == "__main__":
    main()
