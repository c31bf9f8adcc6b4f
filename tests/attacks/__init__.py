"""Attacks on the library and on the ``skauc`` program. Run them with ``python -m tests.attacks``.

Every case is drawn from the seed, the name of the attack and the number of the case alone, so that
one case can be repeated without the others. The attacks use the public API only.
"""
