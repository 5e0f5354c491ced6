"""The replay: real runs on two neighbouring tables, compared probability by probability.

A run on one table is written down: what every mechanism was given and what it released. A run on
a neighbour is then forced to the same outputs. What its mechanisms are given there tells exactly
how much more or less probable the release is: the privacy loss, which no output may raise
above what the certificate claims. What it proves and what not: ``docs/privacy/replay.md``.
"""
