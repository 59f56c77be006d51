"""The message of tesela.torch without PyTorch, or with a version that is too old."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys, types
{module}
try:
    import tesela.torch
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("module, message", [
    ("sys.modules['torch'] = None", "needs PyTorch 2.9 or later, and PyTorch is not installed"),
    ("sys.modules['torch'] = types.SimpleNamespace(__version__='1.13.1', library=types.SimpleNamespace())",
     "needs PyTorch 2.9 or later (torch.library.get_kernel), and this is 1.13.1")])
def test_message(module, message):
    run = subprocess.run([sys.executable, "-c", SCRIPT.format(module=module)], capture_output=True, text=True,
                         check=True)
    assert message in run.stdout
