#!/usr/bin/env python3
"""How long the page without a server takes for the report of a game, in headless Chromium.

    pip install selenium
    python3 lab/tools/report_seconds.py target/page games.jsonl        # records, one per line; target/page: tools/build_page
"""

import json
import sys
import time
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from static_files import serve

page, records = sys.argv[1:]
origin = serve(page)
options = ChromeOptions()
for argument in ("--headless=new", "--no-sandbox"):
    options.add_argument(argument)
for line in Path(records).read_text().splitlines():
    record = json.loads(line)
    moves = record["moves"]
    browser = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    wait = WebDriverWait(browser, 120, poll_frequency=0.02)
    browser.get(f"{origin}/#game={record['game']}&moves={','.join(moves)}")
    shown = "return document.querySelectorAll('#moves button').length"
    wait.until(lambda _: browser.execute_script(shown) >= len(moves))
    time.sleep(1)  # what else happens when the page opens
    begun = time.monotonic()
    browser.execute_script("document.getElementById('report-open').click()")
    wait.until(lambda _: browser.execute_script("return !!document.querySelector('#report table')"))
    print(f"{record['game']}, {len(moves)} plies: {time.monotonic() - begun:.1f} s", flush=True)
    browser.quit()
