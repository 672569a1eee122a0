"""The same findings in the same order: with one thread and eight, and whatever order files are named in."""
import json
import os
import pathlib
import random
import subprocess
import sysconfig

import pytest

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = SOURCE / ".deps" / "data"
SITE_PACKAGES = sysconfig.get_paths()["purelib"]
CACHE = BUILD / "tests" / "cache"


def lint(tmp_path, threads, paths):
    """Everything that is said of `paths`, but for times. Results are not cached, LibTorch's headers are."""
    cache = tmp_path / f"cache{len(list(tmp_path.iterdir()))}"
    (cache / "devsan").mkdir(parents=True)
    (CACHE / "devsan" / "headers").mkdir(parents=True, exist_ok=True)
    (cache / "devsan" / "headers").symlink_to(CACHE / "devsan" / "headers")
    run = subprocess.run(
        [str(BUILD / "bin" / "devsan-lint"), "--torch", SITE_PACKAGES, "-j", str(threads), "--format", "json",
         "--rules", "*,devsan-hard-coded-device-setup", *map(str, paths)],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)}, capture_output=True, text=True, timeout=280)
    assert run.returncode in (0, 1, 3), run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("folder, at_least", [
    (SOURCE / "reference_models", 4),
    (DATA / "torch_scatter-2.1.2" / "csrc", 0),
    (DATA / "torch_cluster-1.6.3" / "csrc", 0),
], ids=["models", "torch-scatter", "torch-cluster"])
def test_threads_do_not_matter(tmp_path, folder, at_least):
    one = lint(tmp_path, 1, [folder])
    assert len(one["findings"]) >= at_least, "too little to tell orders apart"
    assert lint(tmp_path, 8, [folder]) == one


def test_the_order_of_arguments_does_not_matter(tmp_path):
    files = sorted((SOURCE / "reference_models").rglob("*.cpp"))
    first = lint(tmp_path, 8, files)
    random.Random(3).shuffle(files)
    second = lint(tmp_path, 8, files)
    assert second["findings"] == first["findings"]
    def by_name(result):
        return sorted(result["files"], key=lambda file: file["file"])
    assert by_name(second) == by_name(first)
