"""Runs a program under the preloaded tracer on simulated devices and reads its findings."""
import json
import os
import pathlib
import subprocess

from tools import BUILD, PYTHON

HERE = pathlib.Path(__file__).resolve().parent
LIB = BUILD / "lib"
SIMULATOR = ["libcudart.so.13", "libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"]
CPP_FAULTS = BUILD / "tests" / "tracer_faults"


def traced(command, folder, options="", simulate=2, env=None, timeout=240):
    """The finished process, and its findings over all its processes (a list of dictionaries)."""
    reports = pathlib.Path(folder) / "reports"
    preload = [LIB / "libdevsan_preload.so"]
    if simulate:
        preload += [LIB / "simulator" / name for name in SIMULATOR]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "LD_PRELOAD": ":".join(map(str, preload)),
                 "DEVSAN_OPTIONS": f"simulate={simulate}:report_dir={reports}" + (f":{options}" if options else ""),
                 "TORCH_SHOW_CPP_STACKTRACES": "0", **(env or {})}
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, env=variables,
                            stdin=subprocess.DEVNULL)
    findings = [finding for file in sorted(reports.glob("*.json")) for finding in json.loads(file.read_text())["findings"]]
    return result, findings


def python_program(name, folder, options="", **more):
    return traced([PYTHON, HERE / "programs" / "faults.py", name], folder, options, **more)


def cpp_program(name, folder, options="", **more):
    return traced([CPP_FAULTS, name], folder, options, **more)


def line_of(file, mark):
    """The line of tests/tracer/programs/FILE that ends in the comment `cause: MARK`."""
    for number, text in enumerate((HERE / "programs" / file).read_text().splitlines(), 1):
        if text.rstrip().endswith(f"cause: {mark}"):
            return number
    raise AssertionError(f"{file} has no line for {mark}")


def odd_argument(finding):
    odd = [argument["name"] for argument in finding["arguments"] if argument["odd"]]
    return odd[0] if odd else None
