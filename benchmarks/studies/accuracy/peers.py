"""The peers at their defaults, but for one thread, a fixed seed and the sizes of three ensembles.

Each function takes the places of the categorical columns and imports its package when it is called.
"""

from __future__ import annotations

from typing import Any

SEED = 0


def logistic(categorical: list[int]) -> Any:
    """Impute numbers by their mean and scale them, one column for each category; a missing category has none."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    encode = ColumnTransformer(
        [("category", OneHotEncoder(handle_unknown="ignore"), categorical)],
        remainder=make_pipeline(SimpleImputer(), StandardScaler()),
    )
    return make_pipeline(encode, LogisticRegression(max_iter=1000))


def forest(categorical: list[int]) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, random_state=SEED, n_jobs=1)


def hist_boosting(categorical: list[int]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features=categorical, random_state=SEED)


def xgboost(categorical: list[int]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(enable_categorical=True, n_jobs=1, random_state=SEED)


def lightgbm(categorical: list[int]) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=SEED, verbose=-1)


def catboost(categorical: list[int]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=300, cat_features=categorical, thread_count=1, random_seed=SEED, verbose=0, allow_writing_files=False
    )


def ebm(categorical: list[int]) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=3, n_jobs=1, random_state=SEED)


def khiops(categorical: list[int]) -> Any:
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier()
