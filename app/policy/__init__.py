"""What must not be stored or shown: found by detectors, masked or dropped by the rules of the settings."""
