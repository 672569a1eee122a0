"""Runs devsan-lint on small projects over LibTorch's real headers."""
import os
import pathlib
import subprocess
import sysconfig

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
SITE_PACKAGES = sysconfig.get_paths()["purelib"]
LINT = BUILD / "bin" / "devsan-lint"


def lint(*arguments, cwd, cache, torch=True, environment=None):
    command = [str(LINT), *map(str, arguments)]
    if torch:
        command += ["--torch", SITE_PACKAGES]
    env = {"PATH": os.environ["PATH"], "HOME": str(cache), "XDG_CACHE_HOME": str(cache)}
    env.update(environment or {})
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=280)
