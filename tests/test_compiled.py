import os
import subprocess
import sys

PROGRAM = """
from dpcore.compiled import compilations
from dpcore.models.rules.learning.moves import move_count

move_count(2, 5)
print(sum(move_count.stats.cache_hits.values()), compilations(), move_count.targetoptions["nogil"])
"""


def test_a_later_process_reads_what_the_first_one_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    told = [
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout for _ in range(2)
    ]
    assert told == ["0 1 True\n", "1 0 True\n"]
