"""Any table as a pandas frame with one column per name, in the byte order of this machine."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array

from skauc.exceptions import InvalidDataError
from skauc.preprocessing.optional import import_pandas


def as_frame(X):
    """Return a table as a pandas frame; columns are named by strings."""
    pd = import_pandas()
    if isinstance(X, pd.DataFrame):
        frame = X
    elif hasattr(X, "to_pandas"):
        frame = X.to_pandas()
    else:
        array = check_array(X, dtype=None, ensure_all_finite=False)
        frame = pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])
    if len(frame) == 0:
        raise InvalidDataError(
            f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required: "
            "the table has no rows. Pass at least one."
        )
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InvalidDataError(
            f"The table has more than one column called {repeated[0]!r}. Rename one of them."
        )
    return _in_native_order(frame)


def _in_native_order(frame):
    """Swap the bytes of columns that were written on a machine of another byte order."""
    swapped = {
        name: dtype.newbyteorder("=")
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and not dtype.isnative
    }
    return frame.astype(swapped) if swapped else frame
