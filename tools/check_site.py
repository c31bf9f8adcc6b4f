"""Check the built site in a real browser: no broken link or image, no console error, search works.

    python tools/check_site.py docs/_build/html [--pictures FOLDER]

Needs chromium, chromedriver and selenium. Every page is opened at desktop and phone width from the
files themselves, without a server and a network. ``--pictures`` saves a picture of the main pages.
"""

from __future__ import annotations

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
# What a browser asks for by itself, or cannot do from a file.
HARMLESS = re.compile(r"favicon|ERR_INTERNET_DISCONNECTED|ERR_NAME_NOT_RESOLVED")
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
BROKEN_IMAGES = """
return [...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)
"""
# What new users look for, and the page that answers.
SEARCHES = (
    ("few positives", "guide/which_estimator"),
    ("probabilities", "guide/thresholds"),
    ("threshold recall", "guide/thresholds"),
    ("refine", "guide/how_it_works"),
    ("database", "guide/deployment"),
    ("SparseKernelAUC", "SparseKernelAUC.html"),
)


class Links(HTMLParser):
    """Collects the targets and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note what an element refers to, and what it can be referred to by."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.targets.add(value)


def broken_links(root: Path) -> list[str]:
    """Return links to files and anchors that do not exist."""
    paths = [path for path in root.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or target.startswith("data:"):
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not path.exists():
                found.append(f"{page.relative_to(root)}: {target}")
            elif parts.fragment and path in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[path].anchors and not page.name.startswith("search"):
                    found.append(f"{page.relative_to(root)}: {target} (no such anchor)")
    return found


def open_browser():
    """Start chromium without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


def visit(browser, root: Path, page: Path, width: str, pictures: Path | None) -> list[str]:
    """Open a page and return what is wrong with it."""
    size = SIZES[width]
    # A headless window has a smallest width; the emulated screen has not.
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(page.as_uri())
    name = f"{page.relative_to(root)} ({width})"
    wrong = [f"{name}: image {each}" for each in browser.execute_script(BROKEN_IMAGES)]
    wider = browser.execute_script(WIDER)
    if wider > 1:
        wrong.append(f"{name}: {wider} pixels wider than the screen")
    for entry in browser.get_log("browser"):
        if entry["level"] == "SEVERE" and not HARMLESS.search(entry["message"]):
            wrong.append(f"{name}: {entry['message']}")
    if pictures:
        file = str(page.relative_to(root)).replace("/", "-").removesuffix(".html")
        browser.save_screenshot(str(pictures / f"{file}-{width}.png"))
    return wrong


def search_finds(browser, root: Path, words: str, page: str) -> list[str]:
    """Search for words as a reader would, and look for a page among the results."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(f"{(root / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    script = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    try:
        found = WebDriverWait(browser, 20).until(
            lambda b: [a for a in b.execute_script(script) if page in a]
        )
    except Exception:
        found = []
    return [] if found else [f"the search for {words!r} does not find {page}"]


def main() -> None:
    """Run all checks; the exit status is 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for pictures of all pages")
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    options = parser.parse_args()
    root = options.site.resolve()
    wrong = broken_links(root)
    pages = sorted(path for path in root.rglob("*.html") if options.only in str(path))
    pages = [path for path in pages if {"_static", "_downloads"}.isdisjoint(path.parts)]
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    browser = open_browser()
    try:
        for width in SIZES:
            for page in pages:
                wrong += visit(browser, root, page, width, options.pictures)
        for words, page in SEARCHES:
            wrong += search_finds(browser, root, words, page)
    finally:
        browser.quit()
    print("\n".join(wrong) or f"{len(pages)} pages are in order at {len(SIZES)} widths.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
