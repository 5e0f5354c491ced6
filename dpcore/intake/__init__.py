"""From files of any origin to rows: read in a process of its own, under limits."""
