"""A real Spark on this machine, and a source whose reader dies once on an executor.

On a machine without Java the tests are skipped with the reason; where TANBARK_REQUIRE_JAVA is set, as in CI, they fail.
"""

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tanbark.table.files.arrow_files import FileSource

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5",
    "spark.log.level": "OFF",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short life needs no more
    "spark.sql.codegen.wholeStage": "false",
}


def _do_without(reason):
    if os.environ.get("TANBARK_REQUIRE_JAVA"):
        pytest.fail(f"{reason}, and TANBARK_REQUIRE_JAVA is set", pytrace=False)
    pytest.skip(reason)


@contextmanager
def spark_session(folder):
    """Give a session with two executor threads; a task may fail twice."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        _do_without("pyspark is not installed: pip install pyspark")
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        _do_without("there is no java on the path: scripts/install_java.sh installs it on Debian")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]))
        patch.setenv("TANBARK_QUIET", "1")
        builder = SparkSession.builder.master("local[2,3]").appName("tests").config("spark.local.dir", str(folder))
        for name, value in OPTIONS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


@dataclass(frozen=True)
class DyingSource(FileSource):
    """Files whose reader ends its process in the middle of a piece, until there are enough marks in a folder."""

    marks: str = ""
    deaths: int = 1

    def read(self, piece, columns, size):
        for number, raw in enumerate(super().read(piece, columns, size)):
            if number == 1 and len(os.listdir(self.marks)) < self.deaths:
                Path(self.marks, str(os.getpid())).touch()
                os._exit(17)
            yield raw
