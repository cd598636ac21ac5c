"""What `import ffi` is for CPython: cffi, whose names ext/ffi has."""

from cffi import FFI, CDefError, FFIError  # noqa: F401
