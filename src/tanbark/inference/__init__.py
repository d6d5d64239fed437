"""Inference: a network and coded rows become posteriors, exactly, whatever is missing."""

from tanbark.inference.posterior import class_log_prior, joint_log_proba, normalize, temper

__all__ = ["class_log_prior", "joint_log_proba", "normalize", "temper"]
