"""AES (GenericUDFAesBase): Hive encrypts each block for itself, and returns NULL for what it cannot decrypt."""

from __future__ import annotations

from typing import Final

from acidsql.planner.expressions.hive_functions.template import Rule, template

RULES: Final[dict[tuple[str, int], Rule]] = {
    ("aes_encrypt", 2): template("a k", "aes_encrypt(a, k, 'ECB')"),
    ("aes_decrypt", 2): template("a k", "try_aes_decrypt(a, k, 'ECB')"),
}
