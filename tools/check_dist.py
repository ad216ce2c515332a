"""Checks the packages in dist/ as a user gets them: in a fresh environment, outside the repository.

It installs the wheel, runs the first example of the README with it and starts the command.  With the extra `studio` it
opens the studio in a real browser, runs an example there and asks why.  It also looks for files that a package must
have, for what the pages add to its size, and for links of the README that would break on PyPI.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parent.parent
NEEDED = (
    "occurs/py.typed",
    "occurs/languages/kit/expression.lark",
    "occurs/languages/tesla/grammar.lark",
    "occurs/kernel/kernels.txt",
    "occurs/plot/page.html",
    "occurs/studio/static/index.html",
    "occurs/studio/examples/flights/studio.json",
)
#: bytes that the pages and examples of the studio may add to the wheel
MOST = 2_500_000


def main() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = [name for name in NEEDED if name not in names]
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")
    added = sum(i.compress_size for i in zipfile.ZipFile(wheel).infolist() if i.filename.startswith("occurs/studio/"))
    if added > MOST:
        sys.exit(f"{wheel.name}: the studio takes {added:,} bytes, and may take {MOST:,}")
    (metadata,) = (name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    broken = re.findall(r"\]\((?!https?:|#)[^)]*\)", text)
    if broken:
        sys.exit(f"links of the README that PyPI cannot follow: {', '.join(broken)}")
    with tarfile.open(sdist) as archive:
        outside = [m.name for m in archive if not m.isfile() and not m.isdir()]
    if outside:
        sys.exit(f"{sdist.name} has entries that are neither files nor folders: {', '.join(outside)}")
    readme = (ROOT / "README.md").read_text()
    example = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[0]
    lines = example.rstrip().split("\n")
    code = "\n".join([*lines[:-1], f"found = {lines[-1]}", "assert found['room'].to_pylist() == ['kitchen'], found"])
    # a process that compiles kernels for the next run may outlive the studio by some seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        bin = Path(folder, "env", "bin")
        for command in (
            [bin / "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
            [bin / "python", "-W", "error", "-c", code],
            [bin / "occurs", "--version"],
            [bin / "occurs", "functions", "round"],
        ):
            subprocess.run(command, check=True, cwd=folder)
        install = [bin / "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[studio]"]
        subprocess.run(install, check=True)
        check_studio(bin / "occurs", Path(folder))
    print(f"{wheel.name} and {sdist.name} are right; the studio takes {added:,} bytes of the wheel")


def check_studio(occurs: Path, folder: Path) -> None:
    """Use the studio of an installed wheel in a real browser: edit rules of all languages, read the plan, run, ask why.

    The environment has neither Node nor PySpark, and no Java is on its path.
    """
    chromium = os.environ.get("OCCURS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium to open the studio in: apt install chromium, or name one by OCCURS_CHROMIUM")
    command = [occurs, "studio", folder, "--no-browser", "--port", "0", "--example", "flights"]
    bare = {"PATH": f"{occurs.parent}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    server = subprocess.Popen(command, cwd=folder, env=bare, stdout=subprocess.PIPE, text=True)
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=60_000)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=chromium, args=root).new_page()
            page.goto(url)
            errors = page.get_by_test_id("check-status")
            for path in ("flights.tesla", "cancellations.epl", "visibility.ftl", "weather.phen", "delays.esql"):
                page.get_by_role("tree", name="Files").get_by_role("treeitem", name=path).click()
                expect(errors).to_have_attribute("data-errors", "0")
                page.get_by_role("textbox", name="Rules").click()
                page.keyboard.press("Control+End")
                page.keyboard.insert_text("\nthis is no rule")
                expect(errors).not_to_have_attribute("data-errors", "0")
                page.keyboard.press("Control+z")
            page.get_by_role("tab", name="Plan").click()
            expect(page.get_by_test_id("plan-KnockOn")).to_have_attribute("data-unbounded", "false")
            page.get_by_role("tab", name="Run").click()
            page.get_by_role("button", name="Run", exact=True).click()
            state = page.get_by_test_id("run-state")
            expect(state).to_have_attribute("data-state", "done")
            detected = state.get_attribute("data-found")
            page.get_by_role("textbox", name="Filter detections").fill("KnockOn")
            page.locator("[data-testid=detection][data-type=KnockOn]").first.click()
            expect(page.get_by_role("region", name="Why").get_by_test_id("constituent").first).to_be_visible()
        print(f"the studio of the wheel detects {detected} situations in the flights")
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
