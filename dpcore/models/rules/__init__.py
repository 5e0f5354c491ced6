"""Differentially private Bayesian rule lists (Belardo 2018; Letham et al. 2015)."""
