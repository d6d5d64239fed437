"""Make the pictures of the explorer page in docs/pictures, in a real Chromium; run it after a change of the page.

python scripts/pictures.py

The page is that of the documentation's first page: a tree over eight columns of scikit-learn's breast-cancer data, with
two measurements known. Pictures are PNG files of at most 256 colours, under 200 kB each.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
KNOWN = {"mean texture": 21.5, "worst area": 780.0}
LIMIT = 200_000  # bytes
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
PICTURES = {  # name: width, height, colours of the system, view
    "explorer": (1440, 900, "light", "ask"),
    "explorer-dark": (1440, 900, "dark", "ask"),
    "explorer-graph": (1440, 900, "light", "graph"),
    "explorer-narrow": (390, 844, "light", "ask"),
    "explorer-narrow-dark": (390, 844, "dark", "ask"),
}


def main() -> None:
    """Write all pictures."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "docs"))
    from live import small_model

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("There is no Chromium on the path: `make browser` installs it on Debian.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        page = Path(name) / "page.html"
        small_model().explore(page, title="Breast cancer (Wisconsin)")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for picture in PICTURES:
            target = FOLDER / f"{picture}.png"
            target.write_bytes(compressed(take(browser, page, *PICTURES[picture])))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")
        browser.close()


def take(browser, page: Path, width: int, height: int, colours: str, view: str) -> bytes:
    """Open a view of the page with two known values, wait until nothing changes any more, and take a picture."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce", offline=True
    )
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    scenario = "&".join(f"{quote(name)}=={value}" for name, value in KNOWN.items())
    tab.goto(f"{page.as_uri()}#{scenario}")
    tab.locator(f"#tab-{view}").click()
    before, now = b"", tab.screenshot()
    for _ in range(40):  # posteriors first, intervals and what to ask next follow in pieces
        tab.wait_for_timeout(500)
        before, now = now, tab.screenshot()
        if before == now:
            break
    else:
        wrong.append("the page does not come to rest")
    context.close()
    if wrong:
        sys.exit(f"The page has errors: {wrong}")
    return now


def compressed(picture: bytes) -> bytes:
    """Reduce a PNG file to as many colours as stay within the limit."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in (256, 128, 64, 32):
        file = io.BytesIO()
        image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            file, "PNG", optimize=True
        )
        if file.tell() < LIMIT:
            return file.getvalue()
    sys.exit(f"A picture has more than {LIMIT} bytes even with 32 colours.")


if __name__ == "__main__":
    main()
