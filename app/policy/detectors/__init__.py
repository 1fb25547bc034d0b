"""The detectors. A new one is a file here and a line in `DETECTORS`."""

from app.policy import secret_values
from app.policy.detector import Detector
from app.policy.detectors import (
    addresses,
    basic_auth,
    cards,
    client_calls,
    cookies,
    dials,
    directories,
    emails,
    formats,
    han_passwords,
    login_codes,
    logins,
    national_ids,
    passphrases,
    phones,
    private_keys,
    recovery_keys,
    seed_phrases,
    tables,
    urls,
    vendors,
    wallet_words,
)

DETECTORS: tuple[Detector, ...] = (
    Detector("secret", "vendors", vendors.find, vendors.signs),
    Detector("secret", "private_keys", private_keys.find, private_keys.signs),
    Detector("secret", "recovery_keys", recovery_keys.find, recovery_keys.signs),
    Detector("secret", "seed_phrases", seed_phrases.find, seed_phrases.signs),
    Detector("secret", "wallet_words", wallet_words.find, wallet_words.signs),
    Detector("secret", "basic_auth", basic_auth.find, basic_auth.signs),
    Detector("secret", "client_calls", client_calls.find, client_calls.signs),
    Detector("secret", "cookies", cookies.find, cookies.signs),
    Detector("secret", "dials", dials.find, dials.signs),
    Detector("secret", "directories", directories.find, directories.signs),
    Detector("secret", "han_passwords", han_passwords.find, han_passwords.signs),
    Detector("secret", "login_codes", login_codes.find, login_codes.signs),
    Detector("secret", "formats", formats.find, formats.signs),
    Detector("secret", "urls", urls.find, urls.signs),
    Detector("secret", "passphrases", passphrases.find, passphrases.signs),
    Detector("secret", "logins", logins.find, logins.signs),
    Detector("secret", "tables", tables.find, tables.signs),
    Detector("secret", "told", secret_values.find, secret_values.signs),
    Detector("card", "cards", cards.find, cards.signs),
    Detector("national_id", "national_ids", national_ids.find, national_ids.signs),
    Detector("email", "emails", emails.find, emails.signs),
    Detector("phone", "phones", phones.find, phones.signs),
    Detector("address", "addresses", addresses.find, addresses.signs),
)

CLASSES = tuple(dict.fromkeys(detector.kind for detector in DETECTORS))
