"""From a request to a result: set up, review, follow, stop."""
