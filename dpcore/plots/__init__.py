"""Plotly figures of releases. They see a release and nothing else."""
