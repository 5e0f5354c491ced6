"""Learning explainable boosting machines: what sees records."""
