"""Arrow without pandas, until pandas is imported (lean.py)."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import sys
import pyarrow as pa
from occurs.lean import postpone_pandas
postpone_pandas()
postpone_pandas()
assert pa.array([1, 2.5, None]).null_count == 1
assert "pandas" not in sys.modules
"""


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "code",
    [
        "import pandas as pd\nassert pa.array(pd.Series([1.5, float('nan')])).null_count == 1",
        "frame = pa.table({'a': [1, None]}).to_pandas()\nassert frame['a'].isna().tolist() == [False, True]",
        "import pandas.api.types\nimport pandas as pd\n"
        "assert pa.table(pd.DataFrame({'a': [1, 2]})).schema.metadata[b'pandas']",
        "import threading\nthread = threading.Thread(target=__import__, args=('pandas',))\nthread.start()\n"
        "thread.join()\n"
        "import pandas as pd\nassert pa.Array.from_pandas(pd.Series([float('nan')])).null_count == 1",
    ],
)
def test_arrow_knows_pandas_when_it_is_imported(code):
    run(BEGIN + code)


def test_nothing_is_done_where_pandas_is_imported():
    run(
        "import pandas as pd, pyarrow as pa, sys\nfrom occurs.lean import postpone_pandas\n"
        "before = list(sys.meta_path)\n"
        "postpone_pandas()\nassert sys.meta_path == before\n"
        "assert pa.array(pd.Series([1.5, float('nan')])).null_count == 1"
    )


def test_a_run_of_the_command_imports_no_pandas(tmp_path):
    rule = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"
    (tmp_path / "hot.tesla").write_text(rule)
    (tmp_path / "rows.csv").write_text("type,time,value\nTemp,1,50\nTemp,2,3\n")
    arguments = ["run", str(tmp_path / "hot.tesla"), "--events", str(tmp_path / "rows.csv"), "--time-unit", "s"]
    code = f"""
import sys
from occurs.cli import main
try:
    main({arguments})
except SystemExit as end:
    assert not end.code
assert "pyarrow" in sys.modules and "pandas" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, '{"type": "Hot", "time": 1, "v": 50}\n'), done.stderr
