"""The vault of a child process, which is told what it needs for files and nothing else. It is loaded by each upload."""

from app.atrest.vault import PLAIN, Vault


def vault_in_child(told: str) -> Vault:
    """The vault for one that was told `app.atrest.cipher.Cipher.for_child`; it opens no database."""
    if not told:
        return PLAIN
    from app.atrest.keys import Keys
    from app.atrest.sealed import Sealed  # its libraries are an extra

    key_id, _, files = told.partition(":")
    return Vault(Sealed(Keys(key_id, bytes.fromhex(files), b"")))
