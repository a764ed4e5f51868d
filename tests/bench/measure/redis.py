"""A private Redis server, without files."""

from .processes import Process, free_port


class Redis:
    """The server that replicas of Latchkey share."""

    def __init__(self, directory):
        directory.mkdir()
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}"
        settings = ["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"]
        self.process = Process(["redis-server", *settings], lambda line: "Ready to accept connections" in line, directory=directory)

    def stop(self):
        self.process.stop()
