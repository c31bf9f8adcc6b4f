"""Files are whole or not there, keep their permissions, and leave no drafts behind."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from skauc.archive import write_atomically

KILLED = """
import os, signal, sys
from skauc.archive import write_atomically
with write_atomically(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def write(path, content=b"new"):
    with write_atomically(path) as file:
        file.write(content)


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask, monkeypatch):
    monkeypatch.setattr(os, "umask", None)  # the umask is the process's, so nobody sets it
    write(tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == b"new"
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.parametrize("permissions", [0o600, 0o666, 0o400])
def test_a_replaced_file_keeps_its_permissions(tmp_path, umask, permissions):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(permissions)
    with write_atomically(path) as file:
        (draft,) = set(os.listdir(tmp_path)) - {"file"}
        assert mode(tmp_path / draft) == permissions  # a secret is secret while it is written
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert mode(path) == permissions
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_no_draft(tmp_path, error):
    path = tmp_path / "file"
    write(path, b"old")

    def fail():
        with write_atomically(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"new"


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe")
    reader.join()
    assert found == [b"new"]
    assert (tmp_path / "pipe").is_fifo()


def test_a_name_as_long_as_names_can_be(tmp_path):
    write(tmp_path / ("x" * 255))
    assert len(os.listdir(tmp_path)) == 1


def run(path, fate):
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), fate], stdin=subprocess.PIPE, stdout=-1
    )


def test_the_draft_of_a_killed_writer_is_removed_by_the_next(tmp_path):
    with run(tmp_path / "file", "die") as writer:
        assert writer.wait() == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 1
    write(tmp_path / "other")  # of another file
    assert len(os.listdir(tmp_path)) == 2
    write(tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


def test_the_draft_of_a_writer_at_work_is_kept(tmp_path):
    with run(tmp_path / "file", "live") as writer:
        assert writer.stdout.readline() == b"ready\n"
        write(tmp_path / "file")
        assert len(os.listdir(tmp_path)) == 2
        writer.communicate()
        assert writer.returncode == 0
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"half"


def test_writers_in_threads_do_not_disturb_each_other(tmp_path):
    errors = []

    def work(number):
        try:
            for _ in range(20):
                write(tmp_path / "file", bytes([number]) * 1000)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["file"]
    assert len(set((tmp_path / "file").read_bytes())) == 1


@pytest.mark.parametrize("name", ["fdopen", "chmod"])
def test_an_interrupt_while_the_draft_is_opened_leaves_nothing(tmp_path, monkeypatch, name):
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, name, interrupted)
    with pytest.raises(KeyboardInterrupt), write_atomically(target):
        pass
    assert os.listdir(tmp_path) == ["file"]


ENDED_EARLY = """
import sys
from skauc.app.cli.signals import leave
from skauc.archive.atomic import write_atomically

writer = write_atomically(sys.argv[1])
writer.__enter__()  # an interrupt comes here, before the with statement watches
leave(143)
"""


def test_a_program_that_ends_at_once_leaves_no_draft(tmp_path):
    words = [sys.executable, "-c", ENDED_EARLY, str(tmp_path / "file")]
    assert subprocess.run(words, check=False).returncode == 143
    assert os.listdir(tmp_path) == []
