"""Passes over the rows, one file per formula, with the version for every kind of block.

| file          | passes                                                                        |
| ------------- | ----------------------------------------------------------------------------- |
| `state`       | `FindState`, `Tabulate`, `ShareState`: from scores to violating pairs, loss   |
| `products`    | `Gradient`, `HessianProduct`, `LineSlopes`                                    |
| `derivatives` | `Derivatives`: gradient and Hessian by the weights, also of candidates        |
| `gains`       | `CandidateGains`: slope and curvature of each candidate alone                 |
| `moments`     | `Moments`: derivatives by centres and metric                                  |
| `quality`     | `RankedQuality`: AUC, validation AUC, threshold                               |

To add a pass, write a subclass of `base.Pass` in a file of its own. No engine has to change.
"""

from skauc.engines.passes.base import Pass
from skauc.engines.passes.derivatives import Centres, Derivatives
from skauc.engines.passes.gains import CandidateGains, CandidateSlopes
from skauc.engines.passes.moments import KernelMoments, Moments, Ridges
from skauc.engines.passes.products import Gradient, HessianProduct, LineSlopes
from skauc.engines.passes.quality import Quality

__all__ = [
    "CandidateGains",
    "CandidateSlopes",
    "Centres",
    "Derivatives",
    "Gradient",
    "HessianProduct",
    "KernelMoments",
    "LineSlopes",
    "Moments",
    "Pass",
    "Quality",
    "Ridges",
]
