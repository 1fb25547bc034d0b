"""JSON in and out: parsing, encoding, and finding members without a parser."""
