"""Corrections of log-posteriors learnt by boosting: along the families of a network, or by regression trees."""
