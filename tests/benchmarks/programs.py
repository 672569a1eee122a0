"""Every reference program with every fault under `devsan run`: what was found, the line named, and what it cost.

    programs.py [NAME...]      # prints the table of docs/programs.md; NAME: only programs whose name contains it

`without` is the same command on the same simulated devices with the tracer left out: where no GPU is, the program
cannot run otherwise.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DEVSAN_BUILD", ROOT / "build" / "release")) / "bin"
PYTHON = ROOT / ".deps" / "venv" / "bin" / "python"
PROGRAMS = ROOT / "tests" / "programs"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def faults_of(binary):
    text = subprocess.run([BIN / binary, "--help"], capture_output=True, text=True, check=True).stdout
    return re.search(r"\{(none,[^}]*)\}", text)[1].split(",")


def programs():
    """(name, fault, command, environment)"""
    for fault in faults_of("encoder_classifier"):
        yield ("encoder_classifier (C++)", fault, [BIN / "encoder_classifier", "--devices", "cuda:0,cuda:1", "--finetune",
                                                   "lora", "--steps", "4", "--fault", fault], {})
    for fault in faults_of("multimodal"):
        yield ("multimodal (C++, 2 ranks)", fault, [BIN / "multimodal", "--spawn", "2", "--backend", "nccl", "--steps", "4",
                                                    "--fault", fault], {})
    for script, name, faults in (
            ("prott5_trainer.py", "T5 and LoRA, HF Trainer", "none mask late-head labels lora pooled loss"),
            ("icv_lightning.py", "Idefics and ICV, Lightning DDP, 2 ranks", "none cpu-pixels tokens-literal model-literal")):
        for fault in faults.split():
            yield f"{script} ({name})", fault, [PYTHON, PROGRAMS / script], {"FAULT": fault}


def run(options, command, environment):
    """Seconds, and the findings where a report was asked for."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        start = time.monotonic()
        subprocess.run([str(word) for word in [BIN / "devsan", "run", "--simulate", "2", *options, "--report", report, "--",
                                               *command]],
                       env={**ENVIRONMENT, **environment}, cwd=folder, capture_output=True, check=False, timeout=600)
        return time.monotonic() - start, json.loads(report.read_text())["findings"]


def code_of(finding):
    path = pathlib.Path(finding["file"])
    if not path.is_file() or finding["line"] < 1:
        return "(no line)"
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    text = path.read_text().splitlines()[finding["line"] - 1]
    text = re.sub(r"\s*(//|#) fault: .*", "", text).strip()
    return f"`{shown}:{finding['line']}` `{text}`".replace("|", "\\|")


def found(findings):
    errors = [each for each in findings if each["level"] == "error"]
    if errors:
        first = errors[0]
        ranks = "" if first["world_size"] == 1 else f", rank{'s' * (len(first['ranks']) > 1)} {', '.join(map(str, first['ranks']))}"
        return f"{first['rule']}{ranks}", code_of(first)
    for level in ("warning", "note"):
        of_level = [each for each in findings if each["level"] == level]
        if of_level:
            rules = sorted({each["rule"] for each in of_level})
            counts = [f"{sum(each['rule'] == rule for each in of_level)} × {rule}" for rule in rules]
            return f"no error; {level}s: {', '.join(counts)}", code_of(of_level[0])
    return "nothing", ""


def main():
    wanted = sys.argv[1:]
    print("| program | fault | found | the line named | seconds with | without |\n|---|---|---|---|---|---|")
    for name, fault, command, environment in programs():
        if wanted and not any(word in name for word in wanted):
            continue
        without, _ = run(["--trace-ops", "0"], command, environment)
        seconds, findings = run([], command, environment)
        rule, line = found(findings)
        print(f"| {name} | {fault} | {rule} | {line} | {seconds:.1f} | {without:.1f} |", flush=True)


if __name__ == "__main__":
    main()
