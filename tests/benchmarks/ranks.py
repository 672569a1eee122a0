"""Two ranks: what a DDP step of the multimodal model costs, and how long merging the reports of 64 ranks takes.

    ranks.py [--pairs N] [--steps N]

The two sides of a ratio run in turn, A B A B ..., each figure is the median step of one run, each ratio the median
over the pairs. Needs a build; DEVSAN_BUILD=folder names another.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DEVSAN_BUILD", ROOT / "build" / "release")) / "bin"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def step_ms(prefix, backend, steps):
    command = [*prefix, BIN / "multimodal", "--spawn", "2", "--backend", backend, "--stage", "pretrain", "--steps", steps,
               "--report-step-time"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT,
                            env=ENVIRONMENT)
    found = re.search(r"median step: ([0-9.]+) ms", result.stdout)
    if result.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stderr}")
    return float(found[1])


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    print(f"{'multimodal, 2 ranks, step time':<36} {'A ms':>8} {'B ms':>8} {'ratio':>6}  target")
    for name, a, b, target in COMPARISONS:
        pairs = [(step_ms(*a, options.steps), step_ms(*b, options.steps)) for _ in range(options.pairs)]
        ratio = statistics.median(x / y for x, y in pairs)
        print(f"{name:<36} {statistics.median(x for x, _ in pairs):8.2f} {statistics.median(y for _, y in pairs):8.2f} "
              f"{ratio:6.2f}  <= {target:.2f}", flush=True)
    one, many = merge_seconds(1), merge_seconds(64)
    print(f"merging 64 reports: {many:.3f} s, {many / one:.1f} times as long as reading one  (asked: under 1 s)")


if __name__ == "__main__":
    main()
