"""devsan's JSON as GitLab's code quality report, on stdout.

usage: gitlab_code_quality.py devsan.json
"""
import json
import os
import sys

SEVERITY = {"note": "info", "warning": "major", "error": "critical"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    seen = {}
    report = []
    for finding in findings:
        # Twins on one kind of line are told apart by their number.
        number = seen[finding["fingerprint"]] = seen.get(finding["fingerprint"], 0) + 1
        report.append({
            "description": finding["message"],
            "check_name": finding["rule"],
            "fingerprint": f"{finding['fingerprint']}-{number}",
            "severity": SEVERITY[finding["level"]],
            "location": {"path": os.path.relpath(finding["file"]), "lines": {"begin": finding["line"]}}})
    json.dump(report, sys.stdout, indent=1)


main()
