"""Chromium without a screen."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

NOT_INSTALLED = "chromium, chromedriver and selenium are not installed"


@contextmanager
def open_browser(profile):
    """Yield a browser that keeps its logs, or None where it is not installed."""
    chrome = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
    driver = shutil.which("chromedriver")
    try:
        from selenium import webdriver
    except ImportError:
        webdriver = None
    if webdriver is None or chrome is None or driver is None:
        yield None
        return
    options = webdriver.ChromeOptions()
    options.binary_location = chrome
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield opened
    finally:
        opened.quit()


def reset(browser):
    """Undo what the test before has set: the screen, the media and the logs."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    for log in ("browser", "performance"):
        browser.get_log(log)
