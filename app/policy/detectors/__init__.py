"""The detectors. A new one is a file here and a line in `DETECTORS`."""

from app.policy.detector import Detector
from app.policy.detectors import (
    addresses,
    assignments,
    cards,
    command_lines,
    emails,
    headers,
    national_ids,
    phones,
    private_keys,
    told,
    urls,
    vendors,
)

DETECTORS: tuple[Detector, ...] = (
    Detector("secret", "vendors", vendors.find),
    Detector("secret", "private_keys", private_keys.find),
    Detector("secret", "urls", urls.find),
    Detector("secret", "headers", headers.find),
    Detector("secret", "assignments", assignments.find),
    Detector("secret", "command_lines", command_lines.find),
    Detector("secret", "told", told.find),
    Detector("card", "cards", cards.find),
    Detector("national_id", "national_ids", national_ids.find),
    Detector("email", "emails", emails.find),
    Detector("phone", "phones", phones.find),
    Detector("address", "addresses", addresses.find),
)

CLASSES = tuple(dict.fromkeys(detector.kind for detector in DETECTORS))
