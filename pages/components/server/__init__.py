"""What surrounds the server: hosts, headers, sizes of what is sent."""
