"""The history in front of a prompt: which messages an archive replaces, and the summary that stands for them."""
