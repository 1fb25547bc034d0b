"""The detectors. A new one is a file here and a line in `DETECTORS`."""

from app.policy import secret_values
from app.policy.detector import Detector
from app.policy.detectors import (
    addresses,
    cards,
    emails,
    national_ids,
    phones,
    private_keys,
    seed_phrases,
    urls,
    vendors,
)

DETECTORS: tuple[Detector, ...] = (
    Detector("secret", "vendors", vendors.find),
    Detector("secret", "private_keys", private_keys.find),
    Detector("secret", "seed_phrases", seed_phrases.find),
    Detector("secret", "urls", urls.find),
    Detector("secret", "told", secret_values.find),
    Detector("card", "cards", cards.find),
    Detector("national_id", "national_ids", national_ids.find),
    Detector("email", "emails", emails.find),
    Detector("phone", "phones", phones.find),
    Detector("address", "addresses", addresses.find),
)

CLASSES = tuple(dict.fromkeys(detector.kind for detector in DETECTORS))
