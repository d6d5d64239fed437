"""What questions need to know of pooled networks: the intervals of the first, and the likelihoods of all."""

from __future__ import annotations

from functools import partial

from tanbark.arrays import Codes, Floats
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import Pooled
from tanbark.estimators.questions.model import Asked, Generative, merged_asked


def pooled_asked(pooled: Pooled, *, n_jobs: int | None) -> Asked:
    """Describe pooled networks, see :mod:`tanbark.estimators.questions.model`; those of weight zero take no part."""
    kinds = {id(member.coarsening): member.coarsening for member in pooled.members}
    lookups = {key: tuple(lookup[:-1] for lookup in kind.lookups) for key, kind in kinds.items()}
    first = pooled.members[0].coarsening
    networks = tuple(
        Generative(partial(_likelihoods, member, n_jobs), float(weight), member.columns, lookups[id(member.coarsening)])
        for member, weight in zip(pooled.members, pooled.weights, strict=True)
        if weight > 0.0
    )
    return merged_asked(first.schema, lookups[id(first)], partial(pooled.logits, n_jobs=n_jobs), networks)


def _likelihoods(member: Member, n_jobs: int | None, codes: Codes) -> Floats:
    return member.log_likelihoods(member.coarsening.apply(codes), n_jobs=n_jobs)
