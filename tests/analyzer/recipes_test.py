"""ci/recipes, as far as they run without the services that they are for."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
import yaml

from linting import BUILD, SITE_PACKAGES

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RECIPES = SOURCE / "ci" / "recipes"
DROPS = "#include <torch/torch.h>\nvoid f(torch::Tensor t) { t.cpu(); }\n"


@pytest.fixture
def repository(tmp_path, cache):
    """A repository with one finding, and `run`, which finds devsan and LibTorch as a user's machine does."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "a.cpp").write_text(DROPS)
    environment = {"PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "HOME": str(cache), "LIBTORCH": SITE_PACKAGES,
                   "XDG_CACHE_HOME": str(cache), "CI_PROJECT_DIR": str(root)}

    def run(command):
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=280)

    run.root = root
    assert run(["git", "init", "-q"]).returncode == 0
    assert run(["git", "add", "a.cpp"]).returncode == 0
    return run


def test_github_action(repository):
    workflow = yaml.safe_load((RECIPES / "github-action.yml").read_text())
    job = workflow["jobs"]["lint"]
    assert workflow["permissions"]["security-events"] == "write"
    [command] = [step["run"] for step in job["steps"] if "run" in step]
    [upload] = [step["with"] for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
    ran = repository(["bash", "-e", "-c", command])
    assert ran.returncode == 0, ran.stderr
    sarif = json.loads((repository.root / upload["sarif_file"]).read_text())
    [result] = sarif["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.cpp"
    (repository.root / "b.cpp").write_text("this ( is not } C++\n")
    assert repository(["bash", "-e", "-c", command]).returncode != 0, "what is not findings fails the step"


def test_gitlab(repository):
    job = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())["devsan"]
    (repository.root / "ci").mkdir()
    shutil.copy(RECIPES / "gitlab_code_quality.py", repository.root / "ci")
    for line in job["script"]:
        ran = repository(["bash", "-e", "-c", line])
        assert ran.returncode == 0, ran.stderr
    report = json.loads((repository.root / job["artifacts"]["reports"]["codequality"]).read_text())
    [entry] = report
    assert entry["location"] == {"path": "a.cpp", "lines": {"begin": 2}}
    assert entry["check_name"] == "devsan-dropped-move" and entry["severity"] == "major"
    assert entry["description"] and entry["fingerprint"]


def test_pre_commit_hook(repository):
    [hook] = yaml.safe_load((SOURCE / ".pre-commit-hooks.yaml").read_text())
    [repo] = yaml.safe_load((RECIPES / "pre-commit-config.yaml").read_text())["repos"]
    assert {key: hook[key] for key in repo["hooks"][0]} == repo["hooks"][0]
    staged = repository(["git", "diff", "--cached", "--name-only"]).stdout.split()
    ran = repository([*hook["entry"].split(), *staged])  # as pre-commit calls it
    assert ran.returncode == 1 and "a.cpp:2:27: warning: " in ran.stdout, ran.stderr
    (repository.root / "a.cpp").write_text(DROPS.replace("t.cpu()", "t = t.cpu()"))
    assert repository([*hook["entry"].split(), *staged]).returncode == 0


CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS {export})
include("{module}")
add_library(model STATIC a.cpp a.h)
target_compile_definitions(model PRIVATE WITH_MOVE)
devsan_lint({target} --rules=-*,devsan-dropped-move)
"""


def test_cmake_function(repository):
    def configure(target="model", export="ON"):
        (repository.root / "CMakeLists.txt").write_text(
            CMAKE.format(module=RECIPES / "DevsanLint.cmake", target=target, export=export))
        return repository(["cmake", "-B", "build", "-G", "Ninja"])

    (repository.root / "a.h").write_text("#pragma once\n")
    (repository.root / "a.cpp").write_text(
        '#include <torch/torch.h>\n#include "a.h"\n#ifdef WITH_MOVE\nvoid f(torch::Tensor t) { t.cpu(); }\n#endif\n')
    configured = configure()
    assert configured.returncode == 0, configured.stderr
    found = repository(["cmake", "--build", "build", "--target", "lint-model"])
    assert found.returncode != 0 and "a.cpp:4:27: warning: " in found.stdout, found.stdout + found.stderr
    (repository.root / "a.cpp").write_text("#include <torch/torch.h>\n")
    assert repository(["cmake", "--build", "build", "--target", "lint-model"]).returncode == 0
    assert "'nothing' is not a target" in configure(target="nothing").stderr
    assert "CMAKE_EXPORT_COMPILE_COMMANDS" in configure(export="OFF").stderr
