"""Makes BTOR2 of Verilog, as hardware model checkers are given it."""

import subprocess
import tempfile
from pathlib import Path

SCRIPT = (
    "read_verilog -sv -formal design.v; prep -auto-top -nordff; async2sync; "
    "setundef -undriven -anyseq; flatten; write_btor design.btor2"
)


def made_by_yosys(design: str) -> bytes:
    """Return what yosys writes of a design of one module."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "design.v").write_text(design)
        done = subprocess.run(
            ["yosys", "-q", "-p", SCRIPT], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return (folder / "design.btor2").read_bytes()
