"""Two ranks: what a DDP step of the multimodal model costs, and how long merging the reports of 64 ranks takes.

    ranks.py [--pairs N] [--steps N]

The two sides of a ratio run in turn, A B A B ..., each figure is the median step of one run, each ratio the median
over the pairs. Needs a build; DEVSAN_BUILD=folder names another.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time

from steps import BIN, ROOT, options_of, print_ratios, step_ms

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
SIMULATED = [BIN / "devsan", "run", "--simulate", "2"]
UNTRACED = [*SIMULATED, "--trace-ops", "0", "--"]
COMPARISONS = [
    ("simulated, NCCL / cpu, Gloo", (UNTRACED, "nccl"), ([], "gloo"), 1.25),
    ("traced / untraced, both simulated", ([*SIMULATED, "--"], "nccl"), (UNTRACED, "nccl"), 1.10),
    ("traced / untraced, both cpu", ([BIN / "devsan", "run", "--"], "gloo"), ([], "gloo"), 1.10),
]


def real_report(folder):
    """A report of a real run with a fault."""
    report = folder / "one.json"
    subprocess.run([*map(str, SIMULATED), "--report", report, "--", BIN / "encoder_classifier", "--devices", "cuda:0,cuda:1",
                    "--finetune", "lora", "--fault", "lora", "--steps", "1"], capture_output=True, check=False, cwd=ROOT)
    return json.loads(report.read_text())


def merge_seconds(count):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = real_report(folder)
        files = []
        for rank in range(count):
            for finding in report["findings"]:
                finding.update(rank=rank, ranks=[rank], world_size=count)
            files.append(folder / f"rank{rank}.json")
            files[-1].write_text(json.dumps(report))
        start = time.monotonic()
        subprocess.run([BIN / "devsan", "report", *files, "-o", folder / "all.json"], check=True)
        seconds = time.monotonic() - start
        merged = json.loads((folder / "all.json").read_text())["findings"]
        if len(merged) != len(report["findings"]) or merged[0]["ranks"] != list(range(count)):
            raise SystemExit("the merged report is not one finding of all ranks")
        return seconds


def main():
    options = options_of(__doc__, steps=40)
    print_ratios("multimodal, 2 ranks, step time", COMPARISONS, options.pairs,
                 lambda prefix, backend: step_ms([*prefix, BIN / "multimodal", "--spawn", "2", "--backend", backend,
                                                  "--stage", "pretrain", "--steps", options.steps], ENVIRONMENT))
    one, many = merge_seconds(1), merge_seconds(64)
    print(f"merging 64 reports: {many:.3f} s, {many / one:.1f} times as long as reading one  (asked: under 1 s)")


if __name__ == "__main__":
    main()
