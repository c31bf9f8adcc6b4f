"""The buffers of the online learners as they are defined, in plain Python."""

import numpy as np


class SplitMix64:
    """The generator of Steele, Lea and Flood, on Python's integers."""

    MASK = (1 << 64) - 1

    def __init__(self, random_state):
        self.state = int(np.random.RandomState(random_state).randint(2**32, dtype=np.uint64))

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return ((z ^ (z >> 31)) >> 11) / 2**53


class SlowBuffer:
    """One class's slots, each holding any object."""

    def __init__(self, policy, size, draw):
        self.policy, self.size, self.draw = policy, size, draw
        self.slots, self.n_offered = [], 0

    def offer(self, new, n_seen):
        """Return the slots as they were, after the policy has had its say."""
        before = list(self.slots)
        self.n_offered += 1
        if len(before) < self.size:
            self.slots.append(new)
        elif self.policy == "fifo":
            self.slots[(self.n_offered - 1) % self.size] = new
        elif self.policy == "reservoir":
            slot = int(self.draw() * n_seen)
            if slot < self.size:
                self.slots[slot] = new
        else:
            for slot in range(self.size):
                if self.draw() * n_seen < 1:
                    self.slots[slot] = new
                elif self.n_offered == self.size + 1:
                    self.slots[slot] = before[int(self.draw() * self.size)]
        return before
