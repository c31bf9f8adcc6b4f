"""What tests of properties share: settings and numbers for hypothesis."""

from hypothesis import settings
from hypothesis import strategies as st

quick = settings(max_examples=60)

# Multiples of a quarter make ties, and pairs exactly at the margin.
quarters = st.integers(-12, 12).map(lambda k: k / 4)
any_magnitude = st.builds(
    lambda sign, exponent: sign * 10.0**exponent, st.sampled_from([-1, 1]), st.floats(-9, 7)
)
