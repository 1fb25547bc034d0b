"""Where the policy acts: in front of everything that is written, and behind everything that is read."""
