"""Clusters on this machine, as they are started."""

import subprocess
import sys
from pathlib import Path

_OPENING = """
import sys
from reducekit.session.cluster import Cluster

def listen(event, arguments):
    if event == "open" and str(arguments[0]).endswith((".pem", ".crt")):
        print(arguments[0])

sys.addaudithook(listen)
with Cluster("local:1") as cluster:
    print(cluster.slots)
"""


def test_keys_are_never_written_to_a_folder(tmp_path: Path) -> None:
    """Not even for a moment: a process that is killed then would leave them there."""
    program = tmp_path / "opening.py"
    program.write_text(f"if __name__ == '__main__':{_OPENING.replace(chr(10), chr(10) + '    ')}\n")
    assert subprocess.check_output([sys.executable, program], text=True) == "1\n"
