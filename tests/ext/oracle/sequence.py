"""The extension `sequence` for CPython: a class with __len__ and __getitem__."""


class Deck:
    def __init__(self):
        self.cards, self.spoilt = [], None

    def push(self, card):
        self.cards.append(card)

    def pop(self):
        if not self.cards:
            raise IndexError("pop from an empty deck")
        return self.cards.pop()

    def spoil(self, index):
        self.spoilt = index

    def __len__(self):
        return len(self.cards)

    def __getitem__(self, index):
        if not -len(self.cards) <= index < len(self.cards):
            raise IndexError("deck index out of range")
        if index % len(self.cards) == self.spoilt:
            raise ValueError("a spoilt card")
        return self.cards[index]
