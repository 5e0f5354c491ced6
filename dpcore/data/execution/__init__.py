"""Where kernels run: on this machine or on a cluster."""
