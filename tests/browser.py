"""A browser for tests: headless Chromium, driven with nothing but Python: WebDriver is JSON over HTTP
(https://www.w3.org/TR/webdriver2/)."""
import base64
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request

MISSING = 77  # exit code of a test that has no browser

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010"}


class Driver:
    """A browser, through chromedriver."""

    def __init__(self, chromium, chromedriver):
        self.process = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = next(line.rstrip(".\n").rsplit(" ", 1)[1] for line in self.process.stdout if "started successfully on port" in line)
        self.base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
        options = {"binary": chromium, "args": arguments}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.base += f"/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        # A proxy of the environment has nothing to do with this machine's own address.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {json.load(error)['value']['message']}") from None

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(10)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def click(self, selector):
        """A click as a person's: on what lies uppermost there."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector)
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{found[ELEMENT]}/click", {})

    def press(self, key):
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def console(self):
        """Whatever the console says is wrong."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def show(self, width, dark):
        phone = width < 600
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=844 if phone else 900, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        time.sleep(0.3)

    def shot(self, path, selector=None):
        """The whole page, or an element of it."""
        box = "const r = (arguments[0] ? document.querySelector(arguments[0]) : document.documentElement).getBoundingClientRect();" \
              "return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1}"
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=self.run(box, selector))
        path.write_bytes(base64.b64decode(shot["data"]))


def find():
    """Chromium and its chromedriver; the test ends aloud where one is missing."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    chromedriver = shutil.which("chromedriver") or next(filter(os.path.exists, ["/usr/lib/chromium/chromedriver"]), None)
    if not (chromium and chromedriver):
        print("no Chromium with its chromedriver (Debian: apt-get install chromium chromium-driver)")
        raise SystemExit(MISSING)
    return Driver(chromium, chromedriver)
