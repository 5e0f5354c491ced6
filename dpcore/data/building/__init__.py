"""From rows of any origin to partitions."""
