"""A spam filter: learn from text messages, name the words that give spam away, and explain one message word by word.

python examples/spam_filter.py --data sms-spam.csv.gz
python examples/spam_filter.py          # a small corpus that is made up on the spot
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import random
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split

import tanbark as tb

SPAM = "win cash prize free call now claim urgent offer text reply mobile loan weight lose click".split()
HAM = "meet lunch home late tomorrow thanks sorry work see you love ok later dinner bus rain".split()
BOTH = "the to and of you a with from is on it at for me we will be this".split()


def read_messages(path: Path) -> tuple[list[str], list[str]]:
    """Read a table with the columns text and class."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return [row["text"] for row in rows], [row["class"] for row in rows]


def make_messages(n: int = 600, seed: int = 0) -> tuple[list[str], list[str]]:
    """Make up messages: a third is spam, and both kinds share their commonest words."""
    rng = random.Random(seed)
    texts, labels = [], []
    for _ in range(n):
        label = "spam" if rng.random() < 1 / 3 else "ham"
        own, other = (SPAM, HAM) if label == "spam" else (HAM, SPAM)
        words = [rng.choice(rng.choices([BOTH, own, other], [6, 3, 1])[0]) for _ in range(rng.randint(5, 15))]
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def main() -> None:
    """Learn, test and explain."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="a .csv or .csv.gz file with the columns text and class")
    data = parser.parse_args().data
    texts, labels = read_messages(data) if data else make_messages()
    train, test, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0, stratify=labels)

    vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")
    X = vectorizer.fit_transform(train)
    clf = tb.TextNaiveBayes(words=vectorizer.get_feature_names_out()).fit(X, y_train)
    predicted = clf.predict(vectorizer.transform(test))

    print(f"{len(train):,} messages with {X.shape[1]:,} different words to learn from, {len(test):,} to test on")
    print(f"accuracy {accuracy_score(y_test, predicted):.4f}")
    print("labels and predictions:", *clf.classes_)
    print(confusion_matrix(y_test, predicted))
    for label, words in clf.top_words(8).items():
        print(f"{label:>5}: {', '.join(words)}")

    caught = next(text for text, label, guess in zip(test, y_test, predicted, strict=True) if label == guess == "spam")
    words = [word for word in vectorizer.build_analyzer()(caught) if word in vectorizer.vocabulary_]
    print(f"\n{caught}\n\n{clf.explain_words(words)}")


if __name__ == "__main__":
    main()
