"""What a classifier is put together from: discretisers, parameter estimators, feature selection."""
