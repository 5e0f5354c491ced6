"""Pieces that the families share: inputs, certificates, evaluations, downloads."""
