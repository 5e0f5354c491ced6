"""Figures on paper: the figures of pages as SVG and PNG, without a browser.

A figure is described once, for plotly. Here it is drawn from that description, so that a page and a file show the same.
What is not drawn here is refused with :class:`NotImplementedError`, never left out.
"""
