"""Inference: a network and coded rows become posteriors, exactly, whatever is missing."""

from tanbark.inference.posterior import joint_log_proba, normalize

__all__ = ["joint_log_proba", "normalize"]
