"""The measurements that are no requests per second: memory, and reads beside sign-ins."""

import json
import time
from dataclasses import dataclass

from .database import insert_posts, insert_users, sample_posts
from .load import Load, parse_wrk, start_wrk, wrk, wrk_command
from .peers import Fastify
from .processes import resident_megabytes
from .product import CLIENT_ID, PASSWORD

SIGN_UPS = 16
# Threads that hash passwords return their memory after three seconds without work.
IDLE_SECONDS = 5
SIGN_INS = 200
READERS = 4


@dataclass
class Memory:
    """Resident memory in MB, and the times from a start until the program listens, in ms. None if not measured."""

    program: str
    started: float
    signed_up: float | None
    loaded: float
    warm: float | None = None
    first_start: float | None = None
    warm_start: float | None = None


def idle_megabytes(product):
    """Resident memory in MB of a Latchkey that had no request for some seconds."""
    time.sleep(IDLE_SECONDS)
    return resident_megabytes(product.process.pid)


def memory_of_product(setup, engine, requests, seconds):
    """Measures a Latchkey of its own: idle after its first start and after 16 sign-ups at once, at the end of a load of
    lists, single posts and refreshes, and idle after a start with data."""
    name = f"memory_{engine.lower()}"
    product = setup.start_product(name, engine)
    memory = Memory(f"Latchkey, {engine}", idle_megabytes(product), None, 0)
    memory.first_start = product.start_seconds * 1e3
    product.sign_up_at_once(SIGN_UPS)
    memory.signed_up = idle_megabytes(product)
    product.prepare()
    insert_users(product.database)
    insert_posts(product.database, last=20_000)
    posts = sample_posts(product.database)
    files = ["requests.lua", requests.write(f"GET\t/posts/{id}\t" for id, _ in posts), product.token(), ""]
    lists = ["requests.lua", requests.write(["GET\t/posts?status=published\t"]), product.token(), ""]
    refreshes = ["refresh.lua", requests.write(product.tokens("refresh_token", 16)), 2, CLIENT_ID, "/token"]
    for arguments in (files, lists, refreshes):
        wrk(wrk_command(product.base, *arguments, seconds=seconds))
    memory.loaded = resident_megabytes(product.process.pid)
    product.stop()
    product.start()
    memory.warm, memory.warm_start = idle_megabytes(product), product.start_seconds * 1e3
    product.stop()
    return memory


def memory_of_fastify(setup, requests, seconds):
    """Measures a Fastify of its own, in one process, after its start and after a load of lists and single posts."""
    peer = Fastify(setup.modules, 1, setup.postgres, "fastify")
    try:
        memory = Memory("Fastify, 1 process", resident_megabytes(peer.process.pid), None, 0)
        posts = sample_posts(setup.postgres_product.database)
        for lines in ([f"GET\t/posts/{id}\t" for id, _ in posts], ["GET\t/posts?status=published\t"]):
            file = requests.write(lines)
            wrk(wrk_command(peer.base, "requests.lua", file, peer.token(), "", seconds=seconds))
        memory.loaded = resident_megabytes(peer.process.pid)
        return memory
    finally:
        peer.stop()


@dataclass
class SignIns:
    """Reads alone and beside concurrent sign-ins, and the sign-ins themselves. Some are rejected with 503, which is how
    the program limits the number of password hashes."""

    program: str
    alone: Load
    beside: Load
    sign_ins: Load


def reads_beside_sign_ins(product, requests, seconds):
    """Reads single posts without a token, first alone, then beside 200 concurrent sign-ins."""
    email = f"reader{time.time_ns()}@example.org"
    product.sign_up(email)
    posts = requests.write(f"GET\t/posts/{id}\t" for id, _ in sample_posts(product.database))
    reads = wrk_command(product.base, "requests.lua", posts, "", "", seconds=seconds, connections=READERS)
    body = json.dumps({"email": email, "password": PASSWORD})
    logins = requests.write(["POST\t/login\t"])
    sign_in = wrk_command(
        product.base, "requests.lua", logins, "", body, seconds=seconds + 2, connections=SIGN_INS
    )  # fmt: skip
    wrk(wrk_command(product.base, "requests.lua", posts, "", "", seconds=1, connections=READERS))
    alone = wrk(reads)
    background = start_wrk(sign_in)
    try:
        # The sign-ins begin before the reads and end after them.
        time.sleep(1)
        beside = wrk(reads)
        sign_ins = parse_wrk(background.communicate(timeout=60)[0])
    finally:
        background.kill()
    return SignIns(f"Latchkey, {product.database.engine}", alone, beside, sign_ins)
