"""Differentially private explainable boosting machines (DP-EBM)."""
