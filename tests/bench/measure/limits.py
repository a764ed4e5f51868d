"""Limits of the machine that no server can exceed."""

import os
import re
import time

from .database import FIRST_POST_AT, POST_INTERVAL, POSTS
from .load import Load
from .processes import Process, run


def rsa_signatures(seconds):
    """Signs with RSA-2048 on all cores, by `openssl speed`."""
    output = run("openssl", "speed", "-seconds", seconds, "-multi", os.cpu_count() or 1, "rsa2048")
    line = next(line for line in output.splitlines() if re.match(r"rsa\s+2048 bits", line))
    # The columns are: seconds per signature, seconds per verification, signatures per second, ….
    rate = float(re.findall(r"[0-9.]+", line.split("bits")[1].replace("s", " "))[2])
    return Load(requests=round(rate * seconds), seconds=seconds, p50=None, p99=None)


def password_hashes(program, seconds):
    """Hashes passwords on all cores, by the program `argon2id`."""
    return Load(requests=int(run(program, seconds)), seconds=seconds, p50=None, p99=None)


def synced_writes_per_second(directory, seconds=1):
    """The rate of writes of 8 KiB that are on disk before the next begins, by one writer."""
    page, count, file = os.urandom(8192), 0, directory / "synced"
    with file.open("wb") as out:
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            out.write(page)
            out.flush()
            os.fdatasync(out.fileno())
            count += 1
        rate = count / (time.monotonic() - began)
    file.unlink()
    return rate


class Hello:
    """The smallest axum program."""

    def __init__(self, program):
        self.process = Process([program], lambda line: line.startswith("listening on "))
        self.base = self.process.first_line.split()[-1]

    def stop(self):
        self.process.stop()


_COLUMNS = "id, title, body, status, author_id, created_at, updated_at, published_at, version"

# The statements of Latchkey for the page after a cursor and for one post, for pgbench. The anchor is a random post.
PGBENCH_SCRIPTS = {
    "list": f"""\\set n random(1000, {POSTS})
\\set at {FIRST_POST_AT} + :n * {POST_INTERVAL}
SELECT {_COLUMNS} FROM posts WHERE deleted_at IS NULL AND created_at + 0 >= 0 AND status = 'published'
AND (created_at, id) < (:at, :n) ORDER BY created_at DESC, id DESC LIMIT 21;
""",
    "one": f"""\\set n random(1, {POSTS})
SELECT {_COLUMNS} FROM posts WHERE id = :n AND deleted_at IS NULL;
""",
}
