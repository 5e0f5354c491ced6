"""What stands around the server: hosts, headers, sizes of what is sent."""
