"""Pages of the web application: thin scripts over :mod:`dpcore.service`."""
