"""DPoP proofs (RFC 9449), each for one request."""

from .load import SCRIPTS
from .processes import run


class Proofs:
    """Makes proofs with one key, whose file is in a directory."""

    def __init__(self, directory):
        self.key = directory / "dpop-key.pem"

    def make(self, method, urls, nonce, token=""):
        """Proofs for requests of these URLs, one each, with a nonce of their server. They are for this access token, unless it
        is empty. They are valid for a minute."""
        lines = "".join(f"{url}\n" for url in urls)
        return run("node", SCRIPTS / "proofs.mjs", self.key, method, token, nonce, stdin=lines).splitlines()
