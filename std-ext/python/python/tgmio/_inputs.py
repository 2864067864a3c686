"""Arrays of other libraries as arrays of numpy."""

import sys

# Ways in which an object says that numpy can take it.
_OF_NUMPY = ("__array__", "__array_interface__", "__array_struct__")


def as_array(value):
    """The array of numpy that a value stands for: numbers, lists, and arrays of other libraries in this machine's memory."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    if str(getattr(value, "dtype", "")) == "torch.bfloat16" and "torch" in sys.modules:
        # numpy has no such type, so torch refuses. The bits are the same in ml_dtypes.
        import ml_dtypes

        return as_array(value.detach().view(sys.modules["torch"].int16)).view(ml_dtypes.bfloat16)
    if hasattr(value, "__dlpack__") and not any(hasattr(value, name) for name in _OF_NUMPY):
        return np.from_dlpack(value)
    # Subclasses keep what they know, such as the gaps of masked arrays.
    return np.asanyarray(value)
