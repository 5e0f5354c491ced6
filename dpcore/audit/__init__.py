"""The engine held to its promises: audits from outside, and replays of real runs."""
