"""A message length with its parts, and the lattice constants of two-part messages."""

from __future__ import annotations

import math
from dataclasses import dataclass

STATED = 0.5 * math.log(math.pi * math.e / 6)  # length that stating one parameter adds to a one-part code

# Normalised second moments of the best known quantising lattices: Conway and Sloane (1999), table 2.3.
_KAPPA = (
    1 / 12, 5 / (36 * math.sqrt(3)), 19 / (192 * 2 ** (1 / 3)), 0.076603, 0.075625, 0.074244, 0.073116, 0.071682,
    0.071626,
)  # fmt: skip


@dataclass(frozen=True)
class MessageLength:
    """A message length in nits; shorter is better.

    A two-part message states the parameters (first part) and then the data given them (second part). A one-part
    message states no parameters: its first part is 0.

    Parameters
    ----------
    nll : float
        The data given the parameters; for a one-part code the whole message.
    neg_log_prior : float
        Minus the log prior density at the estimates.
    half_logdet : float
        Half the log determinant of the Fisher information: the precision of the estimates.
    lattice : float
        The constant for rounding the parameters.
    d : int
        Number of parameters stated or integrated out.
    one_part : bool
    valid : bool
        False where the formula does not describe a message; the total is then NaN.

    >>> length = MessageLength(10.0, neg_log_prior=2.0, half_logdet=1.0, lattice=-0.5, d=1)
    >>> length.total, length.first_part, length.second_part
    (12.5, 2.5, 10.0)
    """

    nll: float
    neg_log_prior: float = 0.0
    half_logdet: float = 0.0
    lattice: float = 0.0
    d: int = 0
    one_part: bool = False
    valid: bool = True

    @property
    def first_part(self) -> float:
        """The length of the parameters."""
        return self.neg_log_prior + self.half_logdet + self.lattice

    @property
    def second_part(self) -> float:
        """The length of the data given the parameters."""
        return self.nll

    @property
    def total(self) -> float:
        """The whole message; NaN where it is not valid."""
        return self.nll + self.first_part if self.valid else math.nan

    def to_dict(self) -> dict[str, float]:
        """Return the total and every part by name."""
        names = ("total", "first_part", "second_part", "neg_log_prior", "half_logdet", "lattice", "d", "one_part")
        return {name: getattr(self, name) for name in (*names, "valid")}


def lattice(d: int) -> float:
    r"""Return the lattice constant of a message that states ``d`` parameters.

    .. math:: c_d = \frac{d}{2}(1 + \ln\kappa_d)

    with the best known lattices up to nine dimensions, and :math:`-\frac d2\ln 2\pi + \frac12\ln d\pi - 0.764` above,
    which continues them. Wallace and Freeman (1987), section 3.

    >>> lattice(0), round(lattice(1), 6), round(lattice(9) - lattice(10), 3)
    (0.0, -0.742453, 0.866)
    """
    if d == 0:
        return 0.0
    if d <= len(_KAPPA):
        return 0.5 * d * (1 + math.log(_KAPPA[d - 1]))
    return -0.5 * d * math.log(2 * math.pi) + 0.5 * math.log(d * math.pi) - 0.764


def unstated(length: MessageLength) -> MessageLength:
    """Turn a two-part message into the one-part message that leaves its parameters unstated.

    The lattice constant is replaced by -d/2 ln 2π, which is Laplace's approximation of the log evidence.
    """
    constant = -0.5 * length.d * math.log(2 * math.pi)
    total = length.nll + length.neg_log_prior + length.half_logdet + constant
    return MessageLength(total, d=length.d, one_part=True, valid=length.valid)
