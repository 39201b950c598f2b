"""Make the picture of an explanation page: `python docs/images/picture.py`. Needs Chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from spacy_decoders.cli.demo import demo

TEXT = "Jaguar showed a new electric car in Coventry yesterday."
SIZE = "900,2450"


def main() -> None:
    """Annotate the text with all that the shipped pipeline has, and photograph the page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("needs chromium")
    picture = Path(__file__).with_name("explanation.png")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        demo(text=TEXT, page=page)
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--user-data-dir={folder}",
                f"--window-size={SIZE}",
                f"--screenshot={picture}",
                page.as_uri(),
            ],
            check=True,
            timeout=120,
        )


if __name__ == "__main__":
    main()
