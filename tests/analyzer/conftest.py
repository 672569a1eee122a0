"""What tests of devsan-lint share."""
import textwrap

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """One cache for the tests that do not look at the cache itself: LibTorch's headers are parsed once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "setup.py").write_text("")

    def add(name, text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    add.root = root
    return add
