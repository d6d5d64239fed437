"""Ensembles of networks over different intervals of the same fine grid."""
