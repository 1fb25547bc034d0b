"""Settings: encryption of the data directory."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from app.atrest.keys import Keys, key_in
from app.errors import CanNotStart


class EncryptionSettings(BaseModel):
    """Encryption of the data directory's contents."""

    key: SecretStr | None = Field(
        None, description="32 random bytes in base64 or hex (`openssl rand -base64 32`); without a key nothing is."
    )
    key_file: Path | None = Field(None, description="Or a file that holds it.")
    old_key: SecretStr | None = Field(None, description="For `rekey`: the key that the directory has now.")
    old_key_file: Path | None = Field(None, description="Or a file that holds it.")

    @field_validator("key", "old_key")
    @classmethod
    def _is_a_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key and key.get_secret_value():
            key_in(key.get_secret_value())
        return key

    @model_validator(mode="after")
    def _has_one_of_each(self) -> Self:
        for name, key, file in (("key", self.key, self.key_file), ("old_key", self.old_key, self.old_key_file)):
            if key and key.get_secret_value() and file:
                raise ValueError(f"{name} and {name}_file are both set: one key is enough")
        return self

    def keys(self) -> Keys | None:
        """The key; None where nothing is encrypted. Raises `CanNotStart` for its file."""
        return _keys_of(self.key, self.key_file, "SIDECAR_ENCRYPTION__KEY")

    def old_keys(self) -> Keys | None:
        """The key before, for `rekey`. Raises `CanNotStart` for its file."""
        return _keys_of(self.old_key, self.old_key_file, "SIDECAR_ENCRYPTION__OLD_KEY")


def _keys_of(key: SecretStr | None, file: Path | None, name: str) -> Keys | None:
    told = key.get_secret_value() if key else ""
    if file is not None:
        name = f"{name}_FILE: {file}"
        try:
            told = file.read_text("utf-8", "replace")
        except OSError as error:
            raise CanNotStart(f"{name} can not be read: {error.strerror}") from error
    if not told and file is None:
        return None
    try:
        return Keys.of(key_in(told))
    except ValueError as error:
        raise CanNotStart(f"{name} {error}") from None
