"""Wrapped memory is found by address, and only where it still is (python/src/device_ranges.h)."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CXX") or shutil.which("c++")


@pytest.mark.skipif(not COMPILER, reason="needs a compiler of C++")
def test_device_ranges(tmp_path):
    program = tmp_path / "device_ranges"
    (tmp_path / "tesela").mkdir()
    (tmp_path / "tesela/version.h").touch()
    folders = [f"-I{folder}" for folder in (tmp_path, ROOT / "include", ROOT / "python/src")]
    subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", *folders,
                    ROOT / "tests/python/device_ranges.cpp", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
