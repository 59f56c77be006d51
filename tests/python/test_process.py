"""Threads, forks and signals."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import tesela


def test_sixteen_threads():
    rng = numpy.random.default_rng(1)
    shapes = [(m, n, k) for m in (3, 40, 100) for n in (5, 64) for k in (1, 50)]
    operands = [(rng.standard_normal((m, k)), rng.standard_normal((k, n))) for m, n, k in shapes]
    expected = [tesela.matmul(a, b) for a, b in operands]
    plan = tesela.Plan(*operands[-1])
    wrong = []

    def work(number):
        for i in range(100):
            at = (i + number) % len(shapes)
            if not (tesela.matmul(*operands[at]) == expected[at]).all():
                wrong.append(("matmul", number, i))
            stack = numpy.stack([operands[at][0]] * 3)
            if i % 10 == 0 and not numpy.allclose(tesela.matmul(stack, operands[at][1]), expected[at]):
                wrong.append(("batch", number, i))
            if not (plan(*operands[-1]) == expected[-1]).all():
                wrong.append(("plan", number, i))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_others_run_meanwhile():
    """The lock of Python's threads is free during a product: another thread counts on."""
    a = numpy.ones((700, 700))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    # Threads are switched between on request only: without a free lock the counter would stand.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        while not counted[0]:
            time.sleep(0.001)
        before = counted[0]
        for _ in range(5):
            tesela.matmul(a, a)
        assert counted[0] > before
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()


def test_fork():
    a = numpy.ones((200, 200))
    plan = tesela.Plan(a, a)
    packed = plan.pack(b=a)
    assert (tesela.matmul(a, a) == 200).all()
    child = os.fork()
    if child == 0:
        right = all((c == 200).all() for c in (tesela.matmul(a, a), plan(a, a), plan(a, packed)))
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tesela.matmul(a, a) == 200).all()


def test_ctrl_c():
    """A product of a minute by the slowest strategy ends soon after the signal, with KeyboardInterrupt."""
    program = """
import numpy, tesela
a = numpy.ones((3000, 3000), numpy.float32)
print("begins", flush=True)
try:
    tesela.matmul(a, a, strategy="sequential", device="cpu")
    print("ended")
except KeyboardInterrupt:
    print("interrupted", tesela.matmul(a[:2], a)[0, 0])
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "interrupted 3000.0\n"


def test_daemon_threads_end_with_the_program():
    """Threads that compute when the interpreter ends do not end the program by a signal."""
    program = """
import threading, time, numpy, tesela
def multiply(product):
    while True:
        product(a, a)
a = numpy.ones((300, 300))
for product in (tesela.matmul, tesela.matmul, lambda a, b: tesela.einsum("ij,jk", a, b)):
    threading.Thread(target=multiply, args=(product,), daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_interrupted_tool_is_not_waited_for(tmp_path, monkeypatch):
    """A tool inside a call that it cannot leave is ended before the call is done."""
    import pytest
    from tesela import _tool
    begun, done, tool = (tmp_path / name for name in ("begun", "done", "tool"))
    tool.write_text(f"""#!{sys.executable}
import pathlib, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
pathlib.Path({str(begun)!r}).touch()
time.sleep(8)
pathlib.Path({str(done)!r}).touch()
""")
    tool.chmod(0o755)
    monkeypatch.setattr(_tool, "TOOL", tool)

    def interrupt():
        while not begun.exists():
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tesela.explore(sizes=[8])
    thread.join()
    assert not done.exists()


def test_configure():
    try:
        tesela.configure(device="cpu", threads=1)
        assert "device=cpu" in tesela.matmul(numpy.ones((9, 9)), numpy.ones((9, 9)), full_output=True)[1].plan
    finally:
        tesela.configure()


def test_memory_that_is_not_there():
    import pytest
    a = numpy.lib.stride_tricks.as_strided(numpy.ones(1), (2**29, 1), (0, 8))
    with pytest.raises(MemoryError):
        tesela.matmul(a, a.T)
