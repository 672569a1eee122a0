"""Whole processes: which are simulated, and which are refused in one line."""
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

PRELOAD = os.environ["DEVSAN_TEST_PRELOAD"]


def python(code, options="simulate=2", preload=PRELOAD, **environment):
    env = {**os.environ, "LD_PRELOAD": preload, "DEVSAN_OPTIONS": options, **environment}
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True,
                          timeout=120)


def one_line(text):
    assert text.count("\n") == 1 and text.endswith("\n"), text
    return text


def test_visible_devices_are_chosen_and_renumbered():
    code = """
        import torch
        print(torch.cuda.device_count(), torch.cuda.get_device_properties(0).pci_bus_id)
    """
    first = python(code, "simulate=4", CUDA_VISIBLE_DEVICES="0").stdout.split()
    third = python(code, "simulate=4", CUDA_VISIBLE_DEVICES="2,0").stdout.split()
    assert first[0] == "1" and third[0] == "2"
    assert int(third[1]) == int(first[1]) + 2


def test_no_devices():
    result = python("import torch; print(torch.cuda.is_available(), torch.cuda.device_count())", "simulate=0")
    assert result.stdout == "False 0\n"


def test_bad_options_are_one_line():
    result = python("import torch; torch.cuda.is_available()", "simulate=2:gpu=h200")
    assert result.returncode == 2
    assert "'h200' is not accepted; give h100|a100|l4|rtx4090" in one_line(result.stderr)


def test_a_program_without_torch_is_left_alone():
    result = subprocess.run(["/bin/echo", "hello"], env={**os.environ, "LD_PRELOAD": PRELOAD}, capture_output=True,
                            text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("hello\n", "")


def test_another_torch_is_refused(tmp_path):
    """The same libraries, one byte of the core's table of build ids changed: no PyTorch it knows is left."""
    folder = os.path.dirname(PRELOAD.split(":")[0])
    copy = tmp_path / "simulator"
    shutil.copytree(folder, copy)
    core = copy / "libdevsan_simulator.so"
    import torch
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    notes = subprocess.run(["readelf", "-n", library], capture_output=True, text=True, check=True).stdout
    build_id = notes.split("Build ID: ")[1].split()[0].encode()
    content = core.read_bytes()
    assert content.count(build_id) == 1
    core.write_bytes(content.replace(build_id, b"0" * len(build_id)))
    result = python("import torch; torch.cuda.is_available(); print('went on')", preload=PRELOAD.replace(folder, str(copy)))
    assert result.returncode == 2 and result.stdout == ""
    line = one_line(result.stderr)
    assert torch.__version__.split("+")[0] in line and build_id.decode() in line and "cannot simulate" in line


def test_expandable_segments():
    result = python("""
        import torch
        x = torch.ones(1 << 20, device="cuda:1")
        print((x + 1).sum().item(), torch.cuda.memory_allocated(1))
    """, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    assert result.stdout.split() == ["2097152.0", str(4 << 20)], result.stderr


@pytest.mark.parametrize("name", ["h100", "a100", "l4", "rtx4090"])
def test_models(name):
    result = python("import torch; p = torch.cuda.get_device_properties(0); print(p.total_memory >> 30, p.major, p.minor)",
                    f"simulate=1:gpu={name}")
    assert result.stdout.split() == {"h100": ["80", "9", "0"], "a100": ["80", "8", "0"], "l4": ["24", "8", "9"],
                                     "rtx4090": ["24", "8", "9"]}[name]
